import fc from "fast-check";
import { expect, test } from "vitest";
import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
import { expectationsOf } from "./expectations";
import { ownersOfUndone, type UndoneItem } from "./quarantine";

const run = (key: string, ...versions: number[]): ScopeRun => ({
  type: "AGGREGATE",
  key,
  versions,
  declaresBaseline: false,
});
const planned = (scopeKey: string, before: number | null, after: number) => ({
  scopeType: "AGGREGATE" as const,
  scopeKey,
  before,
  after,
});

test("ER-PLN-14 every item must find each scope where the item before it left it, and the last where the plan leads", () => {
  expect(
    expectationsOf([[run("a", 2, 3)], [run("a", 4), run("b", 1)]], [planned("a", 1, 4), planned("b", null, 1)]),
  ).toEqual([
    [{ type: "AGGREGATE", key: "a", before: 1, after: 3 }],
    [
      { type: "AGGREGATE", key: "a", before: 3, after: 4 },
      { type: "AGGREGATE", key: "b", before: null, after: 1 },
    ],
  ]);
});

test("ER-PLN-14 items that don't add up to the plan's scopes are no items of it", () => {
  expect(expectationsOf([[run("a", 2)]], [planned("a", 1, 3)])).toBeNull();
  expect(expectationsOf([[run("b", 2)]], [planned("a", 1, 2)])).toBeNull();
});

test("ER-ISO-21 quarantine covers exactly the scopes of undone items, each owned by the first of them that is open", () => {
  const status = fc.constantFrom("PENDING" as const, "FAILED" as const, "SUCCEEDED" as const);
  const failureStatus = fc.constantFrom("OPEN" as const, "RESOLVED" as const);
  const items = fc.array(
    fc.record({ status, failureStatus, keys: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1 }) }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(items, (specs) => {
      const plan: UndoneItem[] = specs.map((spec, i) => ({
        status: spec.status,
        failureStatus: spec.failureStatus,
        failureId: `f${i}`,
        runs: spec.keys.map((key) => run(key, 1)),
      }));
      const owners = ownersOfUndone(plan);
      for (const key of ["a", "b", "c", "d"]) {
        const first = plan.find(
          (item) =>
            item.status !== "SUCCEEDED" && item.failureStatus === "OPEN" && item.runs.some((r) => r.key === key),
        );
        expect(owners.get(`AGGREGATE\u0000${key}`)).toBe(first?.failureId);
      }
    }),
  );
});
