import type pg from "pg";
import { TOPIC } from "./account-projection";

export type OutboxShape = {
  readonly lane: number;
  readonly transactions: number;
  /** Members of each transaction. */
  readonly members: number;
  /** Events of one aggregate in a row; 1 = no two events share a row. */
  readonly run: number;
  /** Every n-th transaction carries one event that its table refuses; 0 = none. */
  readonly failEvery: number;
  /** Which member of those is refused. */
  readonly failOrdinal: number;
  readonly ownerBytes: number;
};

export const SHAPE: Omit<OutboxShape, "lane" | "transactions"> = {
  members: 2,
  run: 1,
  failEvery: 0,
  failOrdinal: 0,
  ownerBytes: 200,
};

export function hostOfLane(lane: number): string {
  return `01964b05-552a-7c4b-9184-6857e7f3dc5${lane.toString(16)}`;
}

/** Moves groups to the end of these lanes, so that a round reads its own data only. */
export async function seekToEnd(pool: pg.Pool, groups: readonly string[], lanes: readonly number[]): Promise<void> {
  await pool.query(
    `UPDATE consumer_offsets p SET next_offset = c.next_offset FROM event_offset_counter_t c
      WHERE c.partition_id = p.partition_id AND p.topic_id = $3 AND p.group_id = ANY ($1) AND p.partition_id = ANY ($2)`,
    [groups, lanes, TOPIC],
  );
}

let serial = 0;

/** Puts complete transactions into one lane, by one statement, as appends would have left them: events, notifications, offsets. */
export async function fillOutbox(pool: pg.Pool, shape: OutboxShape): Promise<void> {
  await pool.query(FILL, [
    hostOfLane(shape.lane),
    shape.lane,
    shape.transactions * shape.members,
    shape.members,
    shape.run,
    shape.failEvery,
    shape.failOrdinal,
    shape.ownerBytes,
    `a${serial++}`,
  ]);
}

/** The planner must know the data before anything is timed. */
export async function analyze(pool: pg.Pool, tables: readonly string[]): Promise<void> {
  await pool.query(
    `ANALYZE ${["outbox_message_t", "notification_t", "projection_scope_t", "consumer_offsets", "event_failure_transaction_t", "event_failure_event_t", "event_failure_scope_t", ...tables].join(", ")}`,
  );
}

const FILL = `
WITH counter AS (
  UPDATE event_offset_counter_t SET next_offset = next_offset + $3::bigint WHERE partition_id = $2::int
  RETURNING next_offset - $3::bigint AS first
), event AS (
  SELECT i, gen_random_uuid() AS id, i / $4::int AS t, i % $4::int AS ordinal, $9::text || '-' || i / $5::int AS aggregate,
         i % $5::int + 1 AS version,
         CASE WHEN $6::int > 0 AND (i / $4::int) % greatest($6::int, 1) = 0 AND i % $4::int = $7::int THEN -1 ELSE i END AS balance
    FROM generate_series(0, $3::bigint::int - 1) AS i
), transaction AS (
  SELECT t, gen_random_uuid() AS id FROM generate_series(0, $3::bigint::int / $4::int - 1) AS t
), encoded AS (
  SELECT e.*, x.id AS transaction_id, convert_to(
    '{"aggregatetype":"Account","aggregateversion":' || e.version || ',"data":{"balance":' || e.balance || ',"owner":"'
    || repeat('z', $8::int) || '"},"host":"' || $1::text || '","id":"' || e.id || '","source":"urn:bench","specversion":"1.0","subject":"'
    || e.aggregate || '","time":"2026-01-01T00:00:00Z","type":"AccountUpdatedEvent"}', 'UTF8') AS bytes
    FROM event e JOIN transaction x ON x.t = e.t
), outbox AS (
  INSERT INTO outbox_message_t (host_id, id, partition_id, c_offset, transaction_id, transaction_ordinal, transaction_count,
     event_type, event_ts, event_schema_version, aggregate_type, aggregate_id, aggregate_version, policy_registry_version,
     event_bytes, payload_digest)
  SELECT $1::uuid, e.id, $2::int, c.first + e.i, e.transaction_id, e.ordinal, $4::int, 'AccountUpdatedEvent', now(), '1', 'Account',
         e.aggregate, e.version, 'event-replay-policy-v2', e.bytes, encode(sha256(e.bytes), 'hex')
    FROM encoded e, counter c ORDER BY e.i
  RETURNING host_id, id, event_type, aggregate_type, aggregate_id, aggregate_version, partition_id, c_offset, transaction_id
)
INSERT INTO notification_t (host_id, id, event_class, process_ts, status, aggregate_type, aggregate_id, aggregate_version,
  event_partition, event_offset, transaction_id)
SELECT host_id, id, event_type, now(), 'PENDING', aggregate_type, aggregate_id, aggregate_version, partition_id, c_offset,
       transaction_id FROM outbox`;
