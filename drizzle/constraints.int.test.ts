import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import { GROUP, hex, insertFailure, PROJECTION, resolveFailure } from "@/server/testing/replay-rows";
import { insertOutboxRow, insertStoreRow } from "./testing/source-rows";

const db = testDatabase();
const host = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const otherHost = "01964b05-552a-7c4b-9184-6857e7f3dc6f";

test("ER-APP-08 direct SQL can't break the store's uniqueness or ranges", async () => {
  const said = await undone(db.pool, async (client) => {
    const id = newId();
    await insertStoreRow(client, { id: `'${id}'`, nonce: "7" });
    const tries: Record<string, Record<string, string>> = {
      "same event id": { id: `'${id}'`, aggregate_version: "2" },
      "same aggregate version": {},
      "same id, version and nonce under another host": { id: `'${id}'`, host_id: `'${otherHost}'`, nonce: "7" },
      "same nonce": { aggregate_version: "2", nonce: "7" },
      "version 0": { aggregate_version: "0" },
      "half an aggregate": { aggregate_id: "NULL" },
      "revision without root": { aggregate_version: "2", graph_revision: "1" },
      "revision 0": { aggregate_version: "2", graph_revision: "0", root_instance_id: "gen_random_uuid()" },
      "blank schema version": { aggregate_version: "2", event_schema_version: "' '" },
    };
    const verdicts: Record<string, string> = {};
    for (const [name, changes] of Object.entries(tries))
      verdicts[name] = await verdict(client, () => insertStoreRow(client, changes));
    return verdicts;
  });
  expect(said).toEqual({
    "same event id": "23505 event_store_pk",
    "same aggregate version": "23505 event_store_aggregate_version_uk",
    "same id, version and nonce under another host": "ok",
    "same nonce": "ok",
    "version 0": "23514 event_store_aggregate_ck",
    "half an aggregate": "23514 event_store_aggregate_ck",
    "revision without root": "23514 event_store_graph_ck",
    "revision 0": "23514 event_store_graph_ck",
    "blank schema version": "23514 event_store_versions_ck",
  });
});

test("ER-APP-08 direct SQL can't break the outbox's uniqueness or ranges", async () => {
  const said = await undone(db.pool, async (client) => {
    const id = newId();
    await insertOutboxRow(client, { id: `'${id}'`, transaction_count: "2" });
    const next = { c_offset: "2", transaction_ordinal: "1", transaction_count: "2" };
    const tries: Record<string, Record<string, string>> = {
      "next member": next,
      "same event id": { ...next, id: `'${id}'` },
      "same offset": { ...next, c_offset: "1" },
      "same ordinal": { ...next, transaction_ordinal: "0" },
      "same offset on another partition": {
        ...next,
        c_offset: "1",
        host_id: "'01964b05-552a-7c4b-9184-6857e7f3dc50'",
        partition_id: "0",
      },
      "offset 0": { ...next, c_offset: "0" },
      "offset null": { ...next, c_offset: "NULL" },
      "partition of another host": { ...next, partition_id: "14" },
      "ordinal beyond count": { ...next, transaction_ordinal: "2" },
      "count 0": { ...next, transaction_count: "0" },
      "negative ordinal": { ...next, transaction_ordinal: "-1" },
      "revision 0": { ...next, graph_revision: "0", root_instance_id: "gen_random_uuid()" },
      "version 0": { ...next, aggregate_version: "0" },
      "digest of other bytes": { ...next, payload_digest: "repeat('0', 64)" },
    };
    const verdicts: Record<string, string> = {};
    for (const [name, changes] of Object.entries(tries))
      verdicts[name] = await verdict(client, () => insertOutboxRow(client, changes));
    return verdicts;
  });
  expect(said).toEqual({
    "next member": "ok",
    "same event id": "23505 outbox_message_pk",
    "same offset": "23505 outbox_message_offset_uk",
    "same ordinal": "23505 outbox_message_transaction_uk",
    "same offset on another partition": "ok",
    "offset 0": "23514 outbox_message_offset_ck",
    "offset null": "23502",
    "partition of another host": "23514 outbox_message_partition_ck",
    "ordinal beyond count": "23514 outbox_message_transaction_ck",
    "count 0": "23514 outbox_message_transaction_ck",
    "negative ordinal": "23514 outbox_message_transaction_ck",
    "revision 0": "23514 outbox_message_graph_ck",
    "version 0": "23514 outbox_message_aggregate_ck",
    "digest of other bytes": "23514 outbox_message_digest_ck",
  });
});

test("ER-APP-08 one append wakes live work with one empty notification", async () => {
  const listener = await db.pool.connect();
  const heard: string[] = [];
  listener.on("notification", (message) => heard.push(`${message.channel}:${message.payload}`));
  await listener.query("LISTEN event_channel");
  const offset = (n: string) => ({ c_offset: n, transaction_id: "gen_random_uuid()" });
  const writer = await db.pool.connect();
  await writer.query("BEGIN");
  await insertOutboxRow(writer, { ...offset("101"), aggregate_id: "'a'" });
  await insertOutboxRow(writer, { ...offset("102"), aggregate_id: "'b'" });
  await writer.query("COMMIT");
  writer.release();
  await listener.query("SELECT 1");
  await listener.query("UNLISTEN *");
  listener.release();
  expect(heard).toEqual(["event_channel:"]);
});

test("ER-APP-21 ER-APP-22 the pins are columns of store, outbox, failure and member", async () => {
  const { rows } = await db.pool.query<{ pins: string }>(
    `SELECT table_name || '.' || column_name || ' ' || is_nullable AS pins FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name IN ('event_schema_version', 'policy_registry_version', 'repair_schema_version')
        AND table_name IN ('event_store_t', 'outbox_message_t', 'event_failure_transaction_t', 'event_failure_event_t') ORDER BY 1`,
  );
  expect(rows.map((row) => row.pins)).toEqual([
    "event_failure_event_t.event_schema_version YES",
    "event_failure_event_t.policy_registry_version NO",
    "event_failure_event_t.repair_schema_version YES",
    "event_failure_transaction_t.policy_registry_version NO",
    "event_store_t.event_schema_version NO",
    "event_store_t.policy_registry_version NO",
    "event_store_t.repair_schema_version YES",
    "outbox_message_t.event_schema_version NO",
    "outbox_message_t.policy_registry_version NO",
    "outbox_message_t.repair_schema_version YES",
  ]);
});

test("ER-PAY-11 nobody reads payload columns by default, and a column grant elsewhere doesn't reach them", async () => {
  const said = await undone(db.pool, async (client) => {
    await client.query("CREATE ROLE ea_reader_of_test NOLOGIN");
    await client.query("GRANT USAGE ON SCHEMA public TO ea_reader_of_test");
    await client.query(
      "GRANT SELECT (host_id, failure_id, event_ordinal, payload_digest) ON event_failure_event_t TO ea_reader_of_test",
    );
    const { rows } = await client.query<{ column: string }>(
      `SELECT c.relname || '.' || a.attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
          AND (a.atttypid = 'bytea'::regtype OR (c.relname = 'event_store_t' AND a.attname IN ('payload', 'metadata')))
          AND (has_column_privilege('ea_reader_of_test', c.oid, a.attnum, 'SELECT') OR has_column_privilege('ea_reader_of_test', c.oid, a.attnum, 'UPDATE'))`,
    );
    const bytes = await client.query(
      "SELECT count(*)::int AS n FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.atttypid = 'bytea'::regtype",
    );
    await client.query("SET LOCAL ROLE ea_reader_of_test");
    const granted = await verdict(client, () => client.query("SELECT payload_digest FROM event_failure_event_t"));
    const payload = await verdict(client, () => client.query("SELECT payload_plain FROM event_failure_event_t"));
    return { readable: rows, granted, payload, byteColumns: (bytes.rows[0] as { n: number }).n };
  });
  expect(said).toEqual({ readable: [], granted: "ok", payload: "42501", byteColumns: 5 });
});

test("ER-PAY-13 ER-PAY-14 size and digest of stored bytes are checked by the database, and only plain rows have bytes", async () => {
  const said = await undone(db.pool, async (client) => {
    const row = (changes: Record<string, string>) => async () => {
      const values = {
        host_id: `'${host}'`,
        failure_id: `'${failureId}'`,
        event_ordinal: "1",
        event_id: "'e'",
        event_type: "'T'",
        source_processor: "'DATABASE'",
        source_partition: "15",
        source_offset: "9",
        payload_format: "'f'",
        payload_digest: "encode(sha256('{}'), 'hex')",
        payload_storage: "'DATABASE_PLAIN'",
        payload_plain: "'{}'",
        decrypted_payload_bytes: "2",
        ...changes,
      };
      await client.query(
        `INSERT INTO event_failure_event_t (${Object.keys(values).join(", ")}) VALUES (${Object.values(values).join(", ")})`,
      );
    };
    const failureId = newId();
    await client.query(
      `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
         original_transaction_id, content_fingerprint, event_count, replay_policy, cause_key)
       VALUES ($1, $2, $3, $4, 'DATABASE', 'tx', $5, 2, 'TRANSACTION_ONLY', 'c')`,
      [host, failureId, PROJECTION, GROUP, hex("f")],
    );
    await row({ event_ordinal: "0" })();
    return {
      whole: await verdict(client, row({})),
      "wrong digest": await verdict(client, row({ payload_digest: "repeat('0', 64)" })),
      "wrong size": await verdict(client, row({ decrypted_payload_bytes: "3" })),
      "no bytes": await verdict(client, row({ payload_plain: "NULL" })),
      "empty bytes": await verdict(
        client,
        row({ payload_plain: "''", decrypted_payload_bytes: "0", payload_digest: "encode(sha256(''), 'hex')" }),
      ),
      "history without bytes": await verdict(client, row({ payload_storage: "'OBJECT'", payload_plain: "NULL" })),
      "history with bytes": await verdict(client, row({ payload_storage: "'DATABASE'" })),
      "unknown storage": await verdict(client, row({ payload_storage: "'ELSEWHERE'", payload_plain: "NULL" })),
      "member beyond the transaction": await verdict(client, row({ event_ordinal: "2" })),
      "member missing": await verdict(client, async () => undefined),
      "topic of a database source": await verdict(client, row({ source_topic: "'t'" })),
      "no topic of a Kafka source": await verdict(client, row({ source_processor: "'KAFKA'" })),
    };
  });
  expect(said).toEqual({
    whole: "ok",
    "wrong digest": "23514 event_failure_event_payload_ck",
    "wrong size": "23514 event_failure_event_payload_ck",
    "no bytes": "23514 event_failure_event_payload_ck",
    "empty bytes": "23514 event_failure_event_payload_ck",
    "history without bytes": "ok",
    "history with bytes": "23514 event_failure_event_payload_ck",
    "unknown storage": "23514 event_failure_event_storage_ck",
    "member beyond the transaction": "EA005 event_failure_event_bounds",
    "member missing": "EA005 event_failure_members_complete",
    "topic of a database source": "23514 event_failure_event_source_ck",
    "no topic of a Kafka source": "23514 event_failure_event_source_ck",
  });
});

test("ER-CAP-24 one content is one failure per host and projection, whoever inserts; other hosts are untouched", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const again = (hostId: string, projection: string) =>
      verdict(client, async () => {
        await client.query(
          `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
             original_transaction_id, content_fingerprint, event_count, replay_policy, cause_key)
           VALUES ($1, $2, $3, $4, 'DATABASE', 'tx', $5, 1, 'TRANSACTION_ONLY', 'c')`,
          [hostId, hostId === host ? newId() : failureId, projection, GROUP, hex(failureId)],
        );
        await client.query("SET CONSTRAINTS ALL DEFERRED");
      }).then((v) => v.replace("EA005 event_failure_members_complete", "accepted"));
    return [await again(host, PROJECTION), await again(host, "other-projection"), await again(otherHost, PROJECTION)];
  });
  expect(said).toEqual(["23505 event_failure_fingerprint_uk", "accepted", "accepted"]);
});

test("ER-CAP-27 the command guard reads open scopes from a partial index that closes with the failure", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host, { scopes: [["AGGREGATE", "User:guarded"]] });
    const held = () =>
      client.query("SELECT status FROM event_failure_scope_t WHERE host_id = $1 AND failure_id = $2", [
        host,
        failureId,
      ]);
    const before = (await held()).rows;
    await client.query("SET LOCAL enable_seqscan = off");
    const plan = await client.query(
      "EXPLAIN SELECT 1 FROM event_failure_scope_t WHERE host_id = $1 AND scope_type = 'AGGREGATE' AND scope_key = 'User:guarded' AND status = 'OPEN'",
      [host],
    );
    const byHand = await verdict(client, () => client.query("UPDATE event_failure_scope_t SET status = 'RESOLVED'"));
    await resolveFailure(client, host, failureId);
    return { before, after: (await held()).rows, byHand, plan: JSON.stringify(plan.rows) };
  });
  expect(said).toMatchObject({
    before: [{ status: "OPEN" }],
    after: [{ status: "RESOLVED" }],
    byHand: "23503 event_failure_scope_failure_fk",
  });
  expect(said.plan).toContain("event_failure_scope_guard_ix");
});
