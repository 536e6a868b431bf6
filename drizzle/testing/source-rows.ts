import type { Sql } from "@/server/testing/replay-rows";

type Override = Readonly<Record<string, string>>;

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";

const event: Override = {
  host_id: `'${HOST}'`,
  id: "gen_random_uuid()",
  event_type: "'UserCreatedEvent'",
  event_ts: "now()",
  event_schema_version: "'1'",
  aggregate_type: "'User'",
  aggregate_id: "'1'",
  aggregate_version: "1",
};

/** A valid store row, changed column by column with SQL expressions: what the database says to each is the test. */
export async function insertStoreRow(db: Sql, changes: Override): Promise<void> {
  await insert(db, "event_store_t", { ...event, payload: "'{}'", ...changes });
}

export async function insertOutboxRow(db: Sql, changes: Override): Promise<void> {
  await insert(db, "outbox_message_t", {
    ...event,
    partition_id: "15",
    c_offset: "1",
    transaction_id: "'5a9f9d0e-0000-4000-8000-000000000001'",
    transaction_ordinal: "0",
    transaction_count: "1",
    event_bytes: "convert_to('{}', 'UTF8')",
    payload_digest: "encode(sha256(convert_to('{}', 'UTF8')), 'hex')",
    ...changes,
  });
}

async function insert(db: Sql, table: string, row: Override): Promise<void> {
  await db.query(`INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).join(", ")})`);
}
