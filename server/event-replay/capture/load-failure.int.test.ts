import { beforeAll, expect, test } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { execute } from "@/server/event-replay/projection/execute";
import { inTransaction } from "@/server/platform/db/transaction";
import { sha256Hex } from "@/server/platform/digest";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { captureFailure } from "./capture-failure";
import { loadFailureTransaction } from "./load-failure";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

/** One captured failure of two members; its handler works again afterwards (the constraint is lifted per test). */
async function capturedFailure(name: string, body: unknown = { noteId: name, body: "x".repeat(41) }) {
  const hostId = hostOfPartition(1);
  await putOutbox(db.pool, {
    hostId,
    members: [
      { type: "AccountOpenedEvent", aggregateType: "Account", aggregateId: name, version: 1, data: { owner: "o" } },
      { type: "NoteWrittenEvent", data: body as Record<string, unknown> },
    ],
  });
  await drainLane(db.pool, ledger, 1);
  const { rows } = await db.pool.query("SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1", [
    hostId,
  ]);
  expect(rows).toHaveLength(1);
  return { hostId, failureId: rows[0].failure_id as string };
}
const load = (hostId: string, failureId: string) =>
  inTransaction(db.pool, "load", (tx) => loadFailureTransaction(tx, hostId, failureId));

/** As a bad disk or a careless owner would: past triggers and constraints. */
async function tamper(sql: string, failureId: string): Promise<void> {
  await db.pool.query("ALTER TABLE event_failure_event_t DISABLE TRIGGER ALL");
  const { rows } = await db.pool.query(
    "SELECT conname FROM pg_constraint WHERE conrelid = 'event_failure_event_t'::regclass AND contype = 'c'",
  );
  for (const { conname } of rows) await db.pool.query(`ALTER TABLE event_failure_event_t DROP CONSTRAINT "${conname}"`);
  const { rowCount } = await db.pool.query(
    `UPDATE event_failure_event_t SET ${sql} WHERE failure_id = $1 AND event_ordinal = 1`,
    [failureId],
  );
  expect(rowCount).toBe(1);
}

test("ER-PAY-02 the digest is of exactly the stored bytes and is recomputed from them when they are loaded", async () => {
  const { hostId, failureId } = await capturedFailure("pay02");
  const loaded = await load(hostId, failureId);
  if (!loaded.ok) throw new Error(loaded.code);
  const { rows } = await db.pool.query(
    "SELECT payload_plain, payload_digest FROM event_failure_event_t WHERE failure_id = $1 ORDER BY event_ordinal",
    [failureId],
  );
  rows.forEach((row, i) => {
    expect(sha256Hex(row.payload_plain)).toBe(row.payload_digest);
    expect(loaded.transaction.members[i]?.payload.equals(row.payload_plain)).toBe(true);
  });
});

test("ER-PAY-03 bytes that JSONB would reorder or reformat replay as stored and pass their digest", async () => {
  const { hostId, failureId } = await capturedFailure("pay03", {
    zeta: 1,
    noteId: "pay03",
    body: "y".repeat(50),
    alpha: { "b ": 1.0, a: [1, 2] },
  });
  const { rows } = await db.pool.query(
    "SELECT convert_from(payload_plain, 'UTF8')::jsonb::text = convert_from(payload_plain, 'UTF8') AS survives FROM event_failure_event_t WHERE failure_id = $1 AND event_ordinal = 1",
    [failureId],
  );
  expect(rows[0].survives).toBe(false);
  const loaded = await load(hostId, failureId);
  if (!loaded.ok) throw new Error(loaded.code);
  await db.pool.query("ALTER TABLE note_t ALTER COLUMN body TYPE varchar(400)");
  const outcomes = await inTransaction(db.pool, "replay", (tx) => execute(tx, ledger, [loaded.transaction], "REPLAY"));
  await db.pool.query("DELETE FROM note_t");
  await db.pool.query("ALTER TABLE note_t ALTER COLUMN body TYPE varchar(40)");
  expect(outcomes[0]?.kind).toBe("PROJECTED");
});

test("ER-PAY-04 capture keeps the canonical bytes that append encoded once, byte for byte, under the versioned format", async () => {
  const { failureId } = await capturedFailure("pay04");
  const { rows } = await db.pool.query(
    `SELECT e.payload_format, e.payload_plain = o.event_bytes AS same FROM event_failure_event_t e
       JOIN outbox_message_t o ON o.host_id = e.host_id AND o.id::text = e.event_id WHERE e.failure_id = $1`,
    [failureId],
  );
  expect(rows).toEqual([
    { payload_format: "event-replay-canonical-v1", same: true },
    { payload_format: "event-replay-canonical-v1", same: true },
  ]);
});

test("ER-PAY-06 a failure replays from its own bytes after store and outbox rows are gone", async () => {
  const { hostId, failureId } = await capturedFailure("pay06");
  await db.pool.query("ALTER TABLE outbox_message_t DISABLE TRIGGER ALL");
  await db.pool.query("DELETE FROM outbox_message_t WHERE host_id = $1", [hostId]);
  await db.pool.query("ALTER TABLE outbox_message_t ENABLE TRIGGER ALL");
  expect((await load(hostId, failureId)).ok).toBe(true);
});

test("ER-PAY-07 one flipped stored byte is a digest mismatch, and nothing is loaded to project", async () => {
  const { hostId, failureId } = await capturedFailure("pay07");
  await tamper("payload_plain = set_byte(payload_plain, 10, get_byte(payload_plain, 10) # 1)", failureId);
  expect(await load(hostId, failureId)).toMatchObject({ ok: false, code: "PAYLOAD_DIGEST_MISMATCH" });
});

test("ER-PAY-07 bytes and digest exchanged together still break the transaction's fingerprint", async () => {
  const { hostId, failureId } = await capturedFailure("pay07b");
  await tamper("payload_plain = '{}', payload_digest = encode(sha256('{}'), 'hex')", failureId);
  expect(await load(hostId, failureId)).toMatchObject({ ok: false, code: "PAYLOAD_DIGEST_MISMATCH" });
});

test("ER-PAY-08 a tombstoned payload is unavailable", async () => {
  const { hostId, failureId } = await capturedFailure("pay08");
  await tamper(
    "payload_storage = 'DELETED', payload_plain = NULL, payload_deleted_ts = now(), payload_deleted_reason = 'asked'",
    failureId,
  );
  expect(await load(hostId, failureId)).toMatchObject({ ok: false, code: "PAYLOAD_UNAVAILABLE" });
});

test("ER-PAY-09 a format this build can't decode is refused by name", async () => {
  const { hostId, failureId } = await capturedFailure("pay09");
  await tamper("payload_format = 'event-replay-canonical-v9'", failureId);
  expect(await load(hostId, failureId)).toMatchObject({ ok: false, code: "UNSUPPORTED_PAYLOAD_VERSION" });
});

test("ER-PAY-13 rows taken over from encrypted or object storage never execute", async () => {
  for (const storage of ["DATABASE", "OBJECT"]) {
    const { hostId, failureId } = await capturedFailure(`pay13-${storage}`);
    await tamper(`payload_storage = '${storage}', payload_plain = NULL`, failureId);
    expect(await load(hostId, failureId)).toMatchObject({ ok: false, code: "PAYLOAD_UNAVAILABLE" });
  }
});

test("an absent failure and another host's failure are not found alike", async () => {
  const { failureId } = await capturedFailure("absent");
  expect(await load(hostOfPartition(2), failureId)).toMatchObject({ ok: false, code: "FAILURE_NOT_FOUND" });
});

test("ER-CAP-25 two processes that capture one transaction at the same time end with one row", async () => {
  const { hostId, failureId } = await capturedFailure("cap25");
  const loaded = await load(hostId, failureId);
  if (!loaded.ok) throw new Error(loaded.code);
  const transaction = loaded.transaction;
  const capture = () =>
    inTransaction(db.pool, "capture", (tx) =>
      captureFailure(tx, { ...ledger, consumerGroup: "second-group" }, transaction, {
        code: "PROJECTION_FAILED",
        pg: null,
        ordinal: null,
        gap: null,
      }),
    );
  const results = await Promise.all(Array.from({ length: 6 }, capture));
  expect(new Set(results.map((result) => result.failureId)).size).toBe(1);
  expect(results.filter((result) => result.isNew)).toHaveLength(1);
  const { rows } = await db.pool.query(
    "SELECT failure_count FROM event_failure_transaction_t WHERE consumer_group = 'second-group'",
  );
  expect(rows).toEqual([{ failure_count: 6 }]);
});
