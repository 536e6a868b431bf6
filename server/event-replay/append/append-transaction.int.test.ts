import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { append, cloudEvent, codeOf, deps, footprint, HOST, note, rulesOf } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();
let n = 0;
const subject = () => `thing-${++n}`;
const thing = (id: string, version: number, fields = {}) =>
  cloudEvent({ subject: id, aggregateversion: version, data: { thingId: id }, ...fields });

test("ER-APP-06 store, outbox and notification of one transaction appear together with adjacent offsets", async () => {
  const id = subject();
  const result = await append(deps(db.pool), [thing(id, 1), thing(id, 2), note()]);
  const { rows } = await db.pool.query(
    `SELECT o.c_offset, o.transaction_ordinal, o.transaction_count, o.payload_digest = encode(sha256(o.event_bytes), 'hex') AS digest_ok,
            n.status, n.event_offset, e.metadata ->> 'time' AS time, e.payload ->> 'thingId' AS thing
     FROM outbox_message_t o JOIN notification_t n USING (host_id, id) JOIN event_store_t e USING (host_id, id)
     WHERE o.transaction_id = $1 ORDER BY o.c_offset`,
    [result.transactionId],
  );
  expect(rows.map((r) => [r.c_offset - result.firstOffset, r.transaction_ordinal, r.transaction_count])).toEqual([
    [0, 0, 3],
    [1, 1, 3],
    [2, 2, 3],
  ]);
  expect(rows.every((r) => r.digest_ok && r.status === "PENDING" && r.event_offset === r.c_offset)).toBe(true);
  expect(rows[0].time).toBe("2026-01-02T03:04:05.123456789Z");
  expect(rows[0].thing).toBe(id);
});

test("ER-APP-16 a refused append leaves no event, outbox, notification, failure and no consumed offset", async () => {
  const id = subject();
  await append(deps(db.pool), [thing(id, 1)]);
  const before = await footprint(db.pool);
  expect(await rulesOf(append(deps(db.pool), [thing(id, 3)]))).toEqual(["/aggregateversion VERSION_NOT_NEXT"]);
  expect(await rulesOf(append(deps(db.pool), [note(), thing(id, 1)]))).toEqual(["/aggregateversion VERSION_NOT_NEXT"]);
  expect(await codeOf(append(deps(db.pool), [thing(subject(), 1, { type: "NobodyKnowsEvent" })]))).toBe(
    "UNSUPPORTED_EVENT_TYPE",
  );
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-05 an identical redelivery is a no-op that answers the first result, other content under a stored id is refused", async () => {
  const event = thing(subject(), 1);
  const first = await append(deps(db.pool), [event]);
  const before = await footprint(db.pool);
  expect(await append(deps(db.pool), [event])).toEqual({ ...first, duplicate: true });
  expect(await rulesOf(append(deps(db.pool), [{ ...event, data: { thingId: "x" } }]))).toEqual([
    "/id DUPLICATE_EVENT_ID",
  ]);
  expect(await rulesOf(append(deps(db.pool), [event, note()]))).toEqual([
    "/id STORED_IN_ANOTHER_TRANSACTION",
    "/id TRANSACTION_PARTLY_STORED",
  ]);
  expect(await footprint(db.pool)).toEqual(before);
  const transactionId = newId();
  await append(deps(db.pool), [note()], transactionId);
  expect(await rulesOf(append(deps(db.pool), [note()], transactionId))).toEqual([
    "/transactionid TRANSACTION_ID_REUSED",
  ]);
  expect(HOST).toBe(first.eventIds.length === 1 ? HOST : "");
});
