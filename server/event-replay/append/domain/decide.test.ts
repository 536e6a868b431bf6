import fc from "fast-check";
import { expect, test } from "vitest";
import { decideAppend, type StoredState } from "./decide";
import { aggregateLockKey, type PreparedEvent, type PreparedTransaction, targetsOf } from "./prepared";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
let n = 0;
const uuid = () => `00000000-0000-7000-8000-${String(++n).padStart(12, "0")}`;

function event(aggregateId: string, aggregateVersion: number): PreparedEvent {
  return {
    hostId: HOST,
    eventId: uuid(),
    userId: null,
    nonce: null,
    aggregateType: "Thing",
    aggregateId,
    aggregateVersion,
    rootInstanceId: null,
    graphRevision: null,
    eventType: "ThingCreatedEvent",
    eventTs: "2026-01-01T00:00:00Z",
    schemaVersion: "1",
    policyRegistryVersion: "event-replay-policy-v2",
    repairSchemaVersion: null,
    versionBaseline: false,
    bytes: Buffer.from("{}"),
    digest: "d",
  };
}

const transaction = (events: readonly PreparedEvent[]): PreparedTransaction => ({
  hostId: HOST,
  transactionId: uuid(),
  explicitId: false,
  members: events.map((e) => ({ event: e, repin: ({ versionBaseline }) => ({ ...e, versionBaseline }) })),
});

const steps = fc.array(fc.record({ id: fc.constantFrom("a", "b", "c"), version: fc.integer({ min: 1, max: 6 }) }), {
  minLength: 1,
  maxLength: 12,
});
const storedVersions = fc.record({ a: fc.integer({ min: 0, max: 3 }), b: fc.integer({ min: 0, max: 3 }) });

function decide(list: readonly { id: string; version: number }[], last: Record<string, number>, allowJump: boolean) {
  const transactions = list.map(({ id, version }) => transaction([event(id, version)]));
  const targets = targetsOf(transactions);
  const lastVersions = new Map(
    targets.aggregates.flatMap((aggregate, i) => {
      const version = last[aggregate.aggregateId] ?? 0;
      return version > 0 ? [[i, version] as const] : [];
    }),
  );
  const stored: StoredState = { events: new Map(), lastVersions, transactions: new Set(), revisions: [], now: "" };
  return decideAppend(transactions, targets, stored, allowJump);
}

test("ER-APP-38 what an append accepts continues every known aggregate by exactly one, an unknown one from anywhere", () => {
  fc.assert(
    fc.property(steps, storedVersions, (list, last) => {
      const { fresh } = decide(list, last, false);
      const at = new Map<string, number>(Object.entries(last).filter(([, version]) => version > 0));
      for (const { events } of fresh) {
        const { aggregateId, aggregateVersion } = events[0] as PreparedEvent;
        const before = at.get(aggregateId as string);
        if (before !== undefined) expect(aggregateVersion).toBe(before + 1);
        at.set(aggregateId as string, aggregateVersion as number);
      }
    }),
  );
});

test("ER-APP-38 an import never goes back, and pins a baseline exactly on the versions that jump", () => {
  fc.assert(
    fc.property(steps, storedVersions, (list, last) => {
      const { fresh, refusals, jumps } = decide(list, last, true);
      expect(fresh.length + refusals.length).toBe(list.length);
      const at = new Map<string, number>(Object.entries(last).filter(([, version]) => version > 0));
      let pinned = 0;
      for (const { events } of fresh) {
        const { aggregateId, aggregateVersion, versionBaseline } = events[0] as PreparedEvent;
        const before = at.get(aggregateId as string);
        if (before !== undefined) {
          expect(aggregateVersion).toBeGreaterThan(before);
          expect(versionBaseline).toBe(aggregateVersion !== before + 1);
        } else expect(versionBaseline).toBe(false);
        if (versionBaseline) pinned++;
        at.set(aggregateId as string, aggregateVersion as number);
      }
      expect(jumps.length).toBe(pinned);
    }),
  );
});

test("ER-APP-38 an import jumps on the first event of an aggregate in its transaction, never in the middle of one", () => {
  const versions = (...list: readonly number[]) => transaction(list.map((version) => event("a", version)));
  const judge = (t: PreparedTransaction) =>
    decideAppend(
      [t],
      targetsOf([t]),
      { events: new Map(), lastVersions: new Map([[0, 1]]), transactions: new Set(), revisions: [], now: "" },
      true,
    );
  expect(judge(versions(5, 6)).jumps).toEqual([{ line: null, from: 1, to: 5 }]);
  const broken = judge(versions(2, 5));
  expect(broken.refusals).toEqual([{ field: "/aggregateversion", rule: "VERSION_NOT_NEXT", member: 1 }]);
  expect(broken.jumps).toEqual([]);
});

test("ER-CAP-28 the append lock of an aggregate derives from the shared scope key and fits a signed 64-bit integer", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (aggregateType, aggregateId) => {
      const key = aggregateLockKey({ hostId: HOST, aggregateType, aggregateId });
      expect(key >= -(2n ** 63n) && key < 2n ** 63n).toBe(true);
      const shifted = { hostId: HOST, aggregateType: `${aggregateType}:${aggregateId}`, aggregateId: "x" };
      expect(aggregateLockKey({ hostId: HOST, aggregateType, aggregateId: `${aggregateId}:x` })).toBe(
        aggregateLockKey(shifted),
      );
      expect(aggregateLockKey({ ...shifted, hostId: HOST.replace("0196", "0197") })).not.toBe(
        aggregateLockKey(shifted),
      );
    }),
  );
});
