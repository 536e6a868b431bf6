import { beforeAll, expect, test } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { projectBatch } from "@/server/event-replay/live/project-batch";
import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import { execute } from "@/server/event-replay/projection/execute";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import {
  account,
  barriersOf,
  drainStep,
  finish,
  type Holder,
  install,
  newHolder,
  parkedOf,
  release,
  startDrain,
} from "@/server/testing/isolation";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { waitingTransactions } from "@/server/testing/source-transactions";
import { findHolder, installBarriers, quarantine } from "./barriers";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
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
const projectedVersion = async (hostId: string, key: string) =>
  (
    await rows(
      "SELECT projected_version FROM projection_scope_t WHERE host_id = $1 AND scope_key = $2",
      hostId,
      `Account:${key}`,
    )
  )[0]?.projected_version;
const quarantineAll = (holder: Holder, key: string, failureId: string) =>
  inTransaction(db.pool, "quarantine", (tx) =>
    quarantine(tx, { ...holder, ownerByScope: new Map([[scopeId(account(key)), failureId]]) }),
  );

function door() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A handler that says when it is entered and stays inside until the test lets it go on. */
function gate() {
  const [inside, outside] = [door(), door()];
  const handler: EventHandler = {
    kind: "statements",
    async handle() {
      inside.open();
      await outside.opened;
      return 1;
    },
  };
  return { handler, entered: inside.opened, open: outside.open };
}
const waiting = (lockType: string) =>
  expect
    .poll(
      async () =>
        (await rows("SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND locktype = $1", lockType))[0]?.n,
      {
        interval: 10,
      },
    )
    .toBeGreaterThan(0);

test("ER-ISO-01 barriers follow the policy: one for each graph root and aggregate, none for unordered work", async () => {
  const hostId = hostOfPartition(0);
  const root = newId();
  const holder = await newHolder(db.pool, ledger, hostId);
  expect(await install(db.pool, holder, [{ type: "GRAPH_ROOT", key: root }, account("iso01")])).toEqual({
    kind: "INSTALLED",
    epoch: 1,
  });
  const types = await rows(
    "SELECT scope_type, scope_key FROM event_replay_barrier_t WHERE host_id = $1 ORDER BY 1",
    hostId,
  );
  expect(types).toEqual([
    { scope_type: "AGGREGATE", scope_key: "Account:iso01" },
    { scope_type: "GRAPH_ROOT", scope_key: root },
  ]);
  const unordered = hostOfPartition(0);
  const free = await newHolder(db.pool, ledger, unordered);
  expect(await install(db.pool, free, [])).toEqual({ kind: "INSTALLED", epoch: 1 });
  await put(unordered, [{ type: "NoteWrittenEvent", data: { noteId: "iso01", body: "b" } }]);
  expect(await drainLane(db.pool, ledger, 0)).toMatchObject({ parked: 0, captured: 0 });
  expect(await barriersOf(db.pool, unordered)).toEqual([]);
  expect(await release(db.pool, free)).toBe("RELEASED");
});

test("ER-ISO-02 all scopes of transactions are locked in canonical order before any member runs", async () => {
  const hostId = hostOfPartition(1);
  await put(hostId, [event("iso02-a", 1)], [event("iso02-b", 1)]);
  await drainLane(db.pool, ledger, 1);
  await put(hostId, [event("iso02-b", 2)], [event("iso02-a", 2)]);
  const transactions = await waitingTransactions(db.pool, ledger, 1);
  let ran = 0;
  const counted = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "statements",
        async handle() {
          ran += 1;
          return 1;
        },
      },
    },
  });
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query(
    "SELECT FROM projection_scope_t WHERE host_id = $1 AND scope_key = 'Account:iso02-a' FOR UPDATE",
    [hostId],
  );
  const running = inTransaction(db.createPool(), "opposing", (tx) => execute(tx, counted, transactions, "LIVE"));
  await waiting("transactionid");
  // It waits for the first scope in canonical order, though the list names it last: it holds nothing that an opposing one could want.
  const free = await rows(
    "SELECT scope_key FROM projection_scope_t WHERE host_id = $1 ORDER BY scope_key FOR UPDATE SKIP LOCKED",
    hostId,
  );
  expect(free).toEqual([{ scope_key: "Account:iso02-b" }]);
  expect(ran).toBe(0);
  await blocker.query("ROLLBACK");
  blocker.release();
  expect((await running).map((outcome) => outcome.kind)).toEqual(["PROJECTED", "PROJECTED"]);
  expect(ran).toBe(2);
});

test("ER-ISO-02 two opposing cross-scope plans never deadlock: one gets all scopes, the other none", async () => {
  const hostId = hostOfPartition(2);
  const pool = db.createPool({ max: 4 });
  for (let round = 0; round < 10; round++) {
    const holders = await Promise.all([newHolder(pool, ledger, hostId), newHolder(pool, ledger, hostId)]);
    const scopes = [account(`opp-a${round}`), account(`opp-b${round}`), account(`opp-c${round}`)];
    const results = await Promise.all([
      install(pool, holders[0] as Holder, scopes),
      install(pool, holders[1] as Holder, [...scopes].reverse()),
    ]);
    const won = results.findIndex((result) => result.kind === "INSTALLED");
    expect(results.map((result) => result.kind).sort()).toEqual(["HELD", "INSTALLED"]);
    const winner = holders[won] as Holder;
    expect(results[1 - won]).toEqual({ kind: "HELD", requestId: winner.requestId, failureId: null });
    const live = (await barriersOf(pool, hostId)).filter((barrier) => !barrier.released);
    expect(live.map((barrier) => barrier.replay_request_id)).toEqual(new Array(3).fill(winner.requestId));
    await finish(pool, ledger, winner);
  }
});

test("ER-ISO-03 install waits for the work in progress, carries epoch and fencing token, and a later claim raises the token", async () => {
  const hostId = hostOfPartition(3);
  const holder = await newHolder(db.pool, ledger, hostId);
  expect(await install(db.pool, { ...holder, fencingToken: 4 }, [account("iso03")])).toEqual({
    kind: "INSTALLED",
    epoch: 1,
  });
  expect(await barriersOf(db.pool, hostId)).toMatchObject([{ state: "ACTIVE", barrier_epoch: 1, fencing_token: 4 }]);
  expect(await install(db.pool, { ...holder, fencingToken: 9 }, [account("iso03")])).toEqual({
    kind: "INSTALLED",
    epoch: 1,
  });
  expect(await barriersOf(db.pool, hostId)).toMatchObject([{ state: "ACTIVE", barrier_epoch: 1, fencing_token: 9 }]);
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-25 a live writer that began before the barrier commits first, and the installer sees what it wrote", async () => {
  const hostId = hostOfPartition(4);
  const held = gate();
  const gated = ledgerProjection({ handlers: { AccountUpdatedEvent: held.handler } });
  await put(hostId, [event("iso25", 1)]);
  await drainLane(db.pool, ledger, 4);
  await put(hostId, [event("iso25", 2)]);
  const live = projectBatch(db.createPool(), gated, 4);
  await held.entered;
  const holder = await newHolder(db.pool, ledger, hostId);
  let seen: unknown;
  const installing = inTransaction(db.createPool(), "install", async (tx) => {
    const result = await installBarriers(tx, { ...holder, scopes: [account("iso25")] });
    seen = await tx.query("SELECT projected_version FROM projection_scope_t WHERE host_id = $1", [hostId]);
    return result;
  });
  await waiting("advisory");
  // A batch that would begin now leaves the lane to the waiting installer.
  expect(await projectBatch(db.pool, ledger, 4)).toEqual({ kind: "IDLE" });
  expect(await barriersOf(db.pool, hostId)).toEqual([]);
  held.open();
  expect(await live).toMatchObject({ kind: "DONE", parked: 0 });
  expect(await installing).toEqual({ kind: "INSTALLED", epoch: 1 });
  expect(seen).toEqual([{ projected_version: 2 }]);
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-25 a live writer that begins while the barrier is being installed sees it and parks", async () => {
  const hostId = hostOfPartition(5);
  const holder = await newHolder(db.pool, ledger, hostId);
  await put(hostId, [event("after", 1)]);
  const installed = door();
  const commit = door();
  const installing = inTransaction(db.createPool(), "install", async (tx) => {
    await installBarriers(tx, { ...holder, scopes: [account("after")] });
    installed.open();
    await commit.opened;
  });
  await installed.opened;
  // Installed but not committed: no batch of the partition may run, so none can miss it.
  expect(await projectBatch(db.pool, ledger, 5)).toEqual({ kind: "IDLE" });
  commit.open();
  await installing;
  expect(await projectBatch(db.pool, ledger, 5)).toMatchObject({ kind: "DONE", parked: 1 });
  expect(await projectedVersion(hostId, "after")).toBeUndefined();
  await finish(db.pool, ledger, holder);
  expect(await projectedVersion(hostId, "after")).toBe(1);
});

test("ER-ISO-03 an installer that live work doesn't let in gives up with PAUSE_TIMEOUT and leaves no barrier", async () => {
  const hostId = hostOfPartition(6);
  const held = gate();
  await put(hostId, [event("pause", 1)]);
  const live = projectBatch(db.createPool(), ledgerProjection({ handlers: { AccountOpenedEvent: held.handler } }), 6);
  await held.entered;
  const holder = await newHolder(db.pool, ledger, hostId);
  const installing = inTransaction(db.pool, "install", (tx) =>
    installBarriers(tx, { ...holder, scopes: [account("pause")], waitMs: 50 }),
  );
  await expect(installing).rejects.toMatchObject({ code: "PAUSE_TIMEOUT" });
  held.open();
  await live;
  expect(await barriersOf(db.pool, hostId)).toEqual([]);
});

test("ER-ISO-10 a barrier goes ACTIVE, DRAINING, released, or QUARANTINED under a failure, and its owner is always one of both", async () => {
  const hostId = hostOfPartition(7);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("iso10-a"), account("iso10-b")]);
  const request = { owner_type: "REPLAY_REQUEST", replay_request_id: holder.requestId, quarantine_failure_id: null };
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    { state: "ACTIVE", ...request },
    { state: "ACTIVE", ...request },
  ]);
  expect(await quarantineAll(holder, "iso10-b", holder.failureId)).toBe(1);
  await startDrain(db.pool, holder);
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    { state: "DRAINING", ...request, released: false },
    {
      state: "QUARANTINED",
      owner_type: "FAILURE_QUARANTINE",
      replay_request_id: null,
      quarantine_failure_id: holder.failureId,
      barrier_epoch: 2,
    },
  ]);
  expect(await release(db.pool, holder)).toBe("RELEASED");
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    { state: "DRAINING", released: true },
    { state: "QUARANTINED", released: false },
  ]);
  const jump = db.pool.query(
    "UPDATE event_replay_barrier_t SET state = 'DRAINING' WHERE host_id = $1 AND state = 'QUARANTINED'",
    [hostId],
  );
  await expect(jump).rejects.toMatchObject({ code: expect.stringMatching(/^(EA004|23514)$/) });
});

test("ER-ISO-10 a plan that replays the owner of a quarantine takes its barriers over under a higher epoch, any other is told who holds them", async () => {
  const hostId = hostOfPartition(8);
  const first = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, first, [account("adopt")]);
  await quarantineAll(first, "adopt", first.failureId);
  const stranger = await newHolder(db.pool, ledger, hostId);
  const held = { kind: "HELD", requestId: null, failureId: first.failureId };
  expect(await install(db.pool, stranger, [account("adopt"), account("adopt-more")])).toEqual(held);
  expect(await inTransaction(db.pool, "look", (tx) => findHolder(tx, stranger, [account("adopt")]))).toEqual(held);
  expect(await barriersOf(db.pool, hostId)).toHaveLength(1);
  const followUp = await newHolder(db.pool, ledger, hostId, first.failureId);
  expect(await inTransaction(db.pool, "look", (tx) => findHolder(tx, followUp, [account("adopt")]))).toBeNull();
  expect(await install(db.pool, followUp, [account("adopt"), account("adopt-more")])).toEqual({
    kind: "INSTALLED",
    epoch: 3,
  });
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    { scope_key: "Account:adopt", state: "ACTIVE", replay_request_id: followUp.requestId, barrier_epoch: 3 },
    { scope_key: "Account:adopt-more", state: "ACTIVE", replay_request_id: followUp.requestId, barrier_epoch: 3 },
  ]);
  await finish(db.pool, ledger, followUp);
  expect((await barriersOf(db.pool, hostId)).every((barrier) => barrier.released)).toBe(true);
});

test("ER-ISO-07 work parked under barriers of two executions is handed over and drained by the last to reach DRAINING", async () => {
  const hostId = hostOfPartition(9);
  const [one, two] = [await newHolder(db.pool, ledger, hostId), await newHolder(db.pool, ledger, hostId)];
  await install(db.pool, one, [account("share-a")]);
  await install(db.pool, two, [account("share-b")]);
  await put(hostId, [event("share-a", 1), event("share-b", 1)], [event("share-a", 2)]);
  expect(await drainLane(db.pool, ledger, 9)).toMatchObject({ parked: 2 });
  await startDrain(db.pool, one);
  expect(await drainStep(db.pool, ledger, one)).toEqual({ kind: "NOT_YET" });
  expect(await release(db.pool, one)).toBe("RELEASED");
  expect(await barriersOf(db.pool, hostId)).toMatchObject([
    {
      scope_key: "Account:share-a",
      state: "DRAINING",
      replay_request_id: two.requestId,
      barrier_epoch: 2,
      released: false,
    },
    { scope_key: "Account:share-b", state: "ACTIVE", replay_request_id: two.requestId, barrier_epoch: 1 },
  ]);
  expect(await finish(db.pool, ledger, two)).toEqual([]);
  expect((await parkedOf(db.pool, hostId)).map((row) => row.status)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  expect((await barriersOf(db.pool, hostId)).every((barrier) => barrier.released)).toBe(true);
  expect([await projectedVersion(hostId, "share-a"), await projectedVersion(hostId, "share-b")]).toEqual([2, 1]);
});

test("ER-ISO-07 work that waits for a quarantine keeps its scopes closed under that failure, and the plan that answers it drains it", async () => {
  const hostId = hostOfPartition(10);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("part-a"), account("part-b")]);
  await put(hostId, [event("part-a", 1)], [event("part-a", 2), event("part-b", 1)], [event("part-a", 3)]);
  await drainLane(db.pool, ledger, 10);
  await quarantineAll(holder, "part-b", holder.failureId);
  expect(await finish(db.pool, ledger, holder)).toEqual([]);
  expect(await projectedVersion(hostId, "part-a")).toBe(1);
  const closed = { state: "QUARANTINED", quarantine_failure_id: holder.failureId, released: false };
  expect(await barriersOf(db.pool, hostId)).toMatchObject([closed, closed]);
  expect((await parkedOf(db.pool, hostId)).map((row) => row.status)).toEqual(["SUCCEEDED", "PENDING", "PENDING"]);
  const followUp = await newHolder(db.pool, ledger, hostId, holder.failureId);
  // The plan's own scopes don't name part-a: the quarantine of its item is taken over all the same.
  await install(db.pool, followUp, [account("part-b")]);
  expect(await finish(db.pool, ledger, followUp)).toEqual([]);
  expect(await projectedVersion(hostId, "part-a")).toBe(3);
  expect((await barriersOf(db.pool, hostId)).every((barrier) => barrier.released)).toBe(true);
});

test("ER-ISO-07 a barrier installed later holds work that was parked before it, and all that follows that work", async () => {
  const hostId = hostOfPartition(11);
  const [one, two] = [await newHolder(db.pool, ledger, hostId), await newHolder(db.pool, ledger, hostId)];
  await install(db.pool, one, [account("late-a")]);
  await put(hostId, [event("late-a", 1), event("late-b", 1)], [event("late-a", 2)]);
  await drainLane(db.pool, ledger, 11);
  await install(db.pool, two, [account("late-b")]);
  await startDrain(db.pool, one);
  expect(await drainStep(db.pool, ledger, one)).toEqual({ kind: "NOT_YET" });
  expect(await release(db.pool, one)).toBe("RELEASED");
  expect(await finish(db.pool, ledger, two)).toEqual([]);
  expect([await projectedVersion(hostId, "late-a"), await projectedVersion(hostId, "late-b")]).toEqual([2, 1]);
});

test("ER-ISO-07 a live batch that parks while the release waits keeps the barrier up", async () => {
  const hostId = hostOfPartition(12);
  const held = gate();
  const gated = ledgerProjection({ handlers: { NoteWrittenEvent: held.handler } });
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("close")]);
  await startDrain(db.pool, holder);
  expect(await drainStep(db.pool, ledger, holder)).toEqual({ kind: "EMPTY" });
  await put(hostId, [{ type: "NoteWrittenEvent", data: { noteId: "close" } }], [event("close", 1)]);
  const live = projectBatch(db.createPool(), gated, partitionOfHost(hostId));
  await held.entered;
  const releasing = release(db.createPool(), holder);
  await waiting("advisory");
  held.open();
  expect(await live).toMatchObject({ parked: 1 });
  expect(await releasing).toBe("MORE");
  expect(await barriersOf(db.pool, hostId)).toMatchObject([{ state: "DRAINING", released: false }]);
  await finish(db.pool, ledger, holder);
  expect(await projectedVersion(hostId, "close")).toBe(1);
});

test("ER-ISO-06 a barrier of one projection or host is none for another", async () => {
  const hostId = hostOfPartition(13);
  const holder = await newHolder(db.pool, { ...ledger, consumerGroup: "another-group" }, hostId);
  await install(db.pool, holder, [account("group")]);
  await put(hostId, [event("group", 1)]);
  expect(await drainLane(db.pool, ledger, 13)).toMatchObject({ transactions: 1, parked: 0 });
  expect(await release(db.pool, { ...holder, requestId: newId() })).toBe("RELEASED");
  expect((await barriersOf(db.pool, hostId)).every((barrier) => !barrier.released)).toBe(true);
});
