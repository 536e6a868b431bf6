import { expect, test } from "vitest";
import type { GetNotificationResponse } from "@/server/contracts/notifications";
import { appendEvents } from "@/server/event-replay/append/append-events";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { deps, HOST, note, rulesOf } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { insertFailures } from "@/server/testing/failures";
import { callOperation, readContext } from "@/server/testing/read-context";
import { insertFailure, insertRequest } from "@/server/testing/replay-rows";
import { notificationOperations } from "./operations";

const db = testDatabase();
const EVERYONE = "getNotification:everyone";
type Who = { userId?: string; may?: string[] };
const call = <T>(name: string, hostId: string, who: Who, request: object = {}) =>
  callOperation<T>(notificationOperations, name, readContext(db.pool, hostId, who), request);
const get = (hostId: string, who: Who, request: object = {}) =>
  call<GetNotificationResponse>("getNotification", hostId, who, request);

async function notify(
  hostId: string,
  row: {
    userId?: string;
    status?: string;
    error?: string;
    offset?: number;
    at?: string;
    eventClass?: string;
    transactionId?: string;
    nonce?: string;
  },
): Promise<string> {
  const id = newId();
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, user_id, nonce, event_class, process_ts, status, error, event_partition, event_offset, transaction_id)
      VALUES ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), $7, $8, $9, $10, $11)`,
    [
      hostId,
      id,
      row.userId ?? null,
      row.nonce ?? null,
      row.eventClass ?? "UserCreatedEvent",
      row.at ?? null,
      row.status ?? "PENDING",
      row.error ?? null,
      row.offset === undefined ? null : partitionOfHost(hostId),
      row.offset ?? null,
      row.transactionId ?? null,
    ],
  );
  return id;
}

test("ER-UI-02 a person sees only their own notifications, whatever userId the request names", async () => {
  const hostId = newId();
  const [alice, bob] = [newId(), newId()];
  const own = await notify(hostId, { userId: alice });
  const others = await notify(hostId, { userId: bob });
  const ids = async (who: Who, request: object = {}) =>
    (await get(hostId, who, request)).notifications.map((n) => n.id).sort();
  expect(await ids({ userId: alice })).toEqual([own]);
  expect(await ids({ userId: alice }, { userId: bob })).toEqual([own]);
  expect(await ids({ userId: alice }, { filters: JSON.stringify([{ id: "userId", value: bob }]) })).toEqual([own]);
  expect(await ids({ userId: alice, may: [EVERYONE] })).toEqual([own, others].sort());
  expect(await ids({ userId: alice, may: [EVERYONE] }, { userId: bob })).toEqual([others]);
});

test("ER-UI-02 a pending notification that the projection has passed is shown SUCCEEDED, with the time of its batch", async () => {
  const hostId = newId();
  const partition = partitionOfHost(hostId);
  const passed = await notify(hostId, { offset: 4 });
  const waiting = await notify(hostId, { offset: 9 });
  await db.pool.query(
    "INSERT INTO consumer_offsets (group_id, topic_id, partition_id, next_offset) VALUES ('user-query-group', 1, $1, 9)",
    [partition],
  );
  await db.pool.query(
    "INSERT INTO projection_range_t (consumer_group, partition_id, first_offset, last_offset, projected_ts) VALUES ('user-query-group', $1, 1, 8, '2026-11-01T08:00:00Z')",
    [partition],
  );
  const who = { may: [EVERYONE] };
  const all = await get(hostId, who);
  expect(Object.fromEntries(all.notifications.map((n) => [n.id, n.status]))).toEqual({
    [passed]: "SUCCEEDED",
    [waiting]: "PENDING",
  });
  expect(all.notifications.find((n) => n.id === passed)?.processTs).toBe("2026-11-01T08:00:00.000000Z");
  expect((await get(hostId, who, { status: "SUCCEEDED" })).notifications.map((n) => n.id)).toEqual([passed]);
  expect((await get(hostId, who, { status: "PENDING" })).notifications.map((n) => n.id)).toEqual([waiting]);
  expect((await get(hostId, who, { processFlag: "Y" })).total).toBe(1);
  expect((await get(hostId, who, { processFlag: "N" })).total).toBe(1);
});

test("ER-ISO-04 a notification whose transaction is parked behind a barrier stays PENDING, though its lane has passed it", async () => {
  const hostId = newId();
  const [transactionId, barrierId, deferredId] = [newId(), newId(), newId()];
  const requestId = await insertRequest(db.pool, hostId, { failures: [await insertFailure(db.pool, hostId)] });
  const parked = await notify(hostId, { offset: 1, transactionId });
  const passed = await notify(hostId, { offset: 2 });
  await db.pool.query(
    `INSERT INTO consumer_offsets (group_id, topic_id, partition_id, next_offset) VALUES ('user-query-group', 1, $1, 9)
     ON CONFLICT (group_id, topic_id, partition_id) DO UPDATE SET next_offset = greatest(consumer_offsets.next_offset, 9)`,
    [partitionOfHost(hostId)],
  );
  await db.pool.query(
    `INSERT INTO event_replay_barrier_t (host_id, barrier_id, projection_name, consumer_group, scope_type, scope_key, state,
       owner_type, replay_request_id, barrier_epoch)
     VALUES ($1, $2, 'portal-query', 'user-query-group', 'AGGREGATE', 'User:1', 'ACTIVE', 'REPLAY_REQUEST', $3, 1)`,
    [hostId, barrierId, requestId],
  );
  await db.pool.query(
    `INSERT INTO event_projection_deferred_t (host_id, deferred_id, barrier_id, original_transaction_id, content_fingerprint,
       source_processor, source_order_key, source_coordinates, event_count, decrypted_payload_bytes, payload_digest,
       payload_storage, payload_plain)
     VALUES ($1, $2, $3, $4, $5, 'DATABASE', '1', '{}', 1, 1, encode(sha256('x'), 'hex'), 'DATABASE_PLAIN', 'x')`,
    [hostId, deferredId, barrierId, transactionId, "0".repeat(64)],
  );
  const who = { may: [EVERYONE] };
  const status = async () =>
    Object.fromEntries((await get(hostId, who)).notifications.map((n) => [n.id, n.status] as const));
  expect(await status()).toEqual({ [parked]: "PENDING", [passed]: "SUCCEEDED" });
  expect((await get(hostId, who, { status: "SUCCEEDED" })).notifications.map((n) => n.id)).toEqual([passed]);
  for (const change of ["status = 'RUNNING'", "status = 'SUCCEEDED', completed_ts = now()"]) {
    await db.pool.query(`UPDATE event_projection_deferred_t SET ${change} WHERE deferred_id = $1`, [deferredId]);
  }
  expect(await status()).toEqual({ [parked]: "SUCCEEDED", [passed]: "SUCCEEDED" });
});

test("ER-CAP-36 a DLQ notification tells a safe code, never event JSON, and points to its canonical failure", async () => {
  const hostId = newId();
  const [failure] = await insertFailures(db.pool, { hostId });
  const dead = await notify(hostId, {
    status: "DLQ",
    error: "PROJECTION_FAILED",
    transactionId: failure?.transactionId as string,
    nonce: "18446744073709551615",
  });
  const [row] = (await get(hostId, { may: [EVERYONE] })).notifications;
  expect(row).toMatchObject({
    id: dead,
    status: "DLQ",
    error: "PROJECTION_FAILED",
    eventJson: null,
    failureId: failure?.failureId,
    nonce: "18446744073709551615",
  });
});

test("ER-UI-02 offset, limit, sorting and filters work as existing clients send them", async () => {
  const hostId = newId();
  const who = { may: [EVERYONE] };
  const a = await notify(hostId, {
    eventClass: "AEvent",
    status: "DLQ",
    error: "REPLAY_GAP",
    at: "2026-11-01T08:00:00Z",
  });
  const b = await notify(hostId, { eventClass: "BEvent", status: "FAILED", at: "2026-11-01T09:00:00Z" });
  const c = await notify(hostId, { eventClass: "CEvent", at: "2026-11-02T09:00:00Z" });
  const client = {
    offset: 0,
    limit: 25,
    sorting: "[]",
    filters: "[]",
    globalFilter: "",
    nonce: "",
    eventClass: "",
    status: "",
    processFlag: "",
    processTime: "",
    eventJson: "",
    error: "",
  };
  const ids = async (request: object) =>
    (await get(hostId, who, { ...client, ...request })).notifications.map((n) => n.id);
  expect(await ids({})).toEqual([c, b, a]);
  expect(await ids({ offset: 1, limit: 1 })).toEqual([b]);
  expect(await ids({ sorting: '[{"id":"eventClass","desc":false}]' })).toEqual([a, b, c]);
  expect(await ids({ status: "DLQ,FAILED" })).toEqual([b, a]);
  expect(await ids({ filters: '[{"id":"status","value":["DLQ"]}]' })).toEqual([a]);
  expect(await ids({ processTime: "2026-11-01" })).toEqual([b, a]);
  expect(await ids({ globalFilter: "cev" })).toEqual([c]);
  expect(await ids({ error: "REPLAY" })).toEqual([a]);
  expect(await ids({ eventJson: "x" })).toEqual([]);
  for (const bad of [
    { sorting: '[{"id":"event_json; drop"}]' },
    { filters: "{" },
    { status: "OPEN" },
    { processTime: "2026-02-30" },
    { nonce: "x" },
  ]) {
    await expect(get(hostId, who, bad)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  }
});

test("ER-UI-02 the badge counts the caller's unread failures, and marking them read leaves other users' alone", async () => {
  const hostId = newId();
  const [alice, bob] = [newId(), newId()];
  await notify(hostId, { userId: alice, status: "DLQ" });
  await notify(hostId, { userId: alice, status: "FAILED" });
  await notify(hostId, { userId: alice });
  await notify(hostId, { userId: bob, status: "DLQ" });
  const count = async (userId: string) =>
    (await call<{ count: number }>("getUnreadNotificationCount", hostId, { userId }, { userId: bob })).count;
  expect([await count(alice), await count(bob)]).toEqual([2, 1]);
  expect(await call("markFailureNotificationsRead", hostId, { userId: alice }, { userId: bob })).toEqual({
    updated: 2,
  });
  expect([await count(alice), await count(bob)]).toEqual([0, 1]);
});

test("ER-APP-10 an event time before year 1 is refused at append, and a stored one never breaks the notification page", async () => {
  const early = note({ time: "0001-01-01T00:00:00+15:00" });
  const refused = appendEvents(deps(db.pool), { hostId: HOST, body: Buffer.from(JSON.stringify([early])) });
  expect(await rulesOf(refused)).toEqual(["/time NOT_AN_INSTANT"]);
  const hostId = newId();
  const times = ["0001-01-01T00:00:00+15:00", "infinity", "-infinity", "0050-01-01T00:00:00Z"];
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, event_class, event_ts, process_ts, status)
     SELECT $1, gen_random_uuid(), 'UserCreatedEvent', t::timestamptz, now(), 'PENDING' FROM unnest($2::text[]) t`,
    [hostId, times],
  );
  const { notifications } = await get(hostId, { may: [EVERYONE] });
  expect(notifications.map((n) => n.eventTs).sort()).toEqual(["0050-01-01T00:00:00.000000Z", null, null, null]);
});
