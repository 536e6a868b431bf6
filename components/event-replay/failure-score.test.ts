import fc from "fast-check";
import { expect, test } from "vitest";
import { executionOrder, failureScore } from "./failure-score";

type Lanes = Parameters<typeof executionOrder>[0];

const id = (n: number) => `01a22c2f-0a10-7a72-9aaa-${n.toString().padStart(12, "0")}`;

const lane = (
  key: string,
  predecessors: readonly [number, number][],
  own: number[],
  at: number | null = 0,
): Lanes[number] => ({
  scopeType: "AGGREGATE",
  scopeKey: `Thing:${key}`,
  projectedVersion: at,
  ownVersions: own,
  predecessors: predecessors.map(([n, version]) => ({
    failureId: id(n),
    version,
    causeKey: "c",
    eventType: "ThingUpdatedEvent",
  })),
  predecessorCount: predecessors.length,
  successorCount: 0,
  laterAppended: null,
});

test("predecessors run in version order of every scope they share", () => {
  const lanes = [
    lane(
      "a",
      [
        [1, 2],
        [2, 3],
      ],
      [4],
    ),
    lane(
      "b",
      [
        [3, 5],
        [1, 6],
      ],
      [7],
    ),
  ];
  expect(executionOrder(lanes)).toEqual([id(3), id(1), id(2)]);
});

test("every predecessor is ordered exactly once, whatever the scopes say", () => {
  const lanes = fc.array(
    fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 6 }).map((ids) =>
      lane(
        `k${ids.join("-")}`,
        ids.map((n, i) => [n, i + 1]),
        [9],
      ),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(lanes, (given) => {
      const order = executionOrder(given);
      const all = new Set(given.flatMap((l) => l.predecessors.map((p) => p.failureId)));
      expect(new Set(order)).toEqual(all);
      expect(order.length).toBe(all.size);
    }),
  );
});

test("this transaction stands in the last column of every scope it writes", () => {
  const score = failureScore({ lanes: [lane("a", [[1, 2]], [3]), lane("b", [], [8], null)] });
  expect(score.columns).toBe(2);
  expect(score.lanes.map((l) => l.boxes.at(-1))).toEqual([
    { column: 2, version: 3, look: "this" },
    { column: 2, version: 8, look: "this" },
  ]);
});
