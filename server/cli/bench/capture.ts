import { createHash, randomUUID } from "node:crypto";
import type pg from "pg";
import { createPool } from "@/server/platform/db/pool";
import { type Account, createAccount, TOPIC } from "./account-projection";
import { drainByEngine, untilEmpty } from "./engine-drain";
import { compare, type Figure, interleave, seconds } from "./measure";
import { analyze, fillOutbox, SHAPE, seekToEnd } from "./outbox-data";
import { OFFSET, PAGE, upsertOne } from "./plain-drain";
import type { Size } from "./size";

const LANE = 7;
/** Five members of about 2 kB, the third refused by the database. */
const SHAPE_OF_FAILURE = { ...SHAPE, members: 5, ownerBytes: 1_800, failEvery: 1, failOrdinal: 2 };

/** Goal 7: every transaction of a lane is refused by a real constraint and archived whole. Failures a second. */
export async function measureCapture(databaseUrl: string, size: Size): Promise<Figure[]> {
  const pool = createPool(databaseUrl, { max: 2, name: "bench" });
  try {
    const archives = {
      engine: (account: Account) => drainByEngine(pool, account.definition, LANE, untilEmpty),
      rows: (account: Account) => archiveByRows(pool, account),
      statement: (account: Account) => archiveByStatement(pool, account),
    };
    const accounts: Account[] = [];
    const contestants = [];
    for (const [name, archive] of Object.entries(archives)) {
      const account = await createAccount(pool, `capture_${name}`);
      accounts.push(account);
      contestants.push({
        name,
        async run() {
          const spent = await seconds(() => archive(account));
          const { rows } = await pool.query(ARCHIVED, [account.definition.consumerGroup]);
          const missing = expected - rows[0].n;
          if (missing !== 0) throw new Error(`${name}: ${missing} failures are missing from the archive`);
          return size.captures / spent;
        },
      });
    }
    let expected = 0;
    const groups = accounts.map(({ definition }) => definition.consumerGroup);
    const rates = await interleave(size.rounds, contestants, async () => {
      await seekToEnd(pool, groups, [LANE]);
      await fillOutbox(pool, { ...SHAPE_OF_FAILURE, lane: LANE, transactions: size.captures });
      await analyze(
        pool,
        accounts.map(({ table }) => table),
      );
      expected += size.captures;
    });
    return [
      compare(7, "capture, whole failure path, to an insert per row", rates, ["engine", "rows"], 1.4, "failures/s"),
      compare(
        7,
        "capture, whole failure path, to the one-statement limit",
        rates,
        ["engine", "statement"],
        0.45,
        "failures/s",
      ),
    ];
  } finally {
    await pool.end();
  }
}

const ARCHIVED = "SELECT count(*)::int AS n FROM event_failure_transaction_t WHERE consumer_group = $1";

/** The database alone: one statement per failure writes the same rows; nobody tried to project and no byte left it. */
async function archiveByStatement(pool: pg.Pool, { definition }: Account): Promise<void> {
  const values = [definition.projectionName, definition.consumerGroup, TOPIC, LANE];
  const client = await pool.connect();
  try {
    for (;;) {
      const { rows } = await client.query({ name: "capture_limit", text: ONE_STATEMENT, values });
      if (rows[0].n === 0) return;
    }
  } finally {
    client.release();
  }
}

type Member = Readonly<Record<string, unknown>> & {
  host_id: string;
  id: string;
  transaction_id: string;
  transaction_count: number;
  aggregate_id: string;
  aggregate_version: number;
  c_offset: number;
  event_bytes: Buffer;
  payload_digest: string;
};

/** The same path as one would write it by hand: try under a savepoint, roll back to it, one named insert for every row. */
async function archiveByRows(pool: pg.Pool, account: Account): Promise<void> {
  const { definition, table } = account;
  const { projectionName, consumerGroup } = definition;
  const client = await pool.connect();
  const run = (name: string, text: string, values: unknown[]) => client.query({ name: `rows_${name}`, text, values });
  try {
    for (;;) {
      const page = await run("page", PAGE, [consumerGroup, TOPIC, LANE, 500]);
      const rows = page.rows as Member[];
      if (rows.length === 0) return;
      for (let at = 0; at < rows.length; at += SHAPE_OF_FAILURE.members) {
        const members = rows.slice(at, at + SHAPE_OF_FAILURE.members);
        const first = members[0] as Member;
        if (members.length < first.transaction_count) break;
        await client.query("BEGIN");
        await client.query("SAVEPOINT attempt");
        const refused = await projectRows(run, members, table, [projectionName, consumerGroup]);
        if (refused === null) throw new Error("the transaction was expected to be refused");
        await client.query("ROLLBACK TO SAVEPOINT attempt");
        const content = sha256([
          projectionName,
          consumerGroup,
          first.transaction_id,
          ...members.map((m) => m.payload_digest),
        ]);
        const failureId = randomUUID();
        const id = [first.host_id, failureId];
        const bytes = members.reduce((sum, { event_bytes }) => sum + event_bytes.length, 0);
        const scopes = members.map((m) => `Account:${m.aggregate_id}`);
        await run("header", HEADER, [
          ...id,
          projectionName,
          consumerGroup,
          LANE,
          first.transaction_id,
          content,
          members.length,
          bytes,
          JSON.stringify(scopes.map((scopeKey) => ({ scopeType: "AGGREGATE", scopeKey }))),
          refused,
          `PROJECTION_FAILED|23514|${table}_balance_check|AccountUpdatedEvent`,
          `${table}_balance_check`,
        ]);
        for (const [ordinal, m] of members.entries()) {
          const where = [m.aggregate_id, m.aggregate_version, LANE, m.c_offset];
          await run("member", MEMBER, [
            ...id,
            ordinal,
            m.id,
            ...where,
            m.payload_digest,
            m.event_bytes,
            m.event_bytes.length,
          ]);
          await run("scope", SCOPE, [...id, projectionName, consumerGroup, scopes[ordinal]]);
          await run("notify", NOTIFY, [m.host_id, m.id]);
          await run("diagnostic", DIAGNOSTIC, [consumerGroup, m.host_id, m.c_offset, m.transaction_id, m.id]);
        }
        const last = members.at(-1) as Member;
        const coordinates = { partition: LANE, firstOffset: first.c_offset, lastOffset: last.c_offset };
        await run("delivery", DELIVERY, [
          ...id,
          randomUUID(),
          sha256([content, "delivery"]),
          JSON.stringify(coordinates),
        ]);
        await run("offset", OFFSET, [consumerGroup, TOPIC, LANE, first.c_offset, last.c_offset + 1]);
        await run("range", RANGE, [consumerGroup, LANE, first.c_offset, last.c_offset]);
        await client.query("COMMIT");
      }
    }
  } finally {
    client.release();
  }
}

type Run = (name: string, text: string, values: unknown[]) => Promise<unknown>;

/** Index of the member that the database refused. */
async function projectRows(run: Run, members: readonly Member[], table: string, key: string[]): Promise<number | null> {
  for (const [i, m] of members.entries()) {
    const event = JSON.parse(m.event_bytes.toString("utf8"));
    const row = [m.aggregate_id, event.data.owner, event.data.balance, m.aggregate_version, event.time];
    try {
      await run("upsert", upsertOne(table), [...row, m.host_id, ...key, `Account:${m.aggregate_id}`]);
    } catch {
      return i;
    }
  }
  return null;
}

function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\u0000")).digest("hex");
}

const HEADER = `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group,
    first_source_processor, source_partition, original_transaction_id, content_fingerprint, event_count, decrypted_payload_bytes,
    dependency_scopes, replay_policy, error_code, error_type, error_constraint, failed_ordinal, failed_event_type, cause_key)
  VALUES ($1, $2, $3, $4, 'DATABASE', $5, $6, $7, $8, $9, $10, 'AGGREGATE_VERSION', 'PROJECTION_FAILED', '23514', $13, $11,
    'AccountUpdatedEvent', $12)`;
const MEMBER = `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id,
    aggregate_type, aggregate_version, source_processor, source_partition, source_offset, payload_format, payload_digest,
    payload_storage, payload_plain, decrypted_payload_bytes, event_schema_version)
  VALUES ($1, $2, $3, $4, 'AccountUpdatedEvent', $5, 'Account', $6, 'DATABASE', $7, $8, 'event-replay-canonical-v1', $9,
    'DATABASE_PLAIN', $10, $11, '1')`;
const SCOPE = `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
  VALUES ($1, $2, $3, $4, 'AGGREGATE', $5)`;
const NOTIFY = `UPDATE notification_t SET status = 'DLQ', error = 'PROJECTION_FAILED', process_ts = now()
  WHERE host_id = $1 AND id = $2`;
const DIAGNOSTIC = `INSERT INTO dead_letter_queue (group_id, host_id, c_offset, transaction_id, event_id, exception)
  VALUES ($1, $2, $3, $4, $5, 'PROJECTION_FAILED')`;
const DELIVERY = `INSERT INTO event_failure_delivery_t (host_id, failure_id, delivery_id, delivery_fingerprint, source_processor,
    source_coordinates) VALUES ($1, $2, $3, $4, 'DATABASE', $5)`;
const RANGE = `INSERT INTO projection_range_t (consumer_group, partition_id, first_offset, last_offset, projected_ts)
  VALUES ($1, $2, $3, $4, now())`;

const ONE_STATEMENT = `
WITH claim AS (
  SELECT next_offset FROM consumer_offsets WHERE group_id = $2 AND topic_id = $3 AND partition_id = $4 FOR UPDATE
), head AS MATERIALIZED (
  SELECT o.host_id, o.transaction_id, o.transaction_count, o.c_offset, gen_random_uuid() AS failure_id
    FROM claim JOIN outbox_message_t o ON o.partition_id = $4 AND o.c_offset = claim.next_offset
), member AS MATERIALIZED (
  SELECT o.*, h.failure_id FROM head h JOIN outbox_message_t o ON o.host_id = h.host_id AND o.transaction_id = h.transaction_id
), whole AS (
  SELECT sum(octet_length(event_bytes)) AS bytes, encode(sha256(string_agg(payload_digest::bytea, ''::bytea ORDER BY c_offset)), 'hex') AS content,
         jsonb_agg(jsonb_build_object('scopeType', 'AGGREGATE', 'scopeKey', 'Account:' || aggregate_id)) AS scopes, max(c_offset) AS last FROM member
), header AS (
  INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
    source_partition, original_transaction_id, content_fingerprint, event_count, decrypted_payload_bytes, dependency_scopes,
    replay_policy, error_code, error_type, failed_ordinal, failed_event_type, cause_key)
  SELECT h.host_id, h.failure_id, $1, $2, 'DATABASE', $4, h.transaction_id::text, w.content, h.transaction_count, w.bytes, w.scopes,
    'AGGREGATE_VERSION', 'PROJECTION_FAILED', '23514', 2, 'AccountUpdatedEvent', 'PROJECTION_FAILED|23514||AccountUpdatedEvent'
    FROM head h, whole w
), events AS (
  INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id, aggregate_type,
    aggregate_version, source_processor, source_partition, source_offset, payload_format, payload_digest, payload_storage,
    payload_plain, decrypted_payload_bytes, event_schema_version)
  SELECT host_id, failure_id, transaction_ordinal, id::text, event_type, aggregate_id, aggregate_type, aggregate_version, 'DATABASE',
    partition_id, c_offset, 'event-replay-canonical-v1', payload_digest, 'DATABASE_PLAIN', event_bytes, octet_length(event_bytes),
    event_schema_version FROM member
), scopes AS (
  INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
  SELECT host_id, failure_id, $1, $2, 'AGGREGATE', 'Account:' || aggregate_id FROM member
), delivery AS (
  INSERT INTO event_failure_delivery_t (host_id, failure_id, delivery_id, delivery_fingerprint, source_processor, source_coordinates)
  SELECT h.host_id, h.failure_id, gen_random_uuid(), w.content, 'DATABASE',
    jsonb_build_object('partition', $4::int, 'firstOffset', h.c_offset, 'lastOffset', w.last) FROM head h, whole w
), notified AS (
  UPDATE notification_t n SET status = 'DLQ', error = 'PROJECTION_FAILED', process_ts = now()
    FROM member m WHERE n.host_id = m.host_id AND n.id = m.id
), diagnostic AS (
  INSERT INTO dead_letter_queue (group_id, host_id, c_offset, transaction_id, event_id, exception)
  SELECT $2, host_id, c_offset, transaction_id::text, id, 'PROJECTION_FAILED' FROM member
), moved AS (
  UPDATE consumer_offsets SET next_offset = whole.last + 1, updated_ts = now() FROM head, whole
   WHERE group_id = $2 AND topic_id = $3 AND partition_id = $4
), range AS (
  INSERT INTO projection_range_t (consumer_group, partition_id, first_offset, last_offset, projected_ts)
  SELECT $2, $4, h.c_offset, w.last, now() FROM head h, whole w
) SELECT count(*)::int AS n FROM head`;
