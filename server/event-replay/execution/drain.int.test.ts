import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { EventHandler, ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import {
  account,
  barriersOf,
  drainStep,
  finish,
  install,
  newHolder,
  parkedOf,
  release,
  startDrain,
} from "@/server/testing/isolation";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await db.pool.query("CREATE TABLE ran_t (seq bigserial PRIMARY KEY, event_id uuid, account_id text, version bigint)");
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

const event = (id: string, version: number, data: Record<string, unknown> = {}): OutboxMember => ({
  type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const put = (hostId: string, ...transactions: OutboxMember[][]) =>
  putOutbox(db.pool, ...transactions.map((members) => ({ hostId, members })));
const rows = async (text: string, ...values: unknown[]) => (await db.pool.query(text, values)).rows;
const versionOf = async (id: string) =>
  (await rows("SELECT aggregate_version FROM account_t WHERE account_id = $1", id))[0]?.aggregate_version;
const failuresOf = (hostId: string) =>
  rows(
    "SELECT failure_id, original_transaction_id, error_code, error_type, status FROM event_failure_transaction_t WHERE host_id = $1 AND projection_name = 'ledger' ORDER BY created_ts, failure_id",
    hostId,
  );

/** Writes the account as the ledger does and notes in which order members ran. */
const noted: EventHandler = {
  kind: "statements",
  async handle(tx, event) {
    await tx.execute("INSERT INTO ran_t (event_id, account_id, version) VALUES ($1, $2, $3)", [
      event.eventId,
      event.aggregateId,
      event.aggregateVersion,
    ]);
    return tx.execute(
      `INSERT INTO account_t AS a (account_id, owner, balance, aggregate_version, update_ts) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id) DO UPDATE SET owner = coalesce($2, a.owner), balance = coalesce(a.balance, 0) * 2 + $3,
         aggregate_version = $4, update_ts = $5`,
      [event.aggregateId, event.data.owner ?? null, event.data.balance ?? 0, event.aggregateVersion, event.time],
    );
  },
};
const noting: ProjectionDefinition = ledgerProjection({
  handlers: { AccountOpenedEvent: noted, AccountUpdatedEvent: noted },
});

/** Transactions over accounts of one host, versions contiguous, the order of offsets being the order of the list. */
function script(prefix: string, touched: readonly (readonly string[])[]): OutboxMember[][] {
  const versions = new Map<string, number>();
  return touched.map((keys, i) =>
    keys.map((key) => {
      const version = (versions.get(key) ?? 0) + 1;
      versions.set(key, version);
      return event(`${prefix}-${key}`, version, { owner: `o${i}`, balance: i % 5 });
    }),
  );
}
const stateOf = async (prefix: string) =>
  (
    await rows(
      "SELECT substr(account_id, $2) AS key, owner, balance, aggregate_version, update_ts FROM account_t WHERE account_id LIKE $1 || '-%' ORDER BY 1",
      prefix,
      prefix.length + 2,
    )
  ).map((row) => JSON.stringify(row));

let run = 0;

test("ER-ISO-07 parked work drains in source order, arrivals during the drain queue behind it, and the rows equal a run without barrier", async () => {
  const keys = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(keys, { minLength: 4, maxLength: 14 }),
      fc.uniqueArray(fc.constantFrom("a", "b"), { minLength: 1 }),
      fc.nat({ max: 3 }),
      fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
      async (touched, barriered, alreadyLive, drainsBetween) => {
        run += 1;
        const [plain, held] = [`p${run}`, `h${run}`];
        const [plainHost, heldHost] = [hostOfPartition(0), hostOfPartition(1)];
        await put(plainHost, ...script(plain, touched));
        await drainLane(db.pool, noting, 0);

        const arrivals = script(held, touched);
        await put(heldHost, ...arrivals.slice(0, alreadyLive));
        await drainLane(db.pool, noting, 1);
        const holder = await newHolder(db.pool, noting, heldHost);
        await install(
          db.pool,
          holder,
          barriered.map((key) => account(`${held}-${key}`)),
        );
        const before = arrivals.slice(alreadyLive, alreadyLive + 3);
        await put(heldHost, ...before);
        await drainLane(db.pool, noting, 1);
        await startDrain(db.pool, holder);
        for (const [i, members] of arrivals.slice(alreadyLive + 3).entries()) {
          await put(heldHost, members);
          await drainLane(db.pool, noting, 1);
          if (drainsBetween[i]) expect(["DRAINED", "EMPTY"]).toContain((await drainStep(db.pool, noting, holder)).kind);
        }
        expect(await finish(db.pool, noting, holder)).toEqual([]);

        expect(await stateOf(held)).toEqual(await stateOf(plain));
        // In every account, what ran is what was appended, once, in the order of the source.
        const order = await rows(
          `SELECT r.account_id, array_agg(r.version ORDER BY r.seq) AS ran, array_agg(o.c_offset ORDER BY r.seq) AS offsets
             FROM ran_t r JOIN outbox_message_t o ON o.host_id = $1 AND o.id = r.event_id GROUP BY r.account_id`,
          heldHost,
        );
        for (const { ran, offsets } of order) {
          expect(ran.map(Number)).toEqual(ran.map((_: unknown, i: number) => i + 1));
          expect(offsets.map(Number)).toEqual([...offsets.map(Number)].sort((x: number, y: number) => x - y));
        }
        expect(await failuresOf(heldHost)).toEqual([]);
        expect(await checkConservation(db.pool, noting, { atRest: true })).toEqual([]);
      },
    ),
    { numRuns: process.env.SOAK ? 200 : 12 },
  );
}, 300_000);

test("ER-ISO-07 the barrier stays until everything behind it is drained, in the order of offsets", async () => {
  const hostId = hostOfPartition(2);
  const holder = await newHolder(db.pool, noting, hostId);
  await install(db.pool, holder, [account("stay-a"), account("stay-b")]);
  const ids = await put(
    hostId,
    ...Array.from({ length: 12 }, (_, i) => [event(i % 2 ? "stay-b" : "stay-a", Math.floor(i / 2) + 1)]),
  );
  await drainLane(db.pool, noting, 2);
  await startDrain(db.pool, holder);
  for (let done = 1; done <= ids.length; done++) {
    expect(await release(db.pool, holder)).toBe("MORE");
    expect(await drainStep(db.pool, noting, holder)).toEqual({ kind: "DRAINED" });
    const ended = (await parkedOf(db.pool, hostId)).filter((row) => row.status === "SUCCEEDED");
    expect(ended.map((row) => row.original_transaction_id)).toEqual(ids.slice(0, done));
  }
  expect(await drainStep(db.pool, noting, holder)).toEqual({ kind: "EMPTY" });
  expect(await release(db.pool, holder)).toBe("RELEASED");
  const [{ statuses }] = (await rows(
    "SELECT array_agg(DISTINCT status) AS statuses FROM notification_t WHERE host_id = $1",
    hostId,
  )) as [{ statuses: string[] }];
  expect(statuses).toEqual(["SUCCEEDED"]);
});

test("ER-ISO-07 two executions that drain at the same time settle each parked transaction once", async () => {
  const hostId = hostOfPartition(3);
  const [one, two] = [await newHolder(db.pool, noting, hostId), await newHolder(db.pool, noting, hostId)];
  await install(db.pool, one, [account("both-a")]);
  await install(db.pool, two, [account("both-b")]);
  await put(hostId, ...Array.from({ length: 10 }, (_, i) => [event("both-a", i + 1), event("both-b", i + 1)]));
  await drainLane(db.pool, noting, 3);
  await startDrain(db.pool, one);
  await startDrain(db.pool, two);
  const results = await Promise.all([finish(db.createPool(), noting, one), finish(db.createPool(), noting, two)]);
  expect(results).toEqual([[], []]);
  const ran = await rows("SELECT account_id, version FROM ran_t WHERE account_id LIKE 'both-%' ORDER BY seq");
  expect(ran.map((row) => `${row.account_id} ${row.version}`)).toEqual(
    Array.from({ length: 10 }, (_, i) => [`both-a ${i + 1}`, `both-b ${i + 1}`]).flat(),
  );
  expect(await checkConservation(db.pool, noting, { atRest: true })).toEqual([]);
});

test("ER-ISO-09 parked work that fails becomes a failure of its own, its scope stays quarantined and nothing jumps ahead", async () => {
  const hostId = hostOfPartition(4);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("iso09-a"), account("iso09-b")]);
  const [, bad] = await put(
    hostId,
    [event("iso09-a", 1, { balance: 1 })],
    [event("iso09-a", 2, { balance: -1 })],
    [event("iso09-b", 1)],
    [event("iso09-a", 3, { balance: 3 })],
  );
  await drainLane(db.pool, ledger, 4);
  const [failed, ...others] = await finish(db.pool, ledger, holder);
  expect(others).toEqual([]);
  expect(failed).toMatchObject({ kind: "FAILED", transactionId: bad, scopes: [account("iso09-a")] });
  const [failure, ...more] = await failuresOf(hostId);
  expect(more).toEqual([]);
  expect(failure).toMatchObject({
    original_transaction_id: bad,
    error_code: "DEFERRED_PROJECTION_FAILED",
    error_type: "23514",
    status: "OPEN",
  });
  expect(await parkedOf(db.pool, hostId)).toMatchObject([
    { status: "SUCCEEDED" },
    { status: "FAILED", failure_id: failure?.failure_id, error_code: "DEFERRED_PROJECTION_FAILED" },
    { status: "SUCCEEDED" },
    { status: "PENDING" },
  ]);
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    { scope_key: "Account:iso09-a", state: "QUARANTINED", quarantine_failure_id: failure?.failure_id, released: false },
    { scope_key: "Account:iso09-b", released: true },
  ]);
  expect(await versionOf("iso09-a")).toBe(1);
  // Work that arrives later queues behind, too.
  await put(hostId, [event("iso09-a", 4)], [event("iso09-b", 2)]);
  expect(await drainLane(db.pool, ledger, 4)).toMatchObject({ transactions: 2, parked: 1, captured: 0 });
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});

test("ER-ISO-09 a constraint that speaks at commit fails the drain step that broke it, not a later one", async () => {
  const hostId = hostOfPartition(5);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("late")]);
  await put(hostId, [event("late", 1), { type: "LateLinkedEvent", data: { lateId: "late", accountId: "nobody" } }]);
  await drainLane(db.pool, ledger, 5);
  await startDrain(db.pool, holder);
  expect(await drainStep(db.pool, ledger, holder)).toMatchObject({ kind: "FAILED" });
  expect(await failuresOf(hostId)).toMatchObject([{ error_code: "DEFERRED_PROJECTION_FAILED", error_type: "23503" }]);
  expect(await versionOf("late")).toBeUndefined();
});

test("ER-ISO-09 work parked behind a failure that nobody planned is the gap it would be for live work, and the barrier goes", async () => {
  const hostId = hostOfPartition(6);
  await put(hostId, [event("gap", 1)], [event("gap", 2, { balance: -1 })]);
  await drainLane(db.pool, ledger, 6);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("gap")]);
  await put(hostId, [event("gap", 3)], [event("gap", 4)]);
  expect(await drainLane(db.pool, ledger, 6)).toMatchObject({ parked: 2 });
  expect(await finish(db.pool, ledger, holder)).toEqual([]);
  expect((await failuresOf(hostId)).map((failure) => failure.error_code)).toEqual([
    "PROJECTION_FAILED",
    "REPLAY_GAP",
    "REPLAY_GAP",
  ]);
  expect(await parkedOf(db.pool, hostId)).toMatchObject([
    { status: "FAILED", error_code: "REPLAY_GAP" },
    { status: "FAILED", error_code: "REPLAY_GAP" },
  ]);
  expect(await barriersOf(db.pool, hostId)).toMatchObject([{ released: true }]);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});

test("ER-ISO-09 a step that the database could not run is thrown and leaves the parked row as it was", async () => {
  const hostId = hostOfPartition(7);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("calm")]);
  await put(hostId, [event("calm", 1)]);
  await drainLane(db.pool, ledger, 7);
  await startDrain(db.pool, holder);
  let broken = true;
  const unlucky = ledgerProjection({
    handlers: {
      AccountOpenedEvent: {
        kind: "statements",
        async handle(tx, event) {
          if (broken) await tx.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$");
          return tx.execute("INSERT INTO account_t (account_id, aggregate_version) VALUES ($1, $2)", [
            event.aggregateId,
            event.aggregateVersion,
          ]);
        },
      },
    },
  });
  await expect(drainStep(db.pool, unlucky, holder)).rejects.toThrow();
  expect(await parkedOf(db.pool, hostId)).toMatchObject([{ status: "PENDING" }]);
  expect(await failuresOf(hostId)).toEqual([]);
  broken = false;
  expect(await drainStep(db.pool, unlucky, holder)).toEqual({ kind: "DRAINED" });
});

test("ER-ISO-07 a drain step takes the definition of its batch, as live work and items do", async () => {
  const hostId = hostOfPartition(8);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("batch")]);
  await put(hostId, [event("batch", 1, { owner: "given" })]);
  await drainLane(db.pool, ledger, 8);
  const wrapped: ProjectionDefinition = {
    ...ledger,
    handlerFor: () => undefined,
    forBatch: async () => ({ ...ledger, handlerFor: (entry) => LEDGER_HANDLERS[entry.eventType] }),
  };
  expect(await finish(db.pool, wrapped, holder)).toEqual([]);
  expect(await versionOf("batch")).toBe(1);
});

test("ER-ISO-07 parked work sets no baseline past an open failure: a scope of which nothing is projected yet is a gap as for live work", async () => {
  const hostId = hostOfPartition(9);
  await put(hostId, [event("known", 1)], [event("fresh", 1, { balance: -1 })]);
  await drainLane(db.pool, ledger, 9);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("known")]);
  await put(hostId, [event("known", 2), event("fresh", 2)]);
  expect(await drainLane(db.pool, ledger, 9)).toMatchObject({ parked: 1 });
  expect(await finish(db.pool, ledger, holder)).toEqual([]);
  expect((await failuresOf(hostId)).map((failure) => failure.error_code)).toEqual(["PROJECTION_FAILED", "REPLAY_GAP"]);
  expect([await versionOf("known"), await versionOf("fresh")]).toEqual([1, undefined]);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});
