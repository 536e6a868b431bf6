import { beforeAll, expect, test } from "vitest";
import {
  type CreatePlanRequest,
  type CreatePlanResponse,
  createEventReplayPlanRequest,
  type GetReplayResponse,
} from "@/server/contracts/replay";
import { toIso } from "@/server/platform/db/timestamps";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { insertFailures } from "@/server/testing/failures";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember } from "@/server/testing/outbox";
import { as, call, meet, planRequest, refusal } from "@/server/testing/planning";
import { account, captureWithDefect, failedUpdates } from "@/server/testing/replay-plans";
import { createEventReplayPlan } from "./create-event-replay-plan";
import { planHash } from "./domain/plan-hash";

const db = testDatabase();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const alice = (hostId: string) => as(db.pool, { hostId, name: "alice" });
const plan = (hostId: string, failureIds: readonly string[], overrides: object = {}) =>
  call<CreatePlanResponse>(alice(hostId), "createEventReplayPlan", planRequest(failureIds, overrides));
const read = (hostId: string, replayRequestId: string) =>
  call<GetReplayResponse>(alice(hostId), "getEventReplay", { replayRequestId });
const stored = async (requestId: string) =>
  (await db.pool.query("SELECT * FROM event_replay_request_t WHERE replay_request_id = $1", [requestId])).rows[0];

/** Accounts a and b opened; a2, then a3+b2 in one transaction, then b3: all fail. */
async function braid(): Promise<{ hostId: string; failureIds: readonly string[]; a: string; b: string }> {
  const [a, b] = [newId(), newId()];
  const captured = await captureWithDefect(db.pool, [
    [account(a, 1, 1)],
    [account(b, 1, 1)],
    [account(a, 2, 20)],
    [account(a, 3, 30), account(b, 2, 20)],
    [account(b, 3, 30)],
  ]);
  expect(captured.failureIds).toHaveLength(3);
  return { ...captured, a, b };
}

test("ER-PLN-01 one failure stands for its whole transaction; the id of a member is no failure's id", async () => {
  const { hostId, failureIds } = await braid();
  const { rows } = await db.pool.query("SELECT event_id FROM event_failure_event_t WHERE failure_id = $1", [
    failureIds[1],
  ]);
  expect(rows).toHaveLength(2);
  const made = await plan(hostId, [failureIds[1] as string]);
  expect((await read(hostId, made.replayRequestId)).items.map((item) => item.eventCount)).toEqual([1, 2]);
  expect((await refusal(plan(hostId, [rows[0].event_id]))).code).toBe("FAILURE_NOT_FOUND");
});

test("ER-PLN-06 the closure adds every failed predecessor of both scopes of a transaction, counts it and warns", async () => {
  const { hostId, failureIds } = await braid();
  const made = await plan(hostId, [failureIds[2] as string]);
  expect(made).toMatchObject({
    selectedTransactionCount: 1,
    addedDependencyTransactionCount: 2,
    transactionCount: 3,
    eventCount: 4,
    scopeCount: 2,
  });
  expect(made.warnings.map((warning) => warning.code)).toContain("DEPENDENCY_CLOSURE_EXPANDED");
  const { items } = await read(hostId, made.replayRequestId);
  expect(
    items.map(({ failureId, addedDependency, dependencyReason, needs }) => [
      failureId,
      addedDependency,
      dependencyReason,
      needs,
    ]),
  ).toEqual([
    [failureIds[0], true, "Added, item 2 needs it", []],
    [failureIds[1], true, "Added, item 3 needs it", [0]],
    [failureIds[2], false, "Selected", [1]],
  ]);
});

test("ER-PLN-07 EXACT takes the selection alone, and is refused with what is missing when something comes first", async () => {
  const { hostId, failureIds, a, b } = await braid();
  const whole = await plan(hostId, failureIds, { strategy: "EXACT" });
  expect(whole).toMatchObject({ transactionCount: 3, addedDependencyTransactionCount: 0, warnings: whole.warnings });
  const refused = await refusal(plan(hostId, [failureIds[2] as string], { strategy: "EXACT" }));
  expect(refused.code).toBe("REPLAY_GAP");
  expect(refused.details.missing).toEqual([{ scope: `Account:${b}`, version: 2, transactionId: expect.any(String) }]);
  expect(refused.details.failureIds).toEqual([failureIds[1]]);
  const first = await refusal(plan(hostId, [failureIds[1] as string], { strategy: "EXACT" }));
  expect(first.details.scopes).toEqual([`Account:${a}`]);
});

test("ER-PLN-09 the order of ids in the request changes neither the items nor their order", async () => {
  const { hostId, failureIds } = await braid();
  const orders = [failureIds, [...failureIds].reverse(), [failureIds[1], failureIds[2], failureIds[0], failureIds[1]]];
  const seen: string[] = [];
  for (const order of orders) {
    const made = await plan(hostId, order as string[]);
    seen.push((await read(hostId, made.replayRequestId)).items.map((item) => item.failureId).join());
  }
  expect(new Set(seen)).toEqual(new Set([failureIds.join()]));
});

test("ER-PLN-10 the plan records where each scope stands, where it will stand, and what it will hold", async () => {
  const { hostId, failureIds, a, b } = await braid();
  const made = await plan(hostId, failureIds);
  const row = await stored(made.replayRequestId);
  const scopes = [a, b]
    .sort()
    .map((id) => ({ scopeType: "AGGREGATE", scopeKey: `Account:${id}`, before: 1, after: 3 }));
  expect(row.plan_metadata.scopes).toEqual(scopes);
  expect(row.plan_metadata.highWaterMarks).toEqual([
    { partitionId: Number.parseInt(hostId.slice(-1), 16), projectedOffset: expect.any(Number) },
  ]);
  expect(row.plan_metadata.highWaterMarks[0].projectedOffset).toBeGreaterThan(0);
  expect(row.isolation_mode).toBe("AGGREGATE");
  expect(made.isolationScope).toEqual({
    mode: "AGGREGATE",
    projectionName: "ledger",
    consumerGroup: "ledger-group",
    rootInstanceIds: [],
  });
});

test("ER-PLN-11 hash and expiry never change, and the stored plan alone gives the hash again", async () => {
  const { hostId, failureIds } = await braid();
  const made = await plan(hostId, failureIds);
  const row = await stored(made.replayRequestId);
  const { rows: items } = await db.pool.query(
    `SELECT failure_id AS "failureId", expected_content_fingerprint AS "contentFingerprint", added_dependency AS "addedDependency"
       FROM event_replay_item_t WHERE replay_request_id = $1 ORDER BY item_ordinal`,
    [made.replayRequestId],
  );
  const again = planHash({
    hostId,
    strategy: row.selection_strategy,
    validationMode: row.validation_mode,
    items,
    metadata: row.plan_metadata,
    policyRegistryVersion: row.policy_registry_version,
    eventCount: row.event_count,
    payloadBytes: row.decrypted_payload_bytes,
    expiresAt: toIso(row.expires_ts),
    repair: null,
  });
  expect(again).toBe(row.plan_hash);
  for (const change of [
    `plan_hash = repeat('0', 64)`,
    "expires_ts = expires_ts + interval '1 day'",
    "plan_metadata = '{}'",
  ]) {
    const update = db.pool.query(`UPDATE event_replay_request_t SET ${change} WHERE replay_request_id = $1`, [
      made.replayRequestId,
    ]);
    await expect(update).rejects.toMatchObject({ code: "EA002" });
  }
});

test("ER-PLN-13 the hash travels as sha256 and lowercase hex", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const made = await plan(hostId, failureIds);
  expect(made.planHash).toBe(`sha256:${(await stored(made.replayRequestId)).plan_hash}`);
  expect(made.planHash).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("ER-PLN-15 a plan request with corrected data of any kind is refused before anything is looked up", () => {
  const request = { hostId: newId(), ...planRequest([newId()]) };
  expect(createEventReplayPlanRequest.safeParse(request).success).toBe(true);
  for (const extra of [{ corrected: {} }, { changes: { firstName: "x" } }, { events: [] }, { payload: "x" }]) {
    expect(createEventReplayPlanRequest.safeParse({ ...request, ...extra }).success).toBe(false);
  }
});

test("ER-PLN-16 nothing means all: without ids there is no plan, and more than 500 are refused by their number", async () => {
  const hostId = hostOfPartition(3);
  expect(createEventReplayPlanRequest.safeParse({ hostId, ...planRequest([]) }).success).toBe(false);
  const refused = await refusal(
    plan(
      hostId,
      Array.from({ length: 501 }, () => newId()),
    ),
  );
  expect(refused).toMatchObject({
    code: "REPLAY_LIMIT_EXCEEDED",
    details: { errors: [{ rule: "TOO_MANY_TRANSACTIONS" }] },
  });
});

test("ER-PLN-16 what the closure adds counts: one late failure of a chain of 501 can't be planned, one of 500 can", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()], 501);
  expect(failureIds).toHaveLength(501);
  const refused = await refusal(plan(hostId, [failureIds[500] as string]));
  expect(refused).toMatchObject({
    code: "REPLAY_LIMIT_EXCEEDED",
    details: { errors: [{ rule: "CLOSURE_TOO_LARGE" }] },
  });
  const made = await plan(hostId, [failureIds[499] as string]);
  expect(made).toMatchObject({ transactionCount: 500, addedDependencyTransactionCount: 499 });
}, 60_000);

test("ER-PLN-16 planning has a time: a statement that takes all of it is the limit's refusal, and no plan is left", async () => {
  const { hostId, failureIds } = await braid();
  const blocker = await db.pool.connect();
  try {
    await blocker.query("BEGIN; LOCK TABLE event_failure_transaction_t IN ACCESS EXCLUSIVE MODE");
    const request = { hostId, ...planRequest(failureIds) } as CreatePlanRequest;
    const refused = await refusal(createEventReplayPlan(alice(hostId), request, 200));
    expect(refused).toMatchObject({
      code: "REPLAY_LIMIT_EXCEEDED",
      details: { errors: [{ rule: "PLANNING_TIME" }] },
    });
  } finally {
    await blocker.query("ROLLBACK");
    blocker.release();
  }
  const { rows } = await db.pool.query("SELECT 1 FROM event_replay_request_t WHERE host_id = $1", [hostId]);
  expect(rows).toEqual([]);
});

test("ER-PLN-17 a preview shows the plan whole, waits for nobody and can't be approved", async () => {
  const { hostId, failureIds } = await braid();
  const made = await plan(hostId, failureIds, { validationMode: "VALIDATE_ONLY" });
  expect(made).toMatchObject({ status: "READY", transactionCount: 3, projectionCommitted: false });
  const bob = as(db.pool, { hostId, name: "bob" });
  const decision = { replayRequestId: made.replayRequestId, planHash: made.planHash, reason: "yes" };
  expect((await refusal(call(bob, "approveEventReplay", decision))).code).toBe("INVALID_REPLAY_STATE");
  const inbox = await call<{ counts: object; items: unknown[] }>(bob, "listEventReplay", { view: "WAITING_FOR_ME" });
  expect(inbox).toMatchObject({ counts: { waitingForMe: 0, mineWaiting: 0, notMine: 0 }, items: [] });
});

test("ER-PLN-18 a plan lives 24 hours from planning by the database's clock", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const made = await plan(hostId, failureIds);
  const { rows } = await db.pool.query(
    `SELECT extract(epoch FROM expires_ts - requested_ts)::int AS ttl, requested_ts <= now() AS past, expires_ts
       FROM event_replay_request_t WHERE replay_request_id = $1`,
    [made.replayRequestId],
  );
  expect(rows[0]).toMatchObject({ ttl: 86_400, past: true });
  expect(made.expiresAt).toBe(toIso(rows[0].expires_ts));
});

test("ER-PLN-21 the scopes of a plan are the union of all members' scopes, and a hole in one refuses the whole transaction", async () => {
  const [a, root] = [newId(), newId()];
  const node = (revision: number): OutboxMember => ({
    type: "GraphNodePlacedEvent",
    root,
    revision,
    data: { noteId: newId(), body: "b" },
  });
  const { hostId, failureIds } = await captureWithDefect(db.pool, [
    [account(a, 1, 1)],
    [node(1)],
    [account(a, 2, 2), node(2)],
    // Revision 3 never arrives: revision 4 is captured as a gap.
    [account(a, 3, 3), node(4)],
  ]);
  const made = await plan(hostId, [failureIds[0] as string]);
  expect(made.isolationScope).toMatchObject({ mode: "GRAPH_ROOT", rootInstanceIds: [root] });
  expect((await stored(made.replayRequestId)).plan_metadata.scopes).toEqual([
    { scopeType: "AGGREGATE", scopeKey: `Account:${a}`, before: 1, after: 2 },
    { scopeType: "GRAPH_ROOT", scopeKey: root, before: 1, after: 2 },
  ]);
  const refused = await refusal(plan(hostId, [failureIds[1] as string]));
  expect(refused).toMatchObject({
    code: "REPLAY_GAP",
    details: { missing: [{ scope: root, revision: 3 }], scopes: [root] },
  });
});

test("ER-PLN-23 planning writes its request, items and audit records and nothing else", async () => {
  const { hostId, failureIds } = await braid();
  const tables = [
    "event_store_t",
    "outbox_message_t",
    "event_failure_transaction_t",
    "event_failure_event_t",
    "event_failure_scope_t",
    "event_repair_t",
    "event_repair_event_t",
    "projection_scope_t",
    "projected_transaction_t",
    "consumer_offsets",
    "notification_t",
    "event_replay_barrier_t",
    "account_t",
    "note_t",
  ];
  const snapshot = async () => {
    const states: Record<string, unknown> = {};
    for (const table of tables) {
      const { rows } = await db.pool.query(`SELECT count(*) AS n, max(xmin::text::bigint) AS newest FROM ${table}`);
      states[table] = rows[0];
    }
    return states;
  };
  const before = await snapshot();
  await plan(hostId, failureIds);
  expect(await snapshot()).toEqual(before);
});

test("ER-PLN-25 failures of another projection, group or host never share a plan", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const other = await failedUpdates(db.pool, [newId()]);
  expect((await refusal(plan(hostId, [...failureIds, ...other.failureIds]))).code).toBe("FAILURE_NOT_FOUND");
  for (const foreign of [{ projectionName: "other" }, { consumerGroup: "other-group" }]) {
    const place = { projectionName: "ledger", consumerGroup: "ledger-group", ...foreign };
    const [failure] = await insertFailures(db.pool, { hostId, ...place });
    const refused = await refusal(plan(hostId, [...failureIds, failure?.failureId as string]));
    expect(refused).toMatchObject({
      code: "INVALID_REQUEST",
      details: { errors: [{ rule: "OTHER_PROJECTION" }], failureIds: [failure?.failureId] },
    });
    expect((await refusal(plan(hostId, failureIds, foreign))).code).toBe("INVALID_REQUEST");
  }
});

test("ER-API-05 the answer holds every published field, and warns when nobody else could approve", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const alone = await plan(hostId, failureIds);
  expect(alone).toMatchObject({
    status: "AWAITING_APPROVAL",
    selectedTransactionCount: 1,
    addedDependencyTransactionCount: 0,
    transactionCount: 1,
    eventCount: 1,
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    projectionCommitted: false,
    repairId: null,
    repeated: false,
  });
  expect(alone.warnings.map((warning) => warning.code)).toEqual(["NO_ELIGIBLE_APPROVER"]);
  await meet(alice(hostId), as(db.pool, { hostId, name: "carol", roles: ["getEventReplay"] }));
  expect((await plan(hostId, failureIds)).warnings.map((warning) => warning.code)).toEqual(["NO_ELIGIBLE_APPROVER"]);
  await meet(as(db.pool, { hostId, name: "bob" }));
  expect((await plan(hostId, failureIds)).warnings).toEqual([]);
});

test("ER-API-05 a double click plans once, and so does a key however late; another request under the key is refused", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const twice = planRequest(failureIds, { reason: "same" });
  const answers = await Promise.all(
    [1, 2, 3].map(() => call<CreatePlanResponse>(alice(hostId), "createEventReplayPlan", twice)),
  );
  expect(new Set(answers.map((answer) => answer.replayRequestId)).size).toBe(1);
  expect(answers.filter((answer) => answer.repeated)).toHaveLength(2);
  const someoneElse = await call<CreatePlanResponse>(
    as(db.pool, { hostId, name: "bob" }),
    "createEventReplayPlan",
    twice,
  );
  expect(someoneElse.repeated).toBe(false);
  const keyed = { reason: "keyed", idempotencyKey: "tab-1" };
  const first = await plan(hostId, failureIds, keyed);
  const decision = { replayRequestId: first.replayRequestId, planHash: first.planHash, reason: "no" };
  await call(alice(hostId), "cancelEventReplay", decision);
  expect(await plan(hostId, failureIds, keyed)).toMatchObject({
    replayRequestId: first.replayRequestId,
    planHash: first.planHash,
    status: "CANCELLED",
    repeated: true,
  });
  expect((await refusal(plan(hostId, failureIds, { ...keyed, reason: "changed" }))).code).toBe("INVALID_REQUEST");
});
