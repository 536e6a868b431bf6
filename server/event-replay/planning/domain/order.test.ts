import fc from "fast-check";
import { expect, test } from "vitest";
import { checkContinuity } from "./gaps";
import { orderFailures } from "./order";
import type { PlanFailure } from "./plan";
import { history } from "./testing/histories";

const shuffled = history().chain((made) =>
  fc.tuple(
    fc.constant(made),
    fc.shuffledSubarray([...made.failures], { minLength: made.failures.length, maxLength: made.failures.length }),
  ),
);

test("ER-PLN-09 the same failures in any order of selection give the same plan order", () => {
  fc.assert(
    fc.property(shuffled, ([made, mixed]) => {
      const straight = orderFailures(made.failures);
      expect(orderFailures(mixed)).toEqual(straight);
    }),
    { numRuns: 300 },
  );
});

test("ER-PLN-09 the order continues every scope version by version, and each item names what comes immediately before it", () => {
  fc.assert(
    fc.property(shuffled, ([made, mixed]) => {
      const ordered = orderFailures(mixed);
      if (!ordered.ok) throw new Error("a history always has an order");
      const result = checkContinuity(ordered.failures, made.projected, []);
      expect(result.gaps).toEqual([]);
      expect(result.overlapping).toEqual([]);
      ordered.needs.forEach((needs, at) => {
        for (const before of needs) expect(before).toBeLessThan(at);
      });
    }),
    { numRuns: 300 },
  );
});

const failure = (id: string, position: number, ...runs: [key: string, ...versions: number[]][]): PlanFailure => ({
  failureId: id,
  contentFingerprint: id,
  eventCount: 1,
  payloadBytes: 1,
  firstPosition: position,
  runs: runs.map(([key, ...versions]) => ({ type: "AGGREGATE", key, versions, declaresBaseline: false })),
});

test("ER-PLN-09 what no scope orders runs by source position, then by fingerprint", () => {
  const ordered = orderFailures([failure("c", 7), failure("b", 3), failure("a", 7)]);
  expect(ordered.ok && ordered.failures.map((f) => f.failureId)).toEqual(["b", "a", "c"]);
});

test("ER-PLN-09 versions outrank source positions", () => {
  const ordered = orderFailures([failure("second", 1, ["s", 2]), failure("first", 9, ["s", 1])]);
  expect(ordered.ok && ordered.failures.map((f) => f.failureId)).toEqual(["first", "second"]);
});

test("ER-PLN-21 transactions that wait for each other in two scopes have no order and are named", () => {
  const ordered = orderFailures([
    failure("x", 1, ["a", 1], ["b", 2]),
    failure("y", 2, ["a", 2], ["b", 1]),
    failure("z", 3),
  ]);
  expect(ordered.ok).toBe(false);
  expect(!ordered.ok && ordered.stuck.map((f) => f.failureId)).toEqual(["x", "y"]);
});
