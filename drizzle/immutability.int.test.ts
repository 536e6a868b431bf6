import type pg from "pg";
import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import {
  GROUP,
  insertAction,
  insertFailure,
  insertRepair,
  insertRequest,
  moveRequest,
  PROJECTION,
  runningRequest,
} from "@/server/testing/replay-rows";
import { insertOutboxRow, insertStoreRow } from "./testing/source-rows";

const db = testDatabase();
const host = "01964b05-552a-7c4b-9184-6857e7f3dc5f";

/** For each column of a row that must not change: what the database says to an UPDATE that changes it. */
async function changeEach(
  client: pg.PoolClient,
  table: string,
  free: readonly string[],
): Promise<Record<string, string>> {
  const columns = await client.query<{ name: string; type: string }>(
    `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
      WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attname = ANY ($2) ORDER BY a.attnum`,
    [table, free],
  );
  const allowed: Record<string, string> = {};
  for (const { name, type } of columns.rows) {
    const said = await verdict(client, () => client.query(`UPDATE ${table} SET ${name} = ${otherValue(name, type)}`));
    if (!/^(EA001|EA002|EA003|EA004) /.test(said)) allowed[name] = said;
  }
  return allowed;
}

/** A value of the column's type that differs from the present one and breaks no CHECK by its own shape. */
function otherValue(column: string, type: string): string {
  if (type === "uuid") return "gen_random_uuid()";
  if (type === "bytea") return `coalesce(${column}, '') || 'x'`;
  if (type === "jsonb")
    return `CASE jsonb_typeof(${column}) WHEN 'array' THEN ${column} || '["x"]' ELSE '{"other":1}' END`;
  if (type === "boolean") return `NOT ${column}`;
  if (type.startsWith("timestamp")) return `coalesce(${column}, now()) - interval '1 hour'`;
  if (/int|numeric/.test(type)) return `coalesce(${column}, 0) + 1`;
  return /(digest|fingerprint|hash)/.test(column) ? `repeat('0', 64)` : `coalesce(${column}, '') || 'x'`;
}

test("ER-PAY-01 the bytes of a failure, a repair and parked work can't be updated or deleted", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    await insertRepair(client, host, failureId);
    const requestId = await runningRequest(client, host, { failures: [failureId] });
    await park(client, requestId);
    const other = "convert_to('{\"forged\":1}', 'UTF8')";
    const forge = (table: string, bytes: string, digest: string, size: string) =>
      verdict(client, () =>
        client.query(
          `UPDATE ${table} SET ${bytes} = ${other}, ${digest} = encode(sha256(${other}), 'hex'), ${size} = length(${other})`,
        ),
      );
    return [
      await forge("event_failure_event_t", "payload_plain", "payload_digest", "decrypted_payload_bytes"),
      await forge(
        "event_repair_event_t",
        "corrected_payload_plain",
        "corrected_payload_digest",
        "corrected_payload_bytes",
      ),
      await forge("event_projection_deferred_t", "payload_plain", "payload_digest", "decrypted_payload_bytes"),
      await verdict(client, () => client.query("UPDATE event_projection_deferred_t SET payload_plain = '[]'")),
      await verdict(client, () => client.query("DELETE FROM event_failure_event_t")),
      await verdict(client, () => client.query("DELETE FROM event_repair_event_t")),
      await verdict(client, () => client.query("DELETE FROM event_projection_deferred_t")),
      await verdict(client, () => client.query("TRUNCATE event_failure_event_t CASCADE")),
    ];
  });
  expect(said).toEqual([
    "EA002 event_failure_event_frozen",
    "EA001 event_repair_event_insert_only",
    "EA002 event_projection_deferred_frozen",
    "23514 event_projection_deferred_payload_ck",
    "EA001 event_failure_event_never_deleted",
    "EA001 event_repair_event_never_deleted",
    "EA001 event_projection_deferred_never_deleted",
    "EA001 event_failure_event_never_truncated",
  ]);
});

test("ER-PAY-01 no session setting switches a guard off, replica mode included", async () => {
  const said = await undone(db.pool, async (client) => {
    await insertFailure(client, host);
    await client.query(
      "SET LOCAL lightapi.event_replay_retention = 'on'; SET LOCAL lightapi.event_replay_reconciliation = 'on'",
    );
    const custom = await verdict(client, () => client.query("DELETE FROM event_failure_event_t"));
    await client.query("SET LOCAL session_replication_role = replica");
    return [
      custom,
      await verdict(client, () => client.query("DELETE FROM event_failure_event_t")),
      await verdict(client, () => client.query("UPDATE event_failure_event_t SET event_type = 'Other'")),
      await verdict(client, () =>
        client.query("UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now()"),
      ),
    ];
  });
  expect(said).toEqual([
    "EA001 event_failure_event_never_deleted",
    "EA001 event_failure_event_never_deleted",
    "EA002 event_failure_event_frozen",
    "EA006 event_failure_resolved_evidence",
  ]);
});

test("ER-PAY-01 a temporary table of the same name doesn't stand in for evidence", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const requestId = await insertRequest(client, host, { failures: [failureId] });
    await client.query("CREATE TEMP TABLE event_replay_request_t AS SELECT * FROM public.event_replay_request_t");
    await client.query("UPDATE pg_temp.event_replay_request_t SET status = 'RUNNING'");
    return verdict(client, () =>
      client.query(
        `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $1,
           resolution_code = 'RESOLVED_BY_EXACT_REPLAY'`,
        [requestId],
      ),
    );
  });
  expect(said).toBe("EA006 event_failure_resolved_evidence");
});

test("ER-PAY-01 a member's bytes may go once, with a reason, and never under legal hold", async () => {
  const said = await undone(db.pool, async (client) => {
    await insertFailure(client, host);
    const drop = (reason: string) =>
      `UPDATE event_failure_event_t SET payload_storage = 'DELETED', payload_plain = NULL, payload_deleted_ts = now(), payload_deleted_reason = '${reason}'`;
    await client.query("UPDATE event_failure_transaction_t SET legal_hold = true");
    const held = await verdict(client, () => client.query(drop("retention")));
    await client.query("UPDATE event_failure_transaction_t SET legal_hold = false");
    const unexplained = await verdict(client, () => client.query(drop(" ")));
    const disguised = await verdict(client, () => client.query(`${drop("retention")}, event_type = 'Other'`));
    await client.query(drop("retention"));
    return [held, unexplained, disguised, await verdict(client, () => client.query(drop("again")))];
  });
  expect(said).toEqual([
    "EA006 event_failure_event_hold",
    "23514 event_failure_event_deleted_ck",
    "EA002 event_failure_event_frozen",
    "EA002 event_failure_event_frozen",
  ]);
});

test("ER-CAP-22 identity, fingerprint, counts, scopes and pins of a failure never change", async () => {
  const free = [
    "status",
    "error_code",
    "error_type",
    "error_constraint",
    "error_details",
    "error_message",
    "failed_ordinal",
    "failed_event_type",
    "cause_key",
    "failure_count",
    "last_failed_ts",
    "resolved_ts",
    "resolved_by_request_id",
    "resolved_by_repair_id",
    "resolution_code",
    "legal_hold",
    "updated_ts",
  ];
  const allowed = await undone(db.pool, async (client) => {
    await insertFailure(client, host, { scopes: [["AGGREGATE", "User:1"]] });
    return {
      failure: await changeEach(client, "event_failure_transaction_t", free),
      member: await changeEach(client, "event_failure_event_t", [
        "payload_plain",
        "payload_deleted_ts",
        "payload_deleted_reason",
      ]),
      scope: await changeEach(client, "event_failure_scope_t", ["status"]),
      delivery: await changeEach(client, "event_failure_delivery_t", ["observation_count", "last_observed_ts"]),
    };
  });
  expect(allowed).toEqual({ failure: {}, member: {}, scope: {}, delivery: {} });
});

test("ER-REP-05 a repair's definition and corrected bytes never change from AWAITING_APPROVAL on", async () => {
  const free = [
    "status",
    "decision_by",
    "decision_ts",
    "approved_by",
    "approved_ts",
    "applied_by",
    "applied_ts",
    "completed_ts",
  ];
  const allowed = await undone(db.pool, async (client) => {
    await insertRepair(client, host, await insertFailure(client, host));
    const awaiting = await changeEach(client, "event_repair_t", free);
    await client.query(
      "UPDATE event_repair_t SET status = 'REJECTED', decision_by = 'bob', decision_ts = now(), completed_ts = now()",
    );
    return {
      awaiting,
      ended: await changeEach(client, "event_repair_t", []),
      member: await changeEach(client, "event_repair_event_t", []),
    };
  });
  expect(allowed).toEqual({ awaiting: {}, ended: {}, member: {} });
});

test("ER-ISO-18 what a plan's hash covers never changes after PLANNING, and an ended request not at all", async () => {
  const free = [
    "status",
    "approved_by",
    "approved_ts",
    "started_by",
    "started_ts",
    "completed_ts",
    "failure_code",
    "failure_message",
    "fencing_token",
    "installed_barrier_epoch",
    "updated_ts",
  ];
  const allowed = await undone(db.pool, async (client) => {
    const requestId = await insertRequest(client, host, { failures: [await insertFailure(client, host)] });
    await moveRequest(client, host, requestId, "READY");
    const planned = await changeEach(client, "event_replay_request_t", free);
    const items = await changeEach(client, "event_replay_item_t", [
      "status",
      "attempt_count",
      "current_fencing_token",
      "updated_ts",
    ]);
    const removed = await verdict(client, () => client.query("DELETE FROM event_replay_item_t"));
    await moveRequest(client, host, requestId, "CANCELLED");
    return { planned, items, removed, ended: await changeEach(client, "event_replay_request_t", []) };
  });
  expect(allowed).toEqual({
    planned: {},
    items: {},
    removed: "EA002 event_replay_item_removed_while_planning",
    ended: {},
  });
});

test("ER-ISO-20 an attempt is written once and ended once; it is never deleted or rewritten", async () => {
  const said = await undone(db.pool, async (client) => {
    const requestId = await runningRequest(client, host, { failures: [await insertFailure(client, host)] });
    await client.query(
      `INSERT INTO event_replay_attempt_t (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number, worker_id, fencing_token)
       VALUES ($1, gen_random_uuid(), $2, 0, 1, 'worker', 1)`,
      [host, requestId],
    );
    const open = await changeEach(client, "event_replay_attempt_t", []);
    const whileRunning = await verdict(client, () =>
      client.query("UPDATE event_replay_attempt_t SET error_code = 'X'"),
    );
    await client.query("UPDATE event_replay_attempt_t SET result = 'ABANDONED', completed_ts = now()");
    return {
      open,
      whileRunning,
      ended: await changeEach(client, "event_replay_attempt_t", []),
      deleted: await verdict(client, () => client.query("DELETE FROM event_replay_attempt_t")),
    };
  });
  expect(said).toEqual({
    open: {},
    whileRunning: "EA004 event_replay_attempt_transition",
    ended: {},
    deleted: "EA001 event_replay_attempt_never_deleted",
  });
});

test("ER-APP-08 store, outbox and audit are insert only", async () => {
  const said = await undone(db.pool, async (client) => {
    await insertStoreRow(client, {});
    await insertOutboxRow(client, {});
    await client.query(
      "INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id) VALUES ($1, gen_random_uuid(), 'EVENT_REPLAY_PLAN_CREATED', 'USER', 'alice')",
      [host],
    );
    // What waits for the commit is done now: a table with work waiting refuses TRUNCATE by itself.
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    const verdicts: string[] = [];
    for (const table of ["event_store_t", "outbox_message_t", "event_replay_audit_t"])
      for (const text of [`UPDATE ${table} SET host_id = host_id`, `DELETE FROM ${table}`, `TRUNCATE ${table}`])
        verdicts.push(await verdict(client, () => client.query(text)));
    return verdicts.map((v) => v.slice(0, 5));
  });
  expect(said).toEqual(Array(9).fill("EA001"));
});

test("ER-APP-08 counters, positions, projected versions and epochs never go back", async () => {
  const said = await undone(db.pool, async (client) => {
    await client.query("UPDATE event_offset_counter_t SET next_offset = 10 WHERE partition_id = 3");
    await client.query(
      "INSERT INTO consumer_offsets (group_id, topic_id, partition_id, next_offset) VALUES ($1, 1, 3, 10)",
      [GROUP],
    );
    await client.query(
      "INSERT INTO projection_scope_t (host_id, projection_name, consumer_group, scope_type, scope_key, projected_version) VALUES ($1, $2, $3, 'AGGREGATE', 'User:1', 5)",
      [host, PROJECTION, GROUP],
    );
    await client.query(
      "INSERT INTO instance_graph_revision_t (host_id, instance_id, accepted_revision, projected_revision) VALUES ($1, $1, 5, 4)",
      [host],
    );
    await insertFailure(client, host);
    const back: string[] = [
      "UPDATE event_offset_counter_t SET next_offset = 9 WHERE partition_id = 3",
      "UPDATE consumer_offsets SET next_offset = 9",
      "UPDATE projection_scope_t SET projected_version = 4",
      "UPDATE instance_graph_revision_t SET projected_revision = 3",
      "UPDATE event_failure_transaction_t SET failure_count = failure_count - 1",
      "UPDATE event_failure_transaction_t SET executable = false",
      "UPDATE event_failure_delivery_t SET last_observed_ts = last_observed_ts - interval '1 second'",
    ];
    const verdicts: string[] = [];
    for (const text of back) verdicts.push((await verdict(client, () => client.query(text))).slice(0, 5));
    return verdicts;
  });
  expect(said).toEqual(Array(7).fill("EA003"));
});

test("ER-ISO-18 no requester decides their own plan, repair or action", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const requestId = await insertRequest(client, host, { failures: [failureId] });
    for (const status of ["READY", "AWAITING_APPROVAL"]) await moveRequest(client, host, requestId, status);
    await insertRepair(client, host, failureId);
    await insertAction(client, host, "WAIVE_FAILURES", [failureId]);
    const own = [
      "event_replay_request_t SET status = 'APPROVED', approved_by = 'alice', approved_ts = now()",
      "event_repair_t SET status = 'APPROVED', decision_by = 'alice', decision_ts = now(), approved_by = 'alice', approved_ts = now()",
      "event_repair_t SET status = 'REJECTED', decision_by = 'alice', decision_ts = now(), completed_ts = now()",
      "event_replay_action_request_t SET status = 'COMPLETED', approved_by = 'alice', approved_ts = now(), completed_ts = now()",
    ];
    const verdicts: string[] = [];
    for (const change of own) verdicts.push(await verdict(client, () => client.query(`UPDATE ${change}`)));
    return verdicts;
  });
  expect(said).toEqual([
    "23514 event_replay_request_two_persons_ck",
    "23514 event_repair_two_persons_ck",
    "23514 event_repair_two_persons_ck",
    "23514 event_replay_action_request_two_persons_ck",
  ]);
});

async function park(client: pg.PoolClient, requestId: string): Promise<void> {
  const barrierId = newId();
  await client.query(
    `INSERT INTO event_replay_barrier_t (host_id, barrier_id, projection_name, consumer_group, scope_type, scope_key, state, owner_type, replay_request_id, barrier_epoch)
     VALUES ($1, $2, $3, $4, 'AGGREGATE', 'User:1', 'ACTIVE', 'REPLAY_REQUEST', $5, 1)`,
    [host, barrierId, PROJECTION, GROUP, requestId],
  );
  await client.query(
    `INSERT INTO event_projection_deferred_t (host_id, deferred_id, barrier_id, original_transaction_id, content_fingerprint, source_processor,
       source_order_key, source_coordinates, event_count, decrypted_payload_bytes, payload_digest, payload_storage, payload_plain)
     VALUES ($1, gen_random_uuid(), $2, 'tx', repeat('a', 64), 'DATABASE', '0001', '{}', 1, 2, encode(sha256('{}'), 'hex'), 'DATABASE_PLAIN', '{}')`,
    [host, barrierId],
  );
}
