import { expect, test } from "vitest";
import type { GetOverviewResponse, ListBlockedScopeResponse } from "@/server/contracts/overview";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { insertFailures, waiveFailures } from "@/server/testing/failures";
import { callOperation, readContext } from "@/server/testing/read-context";
import { failureOperations } from "./operations";

const db = testDatabase();
const overview = (hostId: string, userId?: string) =>
  callOperation<GetOverviewResponse>(
    failureOperations,
    "getEventReplayOverview",
    readContext(db.pool, hostId, userId ? { userId } : {}),
    {},
  );
const blocked = (hostId: string, request: object = {}) =>
  callOperation<ListBlockedScopeResponse>(
    failureOperations,
    "listEventReplayBlockedScope",
    readContext(db.pool, hostId),
    request,
  );
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const role = (aggregateId: string, version = 1) => ({
  eventType: "RoleUpdatedEvent",
  aggregateType: "Role",
  aggregateId,
  version,
});

test("ER-OBS-05 blocked scopes are counted by age and safe code, and an incident opens at 900 s", async () => {
  const hostId = newId();
  await insertFailures(
    db.pool,
    { hostId, members: [role("old", 1)], firstFailed: ago(4000) },
    { hostId, members: [role("old", 2)], errorCode: "REPLAY_GAP", firstFailed: ago(10) },
    { hostId, members: [role("mid")], firstFailed: ago(905) },
    { hostId, members: [role("young")], firstFailed: ago(850) },
    { hostId, members: [role("new"), role("new2")], firstFailed: ago(5) },
    { hostId, members: [{ eventType: "RefLocaleCreatedEvent" }], firstFailed: ago(9000) },
  );
  const answer = await overview(hostId);
  expect(answer.blocked).toMatchObject({
    scopes: 5,
    scopesCapped: false,
    incidentScopes: 2,
    incident: true,
    thresholdSeconds: 900,
    ageBuckets: { under60s: 2, under300s: 0, under900s: 1, under3600s: 1, over3600s: 1 },
    byCode: [{ code: "PROJECTION_FAILED", scopes: 5 }],
  });
  expect(answer.blocked.oldestSeconds).toBeGreaterThanOrEqual(4000);
  expect(answer.blocked.top[0]).toMatchObject({
    scopeKey: "Role:old",
    incident: true,
    openCount: 2,
    waitsFor: "Nobody has acted",
  });
  expect(answer.blocked.top[0]?.openVersions.map((open) => open.version)).toEqual([1, 2]);
});

test("ER-OBS-05 active and quarantined barriers and parked work of this host alone are counted", async () => {
  const hostId = newId();
  const [failure] = await insertFailures(db.pool, { hostId, members: [role("q")] });
  const request = newId();
  await db.pool.query(
    `INSERT INTO event_replay_request_t (host_id, replay_request_id, projection_name, consumer_group, selection_strategy,
        validation_mode, reason, policy_registry_version, requested_by, expires_ts)
      VALUES ($1, $2, 'portal-query', 'user-query-group', 'EXACT', 'EXECUTE', 'test', 'event-replay-policy-v2', 'one', now() + interval '1 day')`,
    [hostId, request],
  );
  for (const key of ["Role:q", "Role:r", "Role:s"]) {
    await db.pool.query(
      `INSERT INTO event_replay_barrier_t (host_id, barrier_id, projection_name, consumer_group, scope_type, scope_key, state, owner_type,
          replay_request_id, barrier_epoch)
        VALUES ($1, $2, 'portal-query', 'user-query-group', 'AGGREGATE', $3, 'ACTIVE', 'REPLAY_REQUEST', $4, 1)`,
      [hostId, newId(), key, request],
    );
  }
  await db.pool.query(
    `UPDATE event_replay_barrier_t SET state = 'QUARANTINED', owner_type = 'FAILURE_QUARANTINE', replay_request_id = NULL, quarantine_failure_id = $2
      WHERE host_id = $1 AND scope_key = 'Role:q'`,
    [hostId, failure?.failureId],
  );
  expect((await overview(hostId)).barriers).toEqual({ active: 2, quarantined: 1, deferredTransactions: 0 });
  expect((await overview(newId())).barriers).toEqual({ active: 0, quarantined: 0, deferredTransactions: 0 });
});

test("ER-UI-01 the overview's totals add up: causes to open, executable and evidence to open", async () => {
  const hostId = newId();
  const inserted = await insertFailures(
    db.pool,
    { hostId, sqlState: "22001" },
    { hostId, sqlState: "22001" },
    { hostId, errorCode: "TRANSACTION_INCOMPLETE", sqlState: null, executable: false },
    { hostId, members: [{ eventType: "RefLocaleCreatedEvent" }] },
  );
  await waiveFailures(db.pool, hostId, [inserted[3]?.failureId as string]);
  const { totals, causes, recentCaptures, lastResolved } = await overview(hostId);
  expect(totals).toEqual({ open: 3, openExecutable: 2, openDiagnostic: 1, resolved: 0, waived: 1, causes: 2 });
  expect(causes.reduce((sum, group) => sum + group.count, 0)).toBe(totals.open);
  expect(recentCaptures).toHaveLength(3);
  expect(lastResolved).toMatchObject({ failureId: inserted[3]?.failureId, status: "WAIVED" });
});

test("ER-UI-01 blocked scopes page by key, longest blocked first, each scope once", async () => {
  const hostId = newId();
  await insertFailures(
    db.pool,
    ...Array.from({ length: 9 }, (_, i) => ({
      hostId,
      members: [role(`s${i}`)],
      firstFailed: ago(1000 - Math.floor(i / 3)),
    })),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page: ListBlockedScopeResponse = await blocked(hostId, { pageSize: 2, ...(cursor && { cursor }) });
    expect(page.total).toBe(9);
    seen.push(...page.items.map((item) => item.scopeKey));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 9 }, (_, i) => `Role:s${i}`));
  await expect(blocked(newId(), { cursor: (await blocked(hostId, { pageSize: 2 })).nextCursor })).rejects.toMatchObject(
    { code: "INVALID_REQUEST" },
  );
});

test("ER-OBS-05 capture is STOPPED without a projector, HEALTHY with one, DEGRADED when it tries again", async () => {
  const hostId = newId();
  expect((await overview(hostId)).capture.state).toBe("STOPPED");
  const id = newId();
  await db.pool.query(
    `INSERT INTO processor_status_t (instance_id, projection_name, consumer_group, source_processor, state)
      VALUES ($1, 'portal-query', 'user-query-group', 'DATABASE', 'HEALTHY')`,
    [id],
  );
  expect((await overview(hostId)).capture).toMatchObject({ state: "HEALTHY", outboxPending: 0, outboxLagSeconds: 0 });
  await db.pool.query(
    "UPDATE processor_status_t SET state = 'RETRYING', code = 'CONNECTION_LOST' WHERE instance_id = $1",
    [id],
  );
  expect((await overview(hostId)).capture).toMatchObject({ state: "DEGRADED" });
});
