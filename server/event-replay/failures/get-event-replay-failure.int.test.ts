import { beforeAll, expect, test } from "vitest";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { processReplay } from "@/server/event-replay/execution/process-event-replay";
import { EXECUTION } from "@/server/event-replay/execution/settings";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { insertFailures, waiveFailures } from "@/server/testing/failures";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { callOperation, readContext } from "@/server/testing/read-context";
import { brokenLedger, failedUpdates, seedPlan } from "@/server/testing/replay-plans";
import { insertRepair, insertRequest, moveRequest, runningRequest } from "@/server/testing/replay-rows";
import { failureOperations } from "./operations";

const db = testDatabase();
beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
const get = (hostId: string, failureId: string, may: readonly string[] = []) =>
  callOperation<GetFailureResponse>(failureOperations, "getEventReplayFailure", readContext(db.pool, hostId, { may }), {
    failureId,
  });
const refusal = (hostId: string, failureId: string) =>
  get(hostId, failureId).then(
    () => "answered",
    (error: { code: string; details: unknown }) => JSON.stringify([error.code, error.details]),
  );
const PLANNER = ["createEventReplayPlan", "createEventReplayRepair"];
const user = (aggregateId: string, version: number) => ({
  eventType: "UserUpdatedEvent",
  aggregateType: "User",
  aggregateId,
  version,
});

test("ER-API-04 the detail holds metadata, scopes, fingerprint and members with digest and availability", async () => {
  const hostId = newId();
  const root = newId();
  const userId = newId();
  const [failure] = await insertFailures(db.pool, {
    hostId,
    members: [
      {
        eventType: "InstanceUpdatedEvent",
        aggregateType: "Instance",
        aggregateId: root,
        version: 7,
        root,
        revision: 9,
        schemaVersion: "2",
        userId,
      },
      {
        eventType: "ConfigInstanceUpdatedEvent",
        aggregateType: "ConfigInstance",
        aggregateId: "c",
        version: 3,
        root,
        revision: 9,
        schemaVersion: "2",
      },
    ],
    constraint: "config_property_t_config_fkey",
    failedOrdinal: 1,
  });
  const { rows } = await db.pool.query(
    "SELECT content_fingerprint AS f, (SELECT array_agg(payload_digest ORDER BY event_ordinal) FROM event_failure_event_t e WHERE e.failure_id = t.failure_id) AS d FROM event_failure_transaction_t t WHERE host_id = $1",
    [hostId],
  );
  const answer = await get(hostId, failure?.failureId as string);
  expect(answer).toMatchObject({
    hostId,
    failureId: failure?.failureId,
    originalTransactionId: failure?.transactionId,
    contentFingerprint: rows[0].f,
    userIds: [userId],
    failedOrdinal: 1,
    errorType: "23503",
    policyRegistryVersion: "event-replay-policy-v2",
    errorMessage: "Config row is missing. Nothing of this transaction was written.",
  });
  expect(answer.dependencyScopes).toContainEqual(
    expect.objectContaining({ mode: "GRAPH_ROOT", rootInstanceId: root, graphRevision: 9, status: "OPEN" }),
  );
  expect(answer.dependencyScopes.map((scope) => scope.scopeKey).sort()).toEqual(
    [root, "ConfigInstance:c", `Instance:${root}`].sort(),
  );
  expect(answer.events.map((event) => event.payloadDigest)).toEqual(
    rows[0].d.map((digest: string) => `sha256:${digest}`),
  );
  expect(answer.events[1]).toMatchObject({
    ordinal: 1,
    payloadAvailable: true,
    payloadStorage: "DATABASE_PLAIN",
    failed: true,
  });
  expect(answer.deliveries).toHaveLength(1);
});

test("ER-API-04 an unknown failure and one of another host answer the same FAILURE_NOT_FOUND, byte for byte", async () => {
  const other = newId();
  const [foreign] = await insertFailures(db.pool, { hostId: other });
  const unknown = await refusal(newId(), newId());
  expect(unknown).toBe('["FAILURE_NOT_FOUND",{}]');
  expect(await refusal(newId(), foreign?.failureId as string)).toBe(unknown);
});

test("ER-API-04 a gap names what must run first, per scope, and the cause that opened it", async () => {
  const hostId = newId();
  const [first, second, gap, later] = await insertFailures(
    db.pool,
    { hostId, members: [user("u", 5)], sqlState: "22001" },
    {
      hostId,
      members: [user("u", 6)],
      errorCode: "REPLAY_GAP",
      gap: { scopeType: "AGGREGATE", scopeKey: "User:u", expected: 5, got: 6 },
    },
    {
      hostId,
      members: [
        user("u", 7),
        { eventType: "RoleUserCreatedEvent", aggregateType: "RoleUser", aggregateId: "r", version: 1 },
      ],
      errorCode: "REPLAY_GAP",
      gap: { scopeType: "AGGREGATE", scopeKey: "User:u", expected: 5, got: 7 },
    },
    { hostId, members: [user("u", 8)], errorCode: "REPLAY_GAP" },
  );
  await insertFailures(db.pool, { hostId: newId(), members: [user("u", 4)] });
  await db.pool.query(
    `INSERT INTO projection_scope_t (host_id, projection_name, consumer_group, scope_type, scope_key, projected_version)
      VALUES ($1, 'portal-query', 'user-query-group', 'AGGREGATE', 'User:u', 4)`,
    [hostId],
  );
  const answer = await get(hostId, gap?.failureId as string);
  expect(answer.errorMessage).toMatch(/^Version 7 arrived, but the projection is still at 4\./);
  expect(answer.lanes.map((lane) => lane.scopeKey)).toEqual(["RoleUser:r", "User:u"]);
  const lane = answer.lanes[1];
  expect(lane).toMatchObject({
    projectedVersion: 4,
    ownVersions: [7],
    predecessorCount: 2,
    successorCount: 1,
    laterAppended: null,
  });
  expect(lane?.predecessors.map((p) => [p.failureId, p.version])).toEqual([
    [first?.failureId, 5],
    [second?.failureId, 6],
  ]);
  expect(answer.openPredecessorCount).toBe(2);
  expect(answer.firstCause).toMatchObject({
    failureId: first?.failureId,
    causeCount: 1,
    cause: { sentence: "Value is longer than its column" },
  });
  expect(later).toBeDefined();
});

test("ER-API-04 what may be done follows state and role, and every no says why", async () => {
  const hostId = newId();
  const [open, evidence, waived] = await insertFailures(
    db.pool,
    { hostId, members: [user("p", 1)] },
    { hostId, executable: false, errorCode: "TRANSACTION_INCOMPLETE", sqlState: null },
    { hostId, members: [{ eventType: "RefLocaleCreatedEvent" }] },
  );
  await waiveFailures(db.pool, hostId, [waived?.failureId as string]);
  const said = async (failure: typeof open, may: readonly string[]) => {
    const { replayOriginal, repair } = (await get(hostId, failure?.failureId as string, may)).permissions;
    expect(repair).toEqual({ allowed: false, reason: expect.stringMatching(/\w{3}.*\.$/) });
    expect(replayOriginal.allowed).toBe(replayOriginal.reason === null);
    return replayOriginal.reason;
  };
  expect(await said(open, PLANNER)).toBeNull();
  expect(await said(open, [])).toMatch(/Your role may read failures, not plan a replay/);
  expect(await said(evidence, PLANNER)).toMatch(/kept as evidence only/);
  expect(await said(waived, PLANNER)).toMatch(/waived by two people/);
});

test("ER-API-04 the detail names the request that holds the failure; one being executed, or a repair, keeps it from being planned", async () => {
  const hostId = newId();
  const [failure] = await insertFailures(db.pool, { hostId, members: [user("h", 1)] });
  const failureId = failure?.failureId as string;
  const read = () => get(hostId, failureId, PLANNER);
  expect((await read()).requests).toEqual({ count: 0, first: null });
  await insertRequest(db.pool, hostId, { failures: [failureId], mode: "VALIDATE_ONLY" });
  expect((await read()).requests).toEqual({ count: 0, first: null });

  const waiting = await insertRequest(db.pool, hostId, { failures: [failureId] });
  for (const status of ["READY", "AWAITING_APPROVAL"]) await moveRequest(db.pool, hostId, waiting, status);
  const held = await read();
  expect(held.requests).toEqual({ count: 1, first: { replayRequestId: waiting, status: "AWAITING_APPROVAL" } });
  expect(held.permissions.replayOriginal).toEqual({ allowed: true, reason: null });

  const running = await runningRequest(db.pool, hostId, { failures: [failureId] });
  const executed = await read();
  expect(executed.requests).toEqual({ count: 2, first: { replayRequestId: running, status: "RUNNING" } });
  expect(executed.permissions.replayOriginal.reason).toMatch(/is being executed/);

  await moveRequest(db.pool, hostId, running, "FAILED");
  await insertRepair(db.pool, hostId, failureId);
  expect((await read()).permissions.replayOriginal.reason).toMatch(/A repair of it is under way/);
});

test("ER-UI-02 the detail links the legacy notification of the same transaction and never counts it as a failure", async () => {
  const hostId = newId();
  const [failure] = await insertFailures(db.pool, { hostId });
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, event_class, process_ts, status, error, transaction_id)
      VALUES ($1, $2, 'RoleCreatedEvent', now(), 'DLQ', 'PROJECTION_FAILED', $3)`,
    [hostId, failure?.eventIds[0], failure?.transactionId],
  );
  const answer = await get(hostId, failure?.failureId as string);
  expect(answer.notifications).toMatchObject({
    count: 1,
    newest: { notificationId: failure?.eventIds[0], status: "DLQ" },
  });
  expect(answer.deliveryCount).toBe(1);
});

test("ER-API-04 a replay that failed stands in the failure's timeline with its request and code, and its scope is quarantined", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const failureId = captured.failureIds[0] as string;
  const before = await get(captured.hostId, failureId);
  expect(before.dependencyScopes.map((s) => s.quarantined)).toEqual([false]);
  expect(before.timeline.map((t) => t.kind)).not.toContain("REPLAYED");

  const failed = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  await processReplay({ pool: db.pool, projection: brokenLedger() }, failed, EXECUTION);
  const after = await get(captured.hostId, failureId);
  const { rows } = await db.pool.query<{ code: string }>(
    "SELECT error_code AS code FROM event_replay_attempt_t WHERE replay_request_id = $1",
    [failed.replayRequestId],
  );
  expect(after.dependencyScopes.map((s) => [s.status, s.quarantined])).toEqual([["OPEN", true]]);
  expect(after.timeline[0]).toEqual({
    ts: expect.any(String),
    kind: "REPLAYED",
    sentence: `Replayed by request ${failed.replayRequestId}: failed, ${rows[0]?.code}.`,
    replayRequestId: failed.replayRequestId,
  });

  const fixed = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  await processReplay({ pool: db.pool, projection: ledgerProjection() }, fixed, EXECUTION);
  const done = await get(captured.hostId, failureId);
  expect(done.dependencyScopes.map((s) => [s.status, s.quarantined])).toEqual([["RESOLVED", false]]);
  const sentences = done.timeline.map((t) => t.sentence);
  expect(sentences).toContain("Its transaction is projected, by replay of the archived bytes.");
  expect(sentences).toContain(`Replayed by request ${fixed.replayRequestId}: succeeded.`);
});
