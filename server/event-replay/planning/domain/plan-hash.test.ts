import fc from "fast-check";
import { expect, test } from "vitest";
import { orderFailures } from "./order";
import type { PlanFailure } from "./plan";
import { type PlanHashFields, planHash } from "./plan-hash";
import { history } from "./testing/histories";

const FIELDS: PlanHashFields = {
  hostId: "01964b05-552a-7c4b-9184-6857e7f3dc5f",
  strategy: "DEPENDENCY_CLOSURE",
  validationMode: "EXECUTE",
  items: [
    { failureId: "f1", contentFingerprint: "c1", addedDependency: true },
    { failureId: "f2", contentFingerprint: "c2", addedDependency: false },
  ],
  metadata: {
    contractVersion: "event-replay-plan-v2",
    isolationScope: { mode: "GRAPH_ROOT", projectionName: "ledger", consumerGroup: "group", rootInstanceIds: ["r1"] },
    scopes: [
      { scopeType: "AGGREGATE", scopeKey: "Account:a", before: 1, after: 3 },
      { scopeType: "GRAPH_ROOT", scopeKey: "r1", before: null, after: 2 },
    ],
    partitionId: 15,
    highWaterMarks: [{ partitionId: 15, projectedOffset: 99 }],
    graphRevisions: [{ rootInstanceId: "r1", accepted: 2, projected: null }],
  },
  policyRegistryVersion: "event-replay-policy-v2",
  eventCount: 5,
  payloadBytes: 500,
  expiresAt: "2026-12-01T09:22:41.000000Z",
  repair: { repairId: "rep", approvalFingerprint: "ap", originalFingerprint: "or", correctedFingerprint: "co" },
};

type Path = readonly (string | number)[];

/** Every leaf of the plan: what one person approves and another could try to change. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function changed(path: Path): PlanHashFields {
  const copy = structuredClone(FIELDS) as unknown as Record<string | number, unknown>;
  let holder = copy;
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>;
  const last = path.at(-1) as string | number;
  const value = holder[last];
  holder[last] =
    value === null ? 7 : typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : `${value}x`;
  return copy as unknown as PlanHashFields;
}

test("ER-PLN-12 ER-PLN-11 changing any one bound value changes the hash", () => {
  const paths = leaves(FIELDS);
  expect(paths.length).toBeGreaterThan(35);
  for (const path of paths) expect([path, planHash(changed(path))]).not.toEqual([path, planHash(FIELDS)]);
});

test("ER-PLN-12 changing any set of bound values changes the hash, and no two such plans share one", () => {
  const paths = leaves(FIELDS);
  const hashes = new Map<string, string>();
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.constantFrom(...paths), (a, b) => {
      const key = [JSON.stringify(a), JSON.stringify(b)].sort().join();
      const hash = planHash(a === b ? changed(a) : merge(changed(a), changed(b)));
      expect(hash).not.toBe(planHash(FIELDS));
      expect(hashes.get(key) ?? hash).toBe(hash);
      hashes.set(key, hash);
    }),
    { numRuns: 300 },
  );
  expect(new Set(hashes.values()).size).toBe(hashes.size);
});

/** Both changes in one plan. */
function merge(a: PlanHashFields, b: PlanHashFields): PlanHashFields {
  const pick = (x: unknown, y: unknown, base: unknown): unknown => {
    if (base === null || typeof base !== "object") return JSON.stringify(x) === JSON.stringify(base) ? y : x;
    const entries = Object.entries(base).map(([key, inner]) => [
      key,
      pick((x as Record<string, unknown>)[key], (y as Record<string, unknown>)[key], inner),
    ]);
    return Array.isArray(base) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
  };
  return pick(a, b, FIELDS) as PlanHashFields;
}

test("ER-PLN-11 the order of items, and whether a repair is bound, change the hash", () => {
  expect(planHash({ ...FIELDS, items: [...FIELDS.items].reverse() })).not.toBe(planHash(FIELDS));
  expect(planHash({ ...FIELDS, repair: null })).not.toBe(planHash(FIELDS));
});

test("ER-PLN-11 values can't move between neighbouring fields without changing the hash", () => {
  const moved = structuredClone(FIELDS) as unknown as { items: { failureId: string }[] };
  (moved.items[0] as { failureId: string }).failureId = "f";
  (moved.items[1] as { failureId: string }).failureId = "1f2";
  expect(planHash(moved as unknown as PlanHashFields)).not.toBe(planHash(FIELDS));
});

test("ER-PLN-13 the hash is 64 lowercase hex digits, stable for equal plans", () => {
  expect(planHash(structuredClone(FIELDS))).toBe(planHash(FIELDS));
  expect(planHash(FIELDS)).toMatch(/^[0-9a-f]{64}$/);
});

test("ER-PLN-09 the same selection in any order gives the same hash, the expiry apart", () => {
  fc.assert(
    fc.property(
      history().chain((made) =>
        fc.tuple(
          fc.constant(made.failures),
          fc.shuffledSubarray([...made.failures], { minLength: made.failures.length }),
        ),
      ),
      ([straight, mixed]) => {
        const hashOf = (failures: readonly PlanFailure[], expiresAt: string) => {
          const ordered = orderFailures(failures);
          if (!ordered.ok) throw new Error("a history always has an order");
          return planHash({ ...FIELDS, expiresAt, items: planItemsOf(ordered.failures) });
        };
        expect(hashOf(mixed, "one")).toBe(hashOf(straight, "one"));
        expect(hashOf(mixed, "other")).not.toBe(hashOf(straight, "one"));
      },
    ),
    { numRuns: 100 },
  );
});

const planItemsOf = (failures: readonly PlanFailure[]) =>
  failures.map(({ failureId, contentFingerprint }) => ({ failureId, contentFingerprint, addedDependency: false }));
