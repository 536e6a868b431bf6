import fc from "fast-check";
import { expect, test } from "vitest";
import { replayStatus } from "@/server/contracts/replay";
import {
  idOf,
  type RequestsView,
  readRequestsView,
  requestsFilter,
  STATUS_FILTERS,
  type StatusFilter,
  splitNew,
  writeRequestsView,
} from "./requests-view";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const FAILURE = "01a22cbd-1170-76db-9af9-3ad1fc37e98e";

const anyView = fc
  .record({
    status: fc.constantFrom(...(Object.keys(STATUS_FILTERS) as StatusFilter[])),
    failureId: fc.option(fc.constant(FAILURE), { nil: undefined }),
    previews: fc.option(fc.constant(true as const), { nil: undefined }),
    cursor: fc.option(fc.string({ minLength: 1, maxLength: 60 }), { nil: undefined }),
  })
  .map((view) => Object.fromEntries(Object.entries(view).filter(([, v]) => v !== undefined)) as RequestsView);

test("a view written to the address and read back is the same view", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      expect(readRequestsView(new URLSearchParams(writeRequestsView(view)))).toEqual(view);
    }),
  );
});

test("an address that nobody wrote shows every request", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (status, failureId) => {
      const view = readRequestsView(new URLSearchParams({ status: `x${status}`, failureId: `${failureId}x` }));
      expect(view).toEqual({ status: "all" });
    }),
  );
  expect(requestsFilter({ status: "all" }, HOST)).toEqual({ hostId: HOST });
});

test("each state of a request is found by the filters of its own and by no other of them", () => {
  const single = Object.entries(STATUS_FILTERS).filter(([name, states]) => name !== "open" && states !== undefined);
  for (const state of replayStatus.options) {
    const found = single.filter(([, states]) => (states as readonly string[]).includes(state));
    expect(found.length, state).toBe(state === "PLANNING" || state === "READY" ? 0 : 1);
  }
});

test("requests that hold a failure are asked for by its id alone", () => {
  const view = readRequestsView(new URLSearchParams({ failureId: FAILURE.toUpperCase() }));
  expect(requestsFilter(view, HOST)).toEqual({ hostId: HOST, failureId: FAILURE });
  expect(idOf(` ${FAILURE} `)).toBe(FAILURE);
  expect(idOf("01a22cbd")).toBeUndefined();
});

const at = (...times: string[]) => times.map((requestedTs) => ({ requestedTs }));

test("a request asked for after the list was opened is counted and never pushes the rows", () => {
  const items = at("2026-12-01T01:00:00.000002Z", "2026-12-01T01:00:00.000001Z", "2026-12-01T01:00:00.000000Z");
  const { shown, newer } = splitNew(items, "2026-12-01T01:00:00.000001Z", 25);
  expect(newer).toBe(1);
  expect(shown).toEqual(items.slice(1));
});

test("a page is never more than its size, and before it is known when it was opened nothing is new", () => {
  const items = at("2026-12-01T03:00:00.000000Z", "2026-12-01T02:00:00.000000Z", "2026-12-01T01:00:00.000000Z");
  expect(splitNew(items, undefined, 2)).toEqual({ shown: items.slice(0, 2), newer: 0 });
  expect(splitNew(items, "2026-12-01T02:30:00.000000Z", 1)).toEqual({ shown: items.slice(1, 2), newer: 1 });
});

test("what arrives in an empty list stands in it at once", () => {
  const items = at("2026-12-01T03:00:00.000000Z");
  expect(splitNew(items, "2026-12-01T02:00:00.000000Z", 25)).toEqual({ shown: items, newer: 0 });
});
