import fc from "fast-check";
import { expect, test } from "vitest";
import { type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import { chooseParked, sourceOrderKey } from "./parking";
import type { ProjectionTransaction, SourceEvent } from "./types";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const idOf = (hostId: string, scope: Scope) => `${hostId} ${scopeId(scope)}`;

function transaction(offset: number, keys: readonly string[]): ProjectionTransaction {
  const members = keys.map(
    (key, ordinal) =>
      ({
        ordinal,
        aggregateType: "Account",
        aggregateId: key,
        aggregateVersion: offset,
        rootInstanceId: null,
        graphRevision: null,
        versionBaseline: false,
        source: { partition: 15, offset },
      }) as unknown as SourceEvent,
  );
  return { hostId: HOST, transactionId: String(offset), declaredCount: keys.length, members };
}
const held = (...keys: string[]) =>
  new Map(keys.map((key) => [idOf(HOST, { type: "AGGREGATE", key: `Account:${key}` }), [`barrier-${key}`]]));
const offsets = (list: readonly ProjectionTransaction[]) => list.map(({ transactionId }) => Number(transactionId));

test("ER-ISO-04 a parked transaction holds all its scopes, so what comes later on any of them is parked behind it", () => {
  const batch = [
    transaction(1, ["b"]),
    transaction(2, ["a", "b"]),
    transaction(3, ["b", "c"]),
    transaction(4, ["c"]),
    transaction(5, ["d"]),
  ];
  const { parked, rest } = chooseParked(batch, held("a"), idOf);
  expect(offsets(rest)).toEqual([1, 5]);
  expect(parked.map(({ transaction: { transactionId }, barrierIds }) => [transactionId, barrierIds])).toEqual([
    ["2", ["barrier-a"]],
    ["3", ["barrier-a"]],
    ["4", ["barrier-a"]],
  ]);
});

test("ER-ISO-07 a parked transaction waits for at least all that its predecessors in a scope wait for", () => {
  const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 30 }), fc.uniqueArray(fc.constantFrom("a", "b")), (batch, barriers) => {
      const transactions = batch.map((list, i) => transaction(i + 1, list));
      const { parked, rest } = chooseParked(transactions, held(...barriers), idOf);
      expect(offsets([...parked.map((p) => p.transaction), ...rest]).sort((x, y) => x - y)).toEqual(
        offsets(transactions),
      );
      const shares = (x: readonly Scope[], y: readonly Scope[]) =>
        x.some((a) => y.some((b) => scopeId(a) === scopeId(b)));
      parked.forEach((later, i) => {
        for (const earlier of parked.slice(0, i)) {
          if (shares(earlier.scopes, later.scopes)) {
            expect(later.barrierIds).toEqual(expect.arrayContaining([...earlier.barrierIds]));
          }
        }
      });
      // Nothing that projects now comes after a parked one of its scopes.
      for (const live of rest) {
        const own = live.members.map(({ aggregateId }) => `Account:${aggregateId}`);
        const before = parked.filter((p) => Number(p.transaction.transactionId) < Number(live.transactionId));
        expect(before.some((p) => p.scopes.some(({ key }) => own.includes(key)))).toBe(false);
      }
    }),
  );
});

test("ER-ISO-07 order keys sort as text the way offsets do as numbers", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
      const [x, y] = [sourceOrderKey(transaction(a, ["k"])), sourceOrderKey(transaction(b, ["k"]))];
      expect(x < y).toBe(a < b);
      expect(x === y).toBe(a === b);
    }),
  );
});
