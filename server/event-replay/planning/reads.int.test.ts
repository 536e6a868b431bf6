import { beforeAll, expect, test } from "vitest";
import type { CreatePlanResponse, GetReplayResponse } from "@/server/contracts/replay";
import type { ListReplayResponse } from "@/server/contracts/replay-list";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { as, call, meet, planRequest, refusal } from "@/server/testing/planning";
import { type Captured, failedUpdates, seedPlan } from "@/server/testing/replay-plans";

const db = testDatabase();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const person = (hostId: string, name: string, roles?: readonly string[]) =>
  as(db.pool, { hostId, name, ...(roles && { roles }) });
const planBy = (name: string, { hostId, failureIds }: Captured, overrides: object = {}) =>
  call<CreatePlanResponse>(person(hostId, name), "createEventReplayPlan", planRequest(failureIds, overrides));
const readBy = (name: string, hostId: string, replayRequestId: string, roles?: readonly string[]) =>
  call<GetReplayResponse>(person(hostId, name, roles), "getEventReplay", { replayRequestId });
const listBy = (name: string, hostId: string, request: object, roles?: readonly string[]) =>
  call<ListReplayResponse>(person(hostId, name, roles), "listEventReplay", request);

test("ER-API-06 a request is read whole: persons, items, totals that add up, proof, and what each may do and why not", async () => {
  const captured = await failedUpdates(db.pool, [newId(), newId()], 2);
  const { hostId } = captured;
  await meet(person(hostId, "alice"), person(hostId, "bob"), person(hostId, "carol", ["getEventReplay"]));
  const plan = await planBy("alice", captured);
  const seen = await readBy("alice", hostId, plan.replayRequestId);
  expect(seen).toMatchObject({
    planHash: plan.planHash,
    status: "AWAITING_APPROVAL",
    stale: false,
    retryable: false,
    projectionCommitted: false,
    repairStatus: null,
    leaseExpiresAt: null,
    transactionCount: 4,
    totals: { pending: 4, running: 0, succeeded: 0, failed: 0 },
    attempts: [],
    barriers: [],
    deferred: { count: 0, decryptedPayloadBytes: 0, encryptedBytes: 0, drained: 0, failed: 0 },
    publication: { count: 0, encryptedBytes: 0 },
  });
  expect(
    seen.lanes.map(({ beforeVersion, afterVersion, nowVersion, appendedVersion, verdict, items }) => [
      beforeVersion,
      afterVersion,
      nowVersion,
      appendedVersion,
      verdict,
      items.length,
    ]),
  ).toEqual([
    [1, 3, 1, 3, "UNCHANGED", 2],
    [1, 3, 1, 3, "UNCHANGED", 2],
  ]);
  expect(seen.people.requester).toEqual({ personId: "https://issuer.test|alice", name: "alice", isYou: true });
  expect(seen.people.eligibleApprovers.map((p) => p.name)).toEqual(["bob"]);
  expect(seen.permissions.approve.reason).toBe("You asked for it, so someone else decides.");
  expect(seen.history.map((entry) => entry.event)).toEqual([
    "EVENT_REPLAY_PLAN_APPROVAL_REQUESTED",
    "EVENT_REPLAY_PLAN_CREATED",
  ]);
  expect((await readBy("bob", hostId, plan.replayRequestId)).permissions.approve.allowed).toBe(true);
  const carol = (await readBy("carol", hostId, plan.replayRequestId, ["getEventReplay"])).permissions;
  expect([carol.approve.allowed, carol.execute.allowed, carol.cancel.allowed]).toEqual([false, false, false]);
});

test("ER-APR-04 the inbox names who may decide what the caller asked for, and nobody in the other views", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const { hostId } = captured;
  await meet(person(hostId, "alice"), person(hostId, "bob"), person(hostId, "carol", ["getEventReplay"]));
  await planBy("alice", captured);
  const mine = await listBy("alice", hostId, { view: "MINE_WAITING" });
  expect(mine.eligibleApprovers).toEqual([{ personId: "https://issuer.test|bob", name: "bob", isYou: false }]);
  expect((await listBy("bob", hostId, { view: "WAITING_FOR_ME" })).eligibleApprovers).toEqual([]);
  expect((await listBy("alice", hostId, { view: "ALL" })).eligibleApprovers).toEqual([]);
});

test("ER-API-06 a request of another host answers as an absent one", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const plan = await planBy("alice", captured);
  const foreign = await refusal(readBy("dave", newId(), plan.replayRequestId));
  const absent = await refusal(readBy("alice", captured.hostId, newId()));
  expect(foreign).toEqual(absent);
  expect(absent).toEqual({ code: "REQUEST_NOT_FOUND", details: {} });
});

test("ER-API-23 a partly done request never claims the projection as committed, and its numbers add up", async () => {
  const captured = await failedUpdates(db.pool, [newId()], 3);
  const { hostId, replayRequestId } = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const set = (sql: string) =>
    db.pool.query(`UPDATE event_replay_item_t SET ${sql} AND host_id = $1 AND replay_request_id = $2`, [
      hostId,
      replayRequestId,
    ]);
  await db.pool.query("UPDATE event_replay_request_t SET status = 'RUNNING' WHERE replay_request_id = $1", [
    replayRequestId,
  ]);
  await set("status = 'RUNNING' WHERE item_ordinal < 2");
  await set("status = 'SUCCEEDED' WHERE item_ordinal = 0");
  await db.pool.query("UPDATE projection_scope_t SET projected_version = 2 WHERE host_id = $1", [hostId]);
  const running = await readBy("alice", hostId, replayRequestId);
  expect(running).toMatchObject({
    status: "RUNNING",
    projectionCommitted: false,
    retryable: true,
    totals: { pending: 1, running: 1, succeeded: 1, failed: 0 },
  });
  expect(running.lanes[0]?.verdict).toBe("PARTLY_DONE");
  await set("status = 'FAILED' WHERE item_ordinal = 1");
  await db.pool.query(
    "UPDATE event_replay_request_t SET status = 'FAILED', completed_ts = now(), failure_code = 'PROJECTION_FAILED' WHERE replay_request_id = $1",
    [replayRequestId],
  );
  const failed = await readBy("alice", hostId, replayRequestId);
  expect(failed).toMatchObject({
    status: "FAILED",
    projectionCommitted: false,
    retryable: false,
    totals: { pending: 1, running: 0, succeeded: 1, failed: 1 },
  });
});

test("ER-APR-04 the inbox is a partition: what waits for me, mine for others, and what isn't mine to decide with the reason", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const { hostId } = captured;
  const byAlice = await planBy("alice", captured);
  const byBob = await planBy("bob", captured);
  const stale = await failedUpdates(db.pool, [newId()]);
  await planBy("alice", captured, { validationMode: "VALIDATE_ONLY" });
  const bob = await listBy("bob", hostId, { view: "WAITING_FOR_ME" });
  expect(bob.counts).toEqual({ waitingForMe: 1, mineWaiting: 1, notMine: 0 });
  expect(bob.items.map((item) => item.replayRequestId)).toEqual([byAlice.replayRequestId]);
  const mine = await listBy("bob", hostId, { view: "MINE_WAITING" });
  expect(mine.items.map((item) => [item.replayRequestId, item.approve.allowed])).toEqual([
    [byBob.replayRequestId, false],
  ]);
  const carol = await listBy("carol", hostId, { view: "NOT_MINE" }, ["listEventReplay"]);
  expect(carol.counts).toEqual({ waitingForMe: 0, mineWaiting: 0, notMine: 2 });
  expect(new Set(carol.items.map((item) => item.approve.reason))).toEqual(
    new Set(["Your role may read requests, not approve them."]),
  );
  expect((await listBy("alice", stale.hostId, { view: "NOT_MINE" })).items).toEqual([]);
  await db.pool.query("UPDATE projection_scope_t SET projected_version = 2 WHERE host_id = $1", [hostId]);
  const after = await listBy("bob", hostId, { view: "NOT_MINE" });
  expect(after.counts).toEqual({ waitingForMe: 0, mineWaiting: 1, notMine: 1 });
  expect(after.items.map((item) => [item.stale, item.approve.allowed])).toEqual([[true, false]]);
});

test("ER-PLN-18 lists tell an overdue plan as EXPIRED before anybody has written it, page by page without a double", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const { hostId } = captured;
  const overdue = await seedPlan(db.pool, captured, { status: "APPROVED", expiresIn: -60 });
  const plans = [await planBy("alice", captured), await planBy("alice", captured), await planBy("bob", captured)];
  const expired = await listBy("alice", hostId, { statuses: ["EXPIRED"] });
  expect(expired.items.map((item) => item.replayRequestId)).toEqual([overdue.replayRequestId]);
  expect((await listBy("alice", hostId, { statuses: ["APPROVED"] })).total).toBe(0);
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: ListReplayResponse = await listBy("alice", hostId, { pageSize: 1, ...(cursor && { cursor }) });
    expect(page.total).toBe(4);
    ids.push(...page.items.map((item) => item.replayRequestId));
    cursor = page.nextCursor;
  } while (cursor);
  expect(ids).toEqual([...plans.map((plan) => plan.replayRequestId).reverse(), overdue.replayRequestId]);
  const first = await listBy("alice", hostId, { pageSize: 1 });
  expect((await refusal(listBy("bob", hostId, { pageSize: 1, cursor: first.nextCursor }))).code).toBe(
    "INVALID_REQUEST",
  );
});
