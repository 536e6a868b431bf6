import { expect, test } from "vitest";
import type { ListCandidateIdsResponse, ListCandidateResponse, ListCauseResponse } from "@/server/contracts/failures";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { type FailureSpec, insertFailures, waiveFailures } from "@/server/testing/failures";
import { callOperation, readContext } from "@/server/testing/read-context";
import { failureOperations } from "./operations";

const db = testDatabase();
const CONTRACT = {
  projectionName: "portal-query",
  consumerGroup: "user-query-group",
  status: "OPEN",
  page: 0,
  pageSize: 25,
};

const list = (hostId: string, request: object = {}) =>
  callOperation<ListCandidateResponse>(
    failureOperations,
    "listEventReplayCandidate",
    readContext(db.pool, hostId),
    request,
  );
const causes = (hostId: string, request: object = {}) =>
  callOperation<ListCauseResponse>(failureOperations, "listEventReplayCause", readContext(db.pool, hostId), request);

const minute = (n: number) => new Date(Date.UTC(2026, 10, 1, 8, n)).toISOString();
const member = (eventType: string, aggregateId = newId(), version = 1) => ({
  eventType,
  aggregateType: eventType.replace(/(Created|Updated)Event$/, ""),
  aggregateId,
  version,
});

test("ER-API-02 a host's open failures are listed newest first with every field of the contract", async () => {
  const hostId = newId();
  const [older, newer] = await insertFailures(
    db.pool,
    {
      hostId,
      members: [member("RoleUserCreatedEvent"), member("RoleCreatedEvent")],
      constraint: "role_user_t_role_fkey",
      firstFailed: minute(1),
    },
    {
      hostId,
      members: [member("UserUpdatedEvent", "u1", 4)],
      sqlState: "22001",
      firstFailed: minute(2),
      lastFailed: minute(5),
    },
  );
  const answer = await list(hostId, CONTRACT);
  expect(answer).toMatchObject({ page: 0, pageSize: 25, total: 2, totalCapped: false, openTotal: 2 });
  expect(answer.items.map((item) => item.failureId)).toEqual([newer?.failureId, older?.failureId]);
  expect(answer.items[0]).toMatchObject({
    status: "OPEN",
    eventCount: 1,
    replayPolicy: "AGGREGATE_VERSION",
    firstFailedTs: "2026-11-01T08:02:00.000000Z",
    lastFailedTs: "2026-11-01T08:05:00.000000Z",
    errorCode: "PROJECTION_FAILED",
    payloadAvailable: true,
    encryptedPayloadBytes: 0,
    eventTypes: { first: "UserUpdatedEvent", count: 1 },
    primaryScope: { scopeType: "AGGREGATE", scopeKey: "User:u1", version: 4 },
    blockedScopes: 1,
    cause: { code: "PROJECTION_FAILED", sqlState: "22001", sentence: "Value is longer than its column" },
  });
  expect(answer.items[1]).toMatchObject({
    eventTypes: { first: "RoleUserCreatedEvent", count: 2 },
    scopeCount: 2,
    cause: { sentence: "Role row is missing", wayOut: { code: "REPLAY_ORIGINAL" } },
  });
});

test("ER-API-03 seeded legacy dead letters and notifications never appear in the candidate list", async () => {
  const hostId = newId();
  await seedLegacy(hostId, newId());
  const answer = await list(hostId, { ...CONTRACT, includeDiagnostic: true });
  expect(answer).toMatchObject({ total: 0, openTotal: 0, items: [] });
});

test("ER-CAP-36 candidates come from canonical rows alone, whatever the newest user-facing status says", async () => {
  const hostId = newId();
  const [failure] = await insertFailures(db.pool, { hostId });
  // The notification of the captured transaction claims success; another transaction is only known as a DLQ notification.
  await seedLegacy(hostId, newId());
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, event_class, process_ts, status, transaction_id) VALUES ($1, $2, 'RoleCreatedEvent', now(), 'SUCCEEDED', $3)`,
    [hostId, failure?.eventIds[0], failure?.transactionId],
  );
  const answer = await list(hostId, CONTRACT);
  expect(answer.items.map((item) => [item.failureId, item.status])).toEqual([[failure?.failureId, "OPEN"]]);
});

test("ER-API-02 paging by cursor sees every failure once while new ones arrive before every page", async () => {
  const hostId = newId();
  const specs: FailureSpec[] = Array.from({ length: 23 }, (_, i) => ({
    hostId,
    firstFailed: minute(Math.floor(i / 3)),
  }));
  const inserted = (await insertFailures(db.pool, ...specs)).map((row) => row.failureId);
  const seen: string[] = [];
  let cursor: string | undefined;
  let asOf: string | undefined;
  do {
    const page: ListCandidateResponse = await list(hostId, {
      pageSize: 5,
      ...(cursor && { cursor }),
      ...(asOf && { asOf }),
    });
    asOf ??= page.asOf;
    seen.push(...page.items.map((item) => item.failureId));
    cursor = page.olderCursor ?? undefined;
    await insertFailures(db.pool, { hostId }, { hostId });
  } while (cursor !== undefined);
  expect(seen).toHaveLength(23);
  expect(new Set(seen)).toEqual(new Set(inserted));
  const last = await list(hostId, { pageSize: 5, asOf });
  expect(last.newerCount).toBe(10);
});

test("ER-API-02 going newer from an older page gives the very pages that going older gave", async () => {
  const hostId = newId();
  await insertFailures(db.pool, ...Array.from({ length: 12 }, (_, i) => ({ hostId, firstFailed: minute(i % 4) })));
  const first = await list(hostId, { pageSize: 4 });
  const second = await list(hostId, { pageSize: 4, cursor: first.olderCursor });
  const third = await list(hostId, { pageSize: 4, cursor: second.olderCursor });
  expect(third.olderCursor).toBeNull();
  const back = await list(hostId, { pageSize: 4, cursor: third.newerCursor, direction: "newer" });
  expect(back.items).toEqual(second.items);
  const top = await list(hostId, { pageSize: 4, cursor: back.newerCursor, direction: "newer" });
  expect(top.items).toEqual(first.items);
  expect(top.newerCursor).toBeNull();
});

test("ER-API-02 page numbers give what cursors give, and stop at row 10,000", async () => {
  const hostId = newId();
  await insertFailures(db.pool, ...Array.from({ length: 7 }, (_, i) => ({ hostId, firstFailed: minute(i) })));
  const first = await list(hostId, { pageSize: 3 });
  const second = await list(hostId, { pageSize: 3, cursor: first.olderCursor });
  expect((await list(hostId, { ...CONTRACT, pageSize: 3, page: 1 })).items).toEqual(second.items);
  await expect(list(hostId, { ...CONTRACT, pageSize: 200, page: 51 })).rejects.toThrow();
});

test("ER-API-21 a cursor that was changed, or belongs to another host or filter, is INVALID_REQUEST", async () => {
  const hostId = newId();
  await insertFailures(db.pool, ...Array.from({ length: 3 }, (_, i) => ({ hostId, firstFailed: minute(i) })));
  const cursor = (await list(hostId, { pageSize: 1 })).olderCursor as string;
  for (let at = 0; at < cursor.length; at += 5) {
    const changed = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
    await expect(list(hostId, { pageSize: 1, cursor: changed }), `position ${at}`).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  }
  await expect(list(newId(), { cursor })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(list(hostId, { cursor, errorCode: "REPLAY_GAP" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(list(hostId, { cursor, sort: "firstFailed" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("ER-API-02 totals of list, groups and rollup equal a count of the table, before and after a waiver", async () => {
  const hostId = newId();
  const unordered = await insertFailures(
    db.pool,
    ...Array.from({ length: 4 }, () => ({
      hostId,
      members: [{ eventType: "RefLocaleCreatedEvent" }],
      sqlState: "23505",
    })),
  );
  await insertFailures(
    db.pool,
    { hostId, sqlState: "22001" },
    { hostId, sqlState: "22001" },
    { hostId, errorCode: "TRANSACTION_INCOMPLETE", sqlState: null, executable: false },
  );
  for (let round = 0; round < 2; round++) {
    const { rows } = await db.pool.query(
      "SELECT count(*)::int AS n, count(*) FILTER (WHERE executable)::int AS runnable FROM event_failure_transaction_t WHERE host_id = $1 AND status = 'OPEN'",
      [hostId],
    );
    const whole = await list(hostId, { includeDiagnostic: true });
    expect(whole).toMatchObject({ total: rows[0].n, openTotal: rows[0].n, totalSource: "ROLLUP" });
    expect(await list(hostId)).toMatchObject({ total: rows[0].runnable, totalSource: "ROLLUP" });
    const groups = await causes(hostId, { includeDiagnostic: true });
    expect(groups.total).toBe(rows[0].n);
    expect(groups.groups.reduce((sum, group) => sum + group.count, 0)).toBe(rows[0].n);
    const counted = await list(hostId, { includeDiagnostic: true, firstFailedAfter: "2020-01-01T00:00:00Z" });
    expect(counted).toMatchObject({ total: rows[0].n, totalSource: "COUNT" });
    if (round === 0)
      await waiveFailures(
        db.pool,
        hostId,
        unordered.slice(0, 2).map((row) => row.failureId),
      );
  }
  expect((await list(hostId, { status: "WAIVED" })).items.map((item) => item.failureId).sort()).toEqual(
    unordered
      .slice(0, 2)
      .map((row) => row.failureId)
      .sort(),
  );
});

test("ER-API-02 filters by type, code, cause, scope, policy, time and search each leave exactly their failures", async () => {
  const hostId = newId();
  const [gap, long, unordered] = await insertFailures(
    db.pool,
    { hostId, errorCode: "REPLAY_GAP", members: [member("UserUpdatedEvent", "a_1", 7)], firstFailed: minute(1) },
    {
      hostId,
      sqlState: "22001",
      members: [member("UserUpdatedEvent", "a%1", 2), member("RoleUpdatedEvent")],
      firstFailed: minute(2),
    },
    { hostId, sqlState: "23505", members: [{ eventType: "RefLocaleCreatedEvent" }], firstFailed: minute(3) },
  );
  const ids = {
    gap: gap?.failureId as string,
    long: long?.failureId as string,
    unordered: unordered?.failureId as string,
  };
  const found = async (request: object) => {
    const answer = await list(hostId, request);
    expect(answer.total).toBe(answer.items.length);
    return answer.items.map((item) => item.failureId).sort();
  };
  expect(await found({ eventType: "UserUpdatedEvent" })).toEqual([ids.gap, ids.long].sort());
  expect(await found({ errorCode: "REPLAY_GAP" })).toEqual([ids.gap]);
  expect(await found({ causeKey: "REPLAY_GAP" })).toEqual([ids.gap]);
  expect(await found({ scopeType: "AGGREGATE", scopeKey: "User:a%1" })).toEqual([ids.long]);
  expect(await found({ policy: "TRANSACTION_ONLY" })).toEqual([ids.unordered]);
  expect(await found({ firstFailedAfter: minute(2), firstFailedBefore: minute(3) })).toEqual([ids.long]);
  expect(await found({ projectionNames: ["portal-query"] })).toHaveLength(3);
  expect(await found({ projectionName: "other-query" })).toEqual([]);
  expect(await found({ search: ids.long })).toEqual([ids.long]);
  expect(await found({ search: ids.gap.slice(0, 23) })).toContain(ids.gap);
  expect(await found({ search: gap?.transactionId as string })).toEqual([ids.gap]);
  expect(await found({ search: "a%1" })).toEqual([ids.long]);
  expect(await found({ search: "User:a" })).toEqual([ids.gap, ids.long].sort());
  expect(await found({ search: "reflocale" })).toEqual([ids.unordered]);
  expect(await found({ search: "REPLAY" })).toEqual([ids.gap]);
  expect(await found({ search: "nothing like it" })).toEqual([]);
});

test("ER-API-02 a cause's arrivals, types, scopes and times are those of its failures", async () => {
  const hostId = newId();
  const hour = (ago: number) => new Date(Date.now() - ago * 3_600_000).toISOString();
  await insertFailures(
    db.pool,
    {
      hostId,
      constraint: "role_user_t_role_fkey",
      members: [member("RoleUserCreatedEvent", "x", 1)],
      firstFailed: hour(2),
      lastFailed: hour(0),
    },
    {
      hostId,
      constraint: "role_user_t_role_fkey",
      members: [member("RoleUserUpdatedEvent", "x", 2)],
      firstFailed: hour(2),
    },
    {
      hostId,
      constraint: "role_user_t_role_fkey",
      members: [member("RoleUserCreatedEvent", "y", 1)],
      firstFailed: hour(30),
    },
    { hostId, sqlState: "22001" },
  );
  const answer = await causes(hostId);
  expect(answer).toMatchObject({ total: 4, causeCount: 2 });
  const group = answer.groups[0];
  expect(group).toMatchObject({
    count: 3,
    scopesBlocked: 2,
    eventTypes: { names: ["RoleUserCreatedEvent", "RoleUserUpdatedEvent"], count: 2 },
    cause: { sentence: "Role row is missing" },
  });
  expect(group?.arrivals.reduce((sum, n) => sum + n, 0)).toBe(2);
  expect(group?.arrivals[21]).toBe(2);
  const rows = await list(hostId, { causeKey: group?.cause.key });
  expect(rows.total).toBe(3);
});

test("ER-API-02 a frozen selection holds what matched and nothing that came later, and says when it was cut", async () => {
  const hostId = newId();
  const before = (await insertFailures(db.pool, { hostId }, { hostId }, { hostId })).map((row) => row.failureId);
  const { asOf } = await list(hostId);
  await insertFailures(db.pool, { hostId });
  const ids = (request: object) =>
    callOperation<ListCandidateIdsResponse>(
      failureOperations,
      "listEventReplayCandidateIds",
      readContext(db.pool, hostId),
      request,
    );
  const frozen = await ids({ asOf });
  expect(new Set(frozen.failureIds)).toEqual(new Set(before));
  expect(frozen).toMatchObject({ count: 3, truncated: false });
  expect(await ids({ limit: 2 })).toMatchObject({ count: 2, truncated: true });
  const checked = await callOperation(failureOperations, "checkEventReplaySelection", readContext(db.pool, hostId), {
    failureIds: [...before, newId()],
  });
  expect(checked).toMatchObject({
    open: 3,
    notOpen: 1,
    notExecutable: 0,
    projections: [{ projectionName: "portal-query", consumerGroup: "user-query-group", count: 3 }],
    permissions: { plan: { allowed: false, reason: "Your role may read failures, not plan a replay." } },
  });
  const planner = readContext(db.pool, hostId, { may: ["createEventReplayPlan"] });
  const mine = await callOperation(failureOperations, "checkEventReplaySelection", planner, { failureIds: before });
  expect(mine).toMatchObject({ permissions: { plan: { allowed: true, reason: null } } });
});

async function seedLegacy(hostId: string, transactionId: string): Promise<void> {
  await db.pool.query(
    `INSERT INTO dead_letter_queue (group_id, host_id, event_id, c_offset, transaction_id, exception)
      VALUES ('user-query-group', $1, $2, 7, $3, 'PROJECTION_FAILED')`,
    [hostId, newId(), transactionId],
  );
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, event_class, process_ts, status, error, transaction_id)
      VALUES ($1, $2, 'RoleCreatedEvent', now(), 'DLQ', 'PROJECTION_FAILED', $3)`,
    [hostId, newId(), transactionId],
  );
}
