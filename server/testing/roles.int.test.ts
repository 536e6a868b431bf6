import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import manifest from "@/drizzle/migrations/manifest.json";
import { checkConservation } from "@/server/event-replay/append/checker";
import { processReplay } from "@/server/event-replay/execution/process-event-replay";
import { LiveProjector } from "@/server/event-replay/live/live-projector";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { EventHandler, ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { sendNotices } from "@/server/governance/approver-webhook/send-notices";
import { verifyAuditChain } from "@/server/governance/audit-trail/verify-chain";
import { publicTables } from "@/server/platform/db/catalog";
import { readDatabaseRole } from "@/server/platform/db/database-role";
import { MIGRATIONS_FOLDER } from "@/server/platform/db/migrate";
import { createPool } from "@/server/platform/db/pool";
import { findSchemaProblems } from "@/server/platform/db/schema-check";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { append, deps, note } from "@/server/testing/append";
import { type GroupRole, testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { as, call, meet, planRequest } from "@/server/testing/planning";
import { account, brokenLedger } from "@/server/testing/replay-plans";

const db = testDatabase();
const ledger = ledgerProjection();
const web = () => db.poolAs("event_admin_web");
const projector = () => db.poolAs("event_admin_projector");

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await db.pool.query(
    `GRANT SELECT, INSERT, UPDATE, DELETE ON account_t, entry_t, note_t, late_t TO event_admin_web, event_admin_projector`,
  );
  await inTransaction(projector(), "rows", (tx) => ensureProgressRows(tx, ledger));
});

const rows = async (text: string, ...values: unknown[]) => (await db.pool.query(text, values)).rows;

/** Live work on the host of a plan, as it comes while the plan's first item runs; version 5 fails when it is drained. */
function meanwhile(work: () => Promise<void>): ProjectionDefinition {
  const good = LEDGER_HANDLERS.AccountUpdatedEvent as Extract<EventHandler, { kind: "rows" }>;
  const failing = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "rows",
        project: (event) =>
          good
            .project(event)
            .map((row) =>
              "set" in row && event.aggregateVersion === 5 ? { ...row, set: { ...row.set, balance: -1 } } : row,
            ),
      },
    },
  });
  let begun = false;
  return {
    ...failing,
    async forBatch() {
      if (!begun) {
        begun = true;
        await work();
      }
      return failing;
    },
  };
}

test("ER-PAY-11 a whole recovery needs no more than the rights of web and projector: capture, plan, approve, park, run, drain", async () => {
  const hostId = hostOfPartition(3);
  await putOutbox(db.pool, ...[1, 2, 3].map((version) => ({ hostId, members: [account("held", version, version)] })), {
    hostId,
    members: [account("free", 1, 1)],
  });
  const live = await drainLane(projector(), brokenLedger(), 3);
  expect(live).toMatchObject({ captured: 2 });
  const ids = (await rows("SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1", hostId)).map(
    (row) => row.failure_id,
  );
  const [alice, bob] = [as(web(), { hostId, name: "alice" }), as(web(), { hostId, name: "bob" })];
  await meet(alice, bob);
  const plan = await call<{ replayRequestId: string; planHash: string }>(
    alice,
    "createEventReplayPlan",
    planRequest(ids),
  );
  const request = { hostId, ...plan };
  await call(bob, "approveEventReplay", {
    replayRequestId: plan.replayRequestId,
    planHash: plan.planHash,
    reason: "checked",
  });
  await db.pool.query(
    `UPDATE event_replay_request_t SET status = 'INSTALLING_BARRIER', started_by = 'a', started_ts = now() WHERE host_id = $1`,
    [hostId],
  );
  const definition = meanwhile(async () => {
    await putOutbox(
      db.pool,
      { hostId, members: [account("held", 4, 40)] },
      { hostId, members: [account("held", 5, 50)] },
    );
    expect(await drainLane(projector(), ledger, 3)).toMatchObject({ parked: 2 });
  });
  await processReplay({ pool: web(), projection: definition }, request);
  const [held] = await rows("SELECT balance, aggregate_version FROM account_t WHERE account_id = 'held'");
  expect(held).toEqual({ balance: 40, aggregate_version: 4 });
  const parked = await rows(
    "SELECT status FROM event_projection_deferred_t WHERE host_id = $1 ORDER BY source_order_key",
    hostId,
  );
  expect(parked.map((row) => row.status)).toEqual(["SUCCEEDED", "FAILED"]);
  const statuses = await rows(
    "SELECT status, count(*) AS n FROM event_failure_transaction_t WHERE host_id = $1 GROUP BY 1 ORDER BY 1",
    hostId,
  );
  expect(statuses).toEqual([
    { status: "OPEN", n: 1 },
    { status: "RESOLVED", n: 2 },
  ]);
  expect((await verifyAuditChain(web(), [])).faults).toEqual([]);
  const read = db.poolAs("event_admin_read");
  expect((await verifyAuditChain(read, [])).faults).toEqual([]);
  expect(await checkConservation(read, ledger)).toEqual([]);
  expect(await rows("SELECT sum(n)::int8 AS n FROM event_failure_rollup_t WHERE host_id = $1", hostId)).toEqual([
    { n: 3 },
  ]);
});

test("ER-PAY-11 append, the live processor's own life and the notices to approvers stay within their roles", async () => {
  await append(deps(web()), [note(), note()]);
  const live = new LiveProjector(projector(), ledger, {
    databaseUrl: db.urlAs("event_admin_projector"),
    lanes: 1,
    pollMs: 50,
  });
  const hostId = hostOfPartition(5);
  await live.start();
  await putOutbox(db.pool, { hostId, members: [account("live", 1, 7)] });
  await expect.poll(() => rows("SELECT balance FROM account_t WHERE account_id = 'live'")).toEqual([{ balance: 7 }]);
  expect(await rows("SELECT state FROM processor_status_t")).toEqual([{ state: "HEALTHY" }]);
  await live.stop();
  expect(await rows("SELECT state FROM processor_status_t")).toEqual([{ state: "STOPPED" }]);
  await sendNotices(projector(), {
    url: "http://127.0.0.1:9/none",
    secret: "s".repeat(32),
    publicUrl: "http://x.test",
  });
});

test("ER-PAY-11 readiness tells a process that works with its role's rights from one that owns everything", async () => {
  expect(await readDatabaseRole(db.pool)).toBe("SUPERUSER");
  expect(await readDatabaseRole(web())).toBe("LIMITED");
  expect(await readDatabaseRole(projector())).toBe("LIMITED");
});

test("ER-DEP-02 every role sees a complete schema, and a right too many or too few is a difference", async () => {
  for (const role of ["event_admin_web", "event_admin_projector", "event_admin_read"] as const) {
    expect(await findSchemaProblems(db.poolAs(role)), role).toEqual([]);
  }
  const change = async (ddl: string) => {
    const client = await db.pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(ddl);
      return await findSchemaProblems(client as unknown as typeof db.pool);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  };
  const named = (role: string) => [`what role ${role} may do with event_failure_event_t differs`];
  expect(await change("GRANT SELECT (payload_plain) ON event_failure_event_t TO event_admin_read")).toEqual(
    named("event_admin_read"),
  );
  expect(await change("REVOKE INSERT ON event_failure_event_t FROM event_admin_projector")).toEqual(
    named("event_admin_projector"),
  );
  // A role that another database of the cluster uses, and this one doesn't, is no difference.
  const unused = Object.keys(manifest.grants.event_admin_read);
  expect(await change(`REVOKE ALL ON ${unused.join(", ")} FROM event_admin_read`)).toEqual([]);
});

/** What the statement ends with for that role: an SQLSTATE, or "done" (and undone). */
async function outcome(role: GroupRole, statement: string): Promise<string> {
  const client = await db.poolAs(role).connect();
  try {
    await client.query("BEGIN");
    await client.query(statement);
    return "done";
  } catch (error) {
    return String((error as { code?: string }).code);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

const BYTES: readonly [table: string, column: string][] = [
  ["event_store_t", "payload"],
  ["event_store_t", "metadata"],
  ["outbox_message_t", "event_bytes"],
  ["event_failure_event_t", "payload_plain"],
  ["event_failure_event_t", "source_key"],
  ["event_failure_event_t", "source_headers"],
  ["event_repair_event_t", "corrected_payload_plain"],
  ["event_projection_deferred_t", "payload_plain"],
  ["notification_t", "event_json"],
  ["dead_letter_queue", "payload"],
];

const EVERYBODY = [
  ...[
    "event_store_t",
    "outbox_message_t",
    "event_failure_transaction_t",
    "event_failure_event_t",
    "event_failure_scope_t",
    "event_failure_delivery_t",
    "event_failure_rollup_t",
    "event_repair_t",
    "event_repair_event_t",
    "event_replay_request_t",
    "event_replay_item_t",
    "event_replay_attempt_t",
    "event_replay_lease_t",
    "event_replay_barrier_t",
    "event_projection_deferred_t",
    "event_projection_deferred_scope_t",
    "event_replay_action_request_t",
    "event_replay_audit_t",
    "event_replay_audit_chain_t",
    "event_replay_audit_head_t",
    "projection_scope_t",
    "projection_range_t",
    "projected_transaction_t",
    "notification_t",
    "dead_letter_queue",
    "person_t",
    "person_link_t",
  ].flatMap((table) => [`DELETE FROM ${table}`, `TRUNCATE ${table}`]),
  ...BYTES.map(([table, column]) => `UPDATE ${table} SET ${column} = NULL`),
  "UPDATE event_store_t SET user_id = NULL",
  "UPDATE event_replay_audit_t SET reason = NULL",
  "INSERT INTO event_replay_audit_chain_t DEFAULT VALUES",
  "UPDATE event_replay_audit_head_t SET chain_no = 1",
  "INSERT INTO event_failure_rollup_t DEFAULT VALUES",
  "UPDATE event_failure_rollup_t SET n = 0",
  "UPDATE event_replay_request_t SET plan_hash = ''",
  "UPDATE event_failure_transaction_t SET content_fingerprint = ''",
  "ALTER TABLE event_store_t DISABLE TRIGGER ALL",
  "DROP TRIGGER event_replay_audit_insert_only ON event_replay_audit_t",
  "DROP FUNCTION ea_refuse() CASCADE",
  "CREATE TABLE public.own_t (id int)",
  "CREATE FUNCTION public.own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  "SET LOCAL session_replication_role = replica",
  "SELECT ea_append_audit_link(NULL)",
  "CREATE ROLE own_role",
];

const FORBIDDEN: Readonly<Record<GroupRole, readonly string[]>> = {
  event_admin_web: [
    ...EVERYBODY,
    "SELECT payload FROM event_store_t",
    "SELECT metadata FROM event_store_t",
    "SELECT source_key FROM event_failure_event_t",
    "SELECT source_headers FROM event_failure_event_t",
    "SELECT * FROM event_store_t",
    // Replay never moves live work's position.
    "UPDATE consumer_offsets SET next_offset = 1",
    "INSERT INTO consumer_offsets DEFAULT VALUES",
    "INSERT INTO projection_range_t DEFAULT VALUES",
    "INSERT INTO processor_status_t DEFAULT VALUES",
    "INSERT INTO event_projection_deferred_t DEFAULT VALUES",
    "UPDATE person_t SET person_id = ''",
    "UPDATE person_link_t SET person_a = ''",
  ],
  event_admin_projector: [
    ...EVERYBODY,
    ...BYTES.filter(([table]) => table !== "outbox_message_t").map(
      ([table, column]) => `SELECT ${column} FROM ${table}`,
    ),
    "SELECT * FROM person_t",
    "SELECT * FROM event_replay_audit_t",
    "INSERT INTO event_store_t DEFAULT VALUES",
    "INSERT INTO outbox_message_t DEFAULT VALUES",
    "UPDATE event_offset_counter_t SET next_offset = 1",
    "INSERT INTO event_replay_request_t DEFAULT VALUES",
    "UPDATE event_replay_request_t SET status = 'APPROVED'",
    "UPDATE event_failure_transaction_t SET status = 'RESOLVED'",
    "INSERT INTO event_replay_barrier_t DEFAULT VALUES",
    "UPDATE event_replay_barrier_t SET released_ts = now()",
    "INSERT INTO event_replay_audit_t DEFAULT VALUES",
    "INSERT INTO person_link_t DEFAULT VALUES",
    "UPDATE demo_defect_t SET enabled = true",
  ],
  event_admin_read: [
    ...EVERYBODY,
    ...BYTES.map(([table, column]) => `SELECT ${column} FROM ${table}`),
    "SELECT * FROM outbox_message_t",
    "SELECT * FROM user_t",
    "SELECT * FROM portal_record_t",
  ],
};

test("ER-PAY-01 ER-PAY-11 no role deletes or changes evidence, reads bytes it doesn't run, or touches what isn't its own", async () => {
  const allowed: string[] = [];
  for (const [role, statements] of Object.entries(FORBIDDEN) as [GroupRole, readonly string[]][]) {
    for (const statement of statements) {
      const code = await outcome(role, statement);
      if (code !== "42501") allowed.push(`${role}: ${statement}: ${code}`);
    }
  }
  expect(allowed).toEqual([]);
});

test("ER-PAY-10 the reading role writes nothing anywhere and reads no column that holds bytes", async () => {
  const wrong: string[] = [];
  for (const table of await publicTables(db.pool)) {
    for (const statement of [
      `INSERT INTO ${table} DEFAULT VALUES`,
      `DELETE FROM ${table}`,
      `LOCK ${table} IN SHARE MODE`,
    ]) {
      const code = await outcome("event_admin_read", statement);
      if (code !== "42501") wrong.push(`${statement}: ${code}`);
    }
  }
  expect(wrong).toEqual([]);
  const readable = await rows(
    `SELECT c.table_name, c.column_name FROM information_schema.columns c
      WHERE c.table_schema = 'public' AND c.data_type IN ('bytea')
        AND has_column_privilege('event_admin_read', format('public.%I', c.table_name), c.column_name, 'SELECT')`,
  );
  expect(readable).toEqual([]);
});

test("ER-PAY-11 every table is decided on: a migration that makes one says in grants.sql who may do what with it", async () => {
  const grants = fs.readFileSync(path.join(MIGRATIONS_FOLDER, "grants.sql"), "utf8");
  const unnamed = (await publicTables(db.pool)).filter((table) => !new RegExp(`\\b${table}\\b`).test(grants));
  // The test's own projection.
  expect(unnamed).toEqual(["account_t", "entry_t", "late_t", "note_t"]);
});

test("ER-PAY-11 the roles can't log in; a login user that is a member works with the role's rights and no others", async () => {
  const roles = await rows(
    `SELECT rolname, rolcanlogin OR rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls AS more
       FROM pg_roles WHERE rolname LIKE 'event\\_admin\\_%' AND rolname NOT LIKE '%\\_t\\_%' ORDER BY 1`,
  );
  expect(roles).toEqual(
    ["event_admin_projector", "event_admin_read", "event_admin_web"].map((rolname) => ({ rolname, more: false })),
  );
  const user = `event_admin_t_${newId().slice(-12)}`;
  const url = new URL(db.url);
  url.username = user;
  url.password = "a-login-of-the-test";
  await db.pool.query(`CREATE ROLE ${user} LOGIN PASSWORD '${url.password}' IN ROLE event_admin_web`);
  const pool = createPool(url.toString(), { max: 1, name: "test" });
  try {
    await append(deps(pool), [note()]);
    await expect(pool.query("SELECT payload FROM event_store_t")).rejects.toMatchObject({ code: "42501" });
    await expect(pool.query("DELETE FROM event_replay_audit_t")).rejects.toMatchObject({ code: "42501" });
  } finally {
    await pool.end();
    await db.pool.query(`DROP ROLE ${user}`);
  }
});

test("O25 nothing that web or projector does stays behind on its connection: no lock, no setting, no listener, no temporary table", async () => {
  const hostId = hostOfPartition(7);
  await append(deps(web()), [note()]);
  await putOutbox(db.pool, { hostId, members: [account("pooled", 1, 1)] });
  await drainLane(projector(), ledger, partitionOfHost(hostId));
  const [{ n: advisory }] = await rows(
    "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  expect(advisory).toBe(0);
  for (const pool of [web(), projector()]) {
    const idle = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
    expect(idle.length).toBeGreaterThan(0);
    for (const client of idle) {
      const { rows: left } = await client.query(
        `SELECT name FROM pg_settings WHERE source = 'session' AND name <> 'transaction_isolation' UNION ALL SELECT pg_listening_channels()
         UNION ALL SELECT relname FROM pg_class WHERE relpersistence = 't' AND pg_table_is_visible(oid)
         UNION ALL SELECT name FROM pg_cursors WHERE name <> '' UNION ALL SELECT transaction::text FROM pg_prepared_xacts`,
      );
      client.release();
      expect(left).toEqual([]);
    }
  }
});

test("ER-PAY-11 no role lends itself the owner's rights by a trigger of its own on a table of its own", async () => {
  for (const role of ["event_admin_web", "event_admin_projector", "event_admin_read"] as const) {
    const lent = await rows(
      `SELECT oid::regprocedure::text AS name FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prosecdef AND has_function_privilege($1, oid, 'EXECUTE')`,
      role,
    );
    expect(lent, role).toEqual([]);
    const client = await db.poolAs(role).connect();
    try {
      await client.query("CREATE TEMP TABLE own (host_id uuid, n int)");
      const trigger = client.query(
        `CREATE TRIGGER lent AFTER INSERT ON own REFERENCING NEW TABLE AS added
          FOR EACH STATEMENT EXECUTE FUNCTION ea_failure_rollup_insert()`,
      );
      await expect(trigger, role).rejects.toMatchObject({ code: "42501" });
    } finally {
      client.release(true);
    }
  }
});
