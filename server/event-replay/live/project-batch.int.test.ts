import { beforeAll, expect, test } from "vitest";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { newId } from "@/server/platform/ids";
import { inTransaction } from "@/server/platform/db/transaction";
import { drainLane } from "@/server/testing/drain-lane";
import { ensureProgressRows } from "./outbox-lane";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

const account = (id: string, version: number, data: Record<string, unknown> = {}, type?: string) => ({
  type: type ?? (version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent"),
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const failuresOf = async (hostId: string) =>
  (
    await db.pool.query(
      `SELECT f.*, (SELECT count(*)::int FROM event_failure_event_t e WHERE e.host_id = f.host_id AND e.failure_id = f.failure_id) AS members
         FROM event_failure_transaction_t f WHERE host_id = $1 ORDER BY first_failed_ts, failure_id`,
      [hostId],
    )
  ).rows;

test("ER-CAP-05 a transaction that fails on its last member is one failure with all members in order", async () => {
  const hostId = hostOfPartition(0);
  const [id] = [newId()];
  await putOutbox(db.pool, {
    hostId,
    members: [account(id, 1, { balance: 5 }), account(newId(), 1, { balance: 1 }), account(id, 2, { balance: -1 })],
  });
  await drainLane(db.pool, ledger, 0);
  const failures = await failuresOf(hostId);
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatchObject({ members: 3, error_code: "PROJECTION_FAILED", error_type: "23514", failed_ordinal: 2 });
});
