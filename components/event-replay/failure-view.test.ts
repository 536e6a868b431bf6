import fc from "fast-check";
import { expect, test } from "vitest";
import { type FailureView, filterOf, filtersOf, readView, withoutFilter, writeView } from "./failure-view";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const text = fc.string({ minLength: 1, maxLength: 60 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const scope = fc.record({ scopeType: fc.constantFrom("AGGREGATE", "GRAPH_ROOT"), scopeKey: text });

const anyView = fc
  .tuple(
    fc.record({
      layout: fc.constantFrom("cause", "flat"),
      status: fc.constantFrom("OPEN", "RESOLVED", "WAIVED"),
      sort: fc.constantFrom("lastFailed", "firstFailed"),
      q: maybe(text),
      projection: maybe(text),
      code: maybe(text),
      type: maybe(text),
      policy: maybe(fc.constantFrom("GRAPH_ROOT", "TRANSACTION_ONLY")),
      cause: maybe(text),
      first: maybe(fc.constantFrom("1h", "24h", "7d", "30d")),
      evidence: maybe(fc.constant("without")),
      cursor: maybe(text),
      direction: maybe(fc.constantFrom("older", "newer")),
    }),
    maybe(scope),
  )
  .map(
    ([view, where]) =>
      Object.fromEntries(Object.entries({ ...view, ...where }).filter(([, v]) => v !== undefined)) as FailureView,
  );

test("a view written to the address and read back is the same view", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      expect(readView(new URLSearchParams(writeView(view)))).toEqual(view);
    }),
  );
});

test("an address with unknown or malformed parts opens the plain list", () => {
  const view = readView(new URLSearchParams("status=BROKEN&policy=x&first=9y&scopeKey=lonely&direction=up&other=1"));
  expect(view).toEqual({ layout: "cause", status: "OPEN", sort: "lastFailed" });
});

test("removing every filter one by one leaves only status, layout and sort", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      const plain = filtersOf(view).reduce(withoutFilter, { ...view, cursor: undefined, direction: undefined });
      expect(filtersOf(plain)).toEqual([]);
      expect([plain.status, plain.layout, plain.sort]).toEqual([view.status, view.layout, view.sort]);
    }),
  );
});

test("a span of time gives the same request for every moment of the hour, so that a place in the list stays valid", () => {
  const view: FailureView = { layout: "flat", status: "OPEN", sort: "lastFailed", first: "24h" };
  const hour = Date.parse("2026-11-30T21:00:00Z");
  expect(filterOf(view, HOST, hour + 1)).toEqual(filterOf(view, HOST, hour + 3_599_999));
  expect(filterOf(view, HOST, hour).firstFailedAfter).toBe("2026-11-29T21:00:00.000Z");
});
