import { beforeAll, expect, test } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { captureFailure } from "./capture-failure";
import { buildFailureRecord, type FailureReason } from "./domain/failure-record";
import { loadFailureTransaction } from "./load-failure";

const db = testDatabase();
const ledger = ledgerProjection();
const CANARY = "cnry9c41";
/** As long as a name may be in PostgreSQL. */
const CONSTRAINT = `note_${"c".repeat(58)}`;
/** As long as an event type may be. */
const TYPE = `${"T".repeat(250)}Event`;

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await db.pool.query(`ALTER TABLE note_t ADD CONSTRAINT ${CONSTRAINT} CHECK (body NOT LIKE '%${CANARY}%')`);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

async function captured(name: string) {
  const hostId = hostOfPartition(4);
  await putOutbox(db.pool, { hostId, members: [{ type: "NoteWrittenEvent", data: { noteId: name, body: CANARY } }] });
  await drainLane(db.pool, ledger, 4);
  const { rows } = await db.pool.query("SELECT * FROM event_failure_transaction_t WHERE host_id = $1", [hostId]);
  expect(rows).toHaveLength(1);
  return { hostId, row: rows[0] as Record<string, string> };
}

const typed = (transaction: ProjectionTransaction, eventType: string): ProjectionTransaction => ({
  ...transaction,
  members: transaction.members.map((member) => ({ ...member, eventType })),
});
const reason = (constraint: string): FailureReason => ({
  code: "PROJECTION_FAILED",
  pg: { sqlState: "23514", constraint, table: null, column: null },
  ordinal: 0,
  gap: null,
});

test("ER-CAP-26 code and message columns hold SQLSTATE and the longest constraint name in our words, and nothing of the row that broke it", async () => {
  const { row } = await captured("cap26-real");
  expect(row).toMatchObject({
    error_code: "PROJECTION_FAILED",
    error_type: "23514",
    error_constraint: CONSTRAINT,
    error_message: `SQLSTATE 23514, constraint ${CONSTRAINT}`,
  });
  expect(JSON.stringify(row)).not.toContain(CANARY);
});

test("ER-CAP-26 an over-long constraint name and event type are cut at the code's own bounds and their failure is stored", async () => {
  const { hostId, row } = await captured("cap26-long");
  const loaded = await inTransaction(db.pool, "load", (tx) =>
    loadFailureTransaction(tx, hostId, row.failure_id as string),
  );
  if (!loaded.ok) throw new Error(loaded.code);
  const endless = buildFailureRecord(ledger, typed(loaded.transaction, TYPE), reason("c".repeat(5_000)));
  expect(endless.errorMessage).toBe(`SQLSTATE 23514, constraint ${"c".repeat(5_000)}`.slice(0, 2_048));
  expect(endless.causeKey).toHaveLength(512);

  const other = { ...ledger, consumerGroup: "other-group" };
  const { failureId } = await inTransaction(db.pool, "capture", (tx) =>
    captureFailure(tx, other, typed(loaded.transaction, TYPE), reason(CONSTRAINT)),
  );
  const { rows } = await db.pool.query(
    `SELECT length(error_code) <= 128 AS code, length(error_message) <= 2048 AS message, error_message, failed_event_type, cause_key
       FROM event_failure_transaction_t WHERE failure_id = $1`,
    [failureId],
  );
  expect(rows).toEqual([
    {
      code: true,
      message: true,
      error_message: `SQLSTATE 23514, constraint ${CONSTRAINT}`,
      failed_event_type: TYPE,
      cause_key: `PROJECTION_FAILED|23514|${CONSTRAINT}|${TYPE}`,
    },
  ]);
});
