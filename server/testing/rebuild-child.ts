import { randomBytes } from "node:crypto";
import pg from "pg";
import { findInstance } from "@/server/cli/instance";
import { runCli } from "@/server/cli/run-cli";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { migrateDatabase } from "@/server/platform/db/migrate";
import { createPool, type Pool } from "@/server/platform/db/pool";
import { inTransaction } from "@/server/platform/db/transaction";
import { portalProjection } from "@/server/portal/portal-projection";
import { PORTAL_TABLES } from "@/server/portal/tables";
import { drainLane } from "@/server/testing/drain-lane";
import { withDatabase } from "@/server/testing/template";

const CHUNK = 500;
const LANES = 16;

/*
 * Projects everything the running instance ever appended into a scratch database that never had a defect, and compares every
 * projection table row for row with the instance's. Prints one line of JSON for the browser test that asked:
 * {"transactions", "failing": [transaction ids], "rows", "differences": [{table, onlyHere, onlyThere}]}; no values.
 */
await runCli(async () => {
  const { databaseUrl } = findInstance();
  const scratch = `event_admin_rebuild_${process.pid}_${randomBytes(4).toString("hex")}`;
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${scratch} TEMPLATE template0 ENCODING 'UTF8'`);
    const scratchUrl = withDatabase(databaseUrl, scratch);
    await migrateDatabase(scratchUrl);
    const [here, there] = [createPool(databaseUrl, { max: 2 }), createPool(scratchUrl, { max: 2 })];
    try {
      process.stdout.write(`${JSON.stringify(await rebuildAndCompare(here, there))}\n`);
    } finally {
      await Promise.all([here.end(), there.end()]);
    }
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${scratch} WITH (FORCE)`);
    await admin.end();
  }
});

async function rebuildAndCompare(here: Pool, there: Pool) {
  await copyOutbox(here, there);
  const definition = portalProjection();
  await inTransaction(there, "rebuild", (tx) => ensureProgressRows(tx, definition));
  let transactions = 0;
  for (let lane = 0; lane < LANES; lane++) {
    transactions += (await drainLane(there, definition, lane)).transactions;
  }
  const { rows: failures } = await there.query<{ id: string }>(
    "SELECT original_transaction_id AS id FROM event_failure_transaction_t",
  );
  let rows = 0;
  const differences = [];
  for (const table of PORTAL_TABLES.keys()) {
    const [ours, theirs] = await Promise.all([rowsOf(here, table), rowsOf(there, table)]);
    rows += ours.size;
    const onlyHere = [...ours].filter((row) => !theirs.has(row)).length;
    const onlyThere = [...theirs].filter((row) => !ours.has(row)).length;
    if (onlyHere + onlyThere > 0) differences.push({ table, onlyHere, onlyThere });
  }
  return { transactions, failing: failures.map(({ id }) => id), rows, differences };
}

/** Byte for byte: rows travel as the database's own text. */
async function copyOutbox(here: Pool, there: Pool): Promise<void> {
  for (let lane = 0; lane < LANES; lane++) {
    for (let after = 0; ; ) {
      const { rows } = await here.query<{ rows: string | null; last: number | null }>(
        `SELECT json_agg(to_jsonb(m) ORDER BY c_offset)::text AS rows, max(c_offset) AS last
           FROM (SELECT * FROM outbox_message_t WHERE partition_id = $1 AND c_offset > $2 ORDER BY c_offset LIMIT ${CHUNK}) AS m`,
        [lane, after],
      );
      const chunk = rows[0];
      if (!chunk?.rows || chunk.last === null) break;
      await there.query(
        "INSERT INTO outbox_message_t SELECT * FROM jsonb_populate_recordset(NULL::outbox_message_t, $1::jsonb)",
        [chunk.rows],
      );
      after = chunk.last;
    }
  }
}

async function rowsOf(pool: Pool, table: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${table} AS t`);
  return new Set(rows.map(({ row }) => row));
}
