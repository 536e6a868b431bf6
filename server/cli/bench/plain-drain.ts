import type pg from "pg";
import { BATCH_EVENTS_MAX } from "@/server/event-replay/live/project-batch";
import { type Account, TOPIC } from "./account-projection";
import type { Drained, Until } from "./engine-drain";

type PageRow = {
  host_id: string;
  aggregate_type: string;
  aggregate_id: string;
  aggregate_version: number;
  c_offset: number;
  transaction_ordinal: number;
  transaction_count: number;
  event_bytes: Buffer;
};

/**
 * What a careful hand-written consumer does with the plain driver: reads ahead a page, then one commit per transaction of
 * named prepared statements: lock the scope, guarded upsert of row and scope, progress.
 */
export async function drainByLoop(pool: pg.Pool, account: Account, lane: number, until: Until): Promise<Drained> {
  const { definition, table } = account;
  const key = [definition.projectionName, definition.consumerGroup];
  const client = await pool.connect();
  const run = (name: string, text: string, values: unknown[]) =>
    client.query({ name: `${table}_${name}`, text, values });
  let events = 0;
  try {
    while (!until()) {
      const page = await run("page", PAGE, [definition.consumerGroup, TOPIC, lane, BATCH_EVENTS_MAX]);
      const rows = page.rows as PageRow[];
      if (rows.length === 0) break;
      for (let i = 0; i < rows.length && !until(); ) {
        const members = rows.slice(i, i + (rows[i] as PageRow).transaction_count);
        if (members.length < (rows[i] as PageRow).transaction_count) break;
        i += members.length;
        await client.query("BEGIN");
        for (const member of members) {
          const scope = `${member.aggregate_type}:${member.aggregate_id}`;
          const standing = (await run("lock", LOCK_SCOPE, [member.host_id, ...key, scope])).rows[0];
          if ((standing?.projected_version ?? 0) + 1 !== member.aggregate_version) throw new Error("out of order");
          const event = JSON.parse(member.event_bytes.toString("utf8"));
          const { owner, balance } = event.data;
          const row = [member.aggregate_id, owner, balance, member.aggregate_version, event.time];
          const written = await run("upsert", upsertOne(table), [...row, member.host_id, ...key, scope]);
          if (written.rowCount !== 1) throw new Error("a newer row stands");
        }
        const last = (members.at(-1) as PageRow).c_offset;
        await run("offset", OFFSET, [
          definition.consumerGroup,
          TOPIC,
          lane,
          (members[0] as PageRow).c_offset,
          last + 1,
        ]);
        await client.query("COMMIT");
        events += members.length;
      }
    }
    return { events, captured: 0 };
  } finally {
    client.release();
  }
}

/** What the database itself can do: one statement a batch writes the same rows without the events leaving it. */
export async function drainByStatement(pool: pg.Pool, account: Account, lane: number, until: Until): Promise<Drained> {
  const { definition, table } = account;
  const values = [definition.projectionName, definition.consumerGroup, TOPIC, lane, BATCH_EVENTS_MAX];
  const client = await pool.connect();
  let events = 0;
  try {
    while (!until()) {
      const { rows } = await client.query({ name: `${table}_batch`, text: oneStatement(table), values });
      if (rows[0].n === 0) break;
      events += rows[0].n;
    }
    return { events, captured: 0 };
  } finally {
    client.release();
  }
}

export const PAGE = `SELECT host_id, id, user_id, event_type, event_schema_version, policy_registry_version, payload_digest,
    aggregate_type, aggregate_id, aggregate_version, c_offset, transaction_id, transaction_ordinal, transaction_count, event_bytes
  FROM outbox_message_t WHERE partition_id = $3 AND c_offset >= (SELECT next_offset FROM consumer_offsets
    WHERE group_id = $1 AND topic_id = $2 AND partition_id = $3) ORDER BY c_offset LIMIT $4`;

const LOCK_SCOPE = `SELECT projected_version FROM projection_scope_t WHERE host_id = $1 AND projection_name = $2
  AND consumer_group = $3 AND scope_type = 'AGGREGATE' AND scope_key = $4 FOR UPDATE`;

export const OFFSET = `UPDATE consumer_offsets SET next_offset = $5, updated_ts = now()
  WHERE group_id = $1 AND topic_id = $2 AND partition_id = $3 AND next_offset = $4`;

const SCOPE_CONFLICT = `ON CONFLICT (host_id, projection_name, consumer_group, scope_type, scope_key)
  DO UPDATE SET projected_version = EXCLUDED.projected_version, updated_ts = EXCLUDED.updated_ts
  WHERE s.projected_version < EXCLUDED.projected_version`;

const ROW_CONFLICT = `ON CONFLICT (account_id) DO UPDATE SET owner = EXCLUDED.owner, balance = EXCLUDED.balance,
  aggregate_version = EXCLUDED.aggregate_version, update_ts = EXCLUDED.update_ts
  WHERE t.aggregate_version IS NULL OR t.aggregate_version < EXCLUDED.aggregate_version`;

export function upsertOne(table: string): string {
  return `WITH scope AS (
    INSERT INTO projection_scope_t AS s (host_id, projection_name, consumer_group, scope_type, scope_key, projected_version, updated_ts)
    VALUES ($6::uuid, $7, $8, 'AGGREGATE', $9, $4::bigint, now()) ${SCOPE_CONFLICT}
  ) INSERT INTO ${table} AS t (account_id, owner, balance, aggregate_version, update_ts)
    VALUES ($1, $2, $3::bigint, $4::bigint, $5::timestamptz) ${ROW_CONFLICT}`;
}

function oneStatement(table: string): string {
  return `WITH claim AS (
    SELECT next_offset FROM consumer_offsets WHERE group_id = $2 AND topic_id = $3 AND partition_id = $4 FOR UPDATE
  ), page AS MATERIALIZED (
    SELECT o.host_id, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.c_offset, claim.next_offset,
           convert_from(o.event_bytes, 'UTF8')::jsonb AS event
      FROM claim, LATERAL (SELECT * FROM outbox_message_t
        WHERE partition_id = $4 AND c_offset >= claim.next_offset ORDER BY c_offset LIMIT $5) o
  ), projected AS (
    INSERT INTO ${table} AS t (account_id, owner, balance, aggregate_version, update_ts)
    SELECT aggregate_id, event->'data'->>'owner', (event->'data'->>'balance')::bigint, aggregate_version,
           (event->>'time')::timestamptz FROM page ${ROW_CONFLICT}
  ), scope AS (
    INSERT INTO projection_scope_t AS s (host_id, projection_name, consumer_group, scope_type, scope_key, projected_version, updated_ts)
    SELECT host_id, $1, $2, 'AGGREGATE', aggregate_type || ':' || aggregate_id, aggregate_version, now() FROM page ${SCOPE_CONFLICT}
  ), covered AS (
    SELECT min(next_offset) AS first, max(c_offset) AS last, count(*)::int AS n FROM page
  ), moved AS (
    UPDATE consumer_offsets SET next_offset = covered.last + 1, updated_ts = now() FROM covered
     WHERE group_id = $2 AND topic_id = $3 AND partition_id = $4 AND covered.n > 0
  ), range AS (
    INSERT INTO projection_range_t (consumer_group, partition_id, first_offset, last_offset, projected_ts)
    SELECT $2, $4, first, last, now() FROM covered WHERE n > 0
  ) SELECT n FROM covered`;
}
