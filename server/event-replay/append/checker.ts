import { OUTBOX_TOPIC_ID } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction } from "@/server/platform/db/transaction";

export type ViolationRule =
  /** Offsets of a partition aren't exactly 1 .. next offset - 1. */
  | "OFFSETS_NOT_DENSE"
  /** Members aren't all there, adjacent and in ordinal order. */
  | "TRANSACTION_NOT_WHOLE"
  | "STORE_WITHOUT_OUTBOX"
  | "OUTBOX_WITHOUT_STORE"
  | "NOTIFICATION_MISSING"
  | "PROGRESS_BEYOND_OUTBOX"
  | "PROGRESS_SPLITS_TRANSACTION"
  /** Ranges of committed batches don't cover exactly what progress says. */
  | "RANGES_NOT_EXACT"
  /** Below progress, but neither projected nor captured nor parked. */
  | "LOST"
  /** An open failure whose content is projected all the same. */
  | "CAPTURED_AND_PROJECTED"
  | "CAPTURED_TWICE"
  /** Projected though progress hasn't reached it. */
  | "PROJECTED_BEYOND_PROGRESS"
  /** Parked work that waits for a barrier which is gone. */
  | "PARKED_LOST"
  /** Only when all is said to be over: work that is still parked. */
  | "PARKED_LEFT"
  /** A barrier whose request has ended; when all is said to be over, any that is still up. */
  | "BARRIER_LEFT"
  /**
   * An item that succeeded without exactly one committed attempt, or a committed attempt of an item that did not; and so for a
   * failure that is RESOLVED, over all requests it was in.
   */
  | "REPLAY_NOT_ONCE";

export type Violation = {
  readonly rule: ViolationRule;
  readonly hostId: string | null;
  readonly transactionId: string | null;
  readonly partition: number | null;
  readonly offset: number | null;
};

/**
 * Conservation of transactions from the outbox to one projection: everything appended is there once, in order, and everything
 * below the committed position is projected, captured or parked, once. One statement, hence one snapshot: it may run beside
 * appenders, projectors and executions. Reads the whole outbox. At most 20 violations of each rule; none = sound.
 * `atRest` says that no execution is under way and nothing is quarantined: then no work may be parked any more.
 */
export async function checkConservation(
  pool: Pool,
  projection: Pick<ProjectionDefinition, "projectionName" | "consumerGroup">,
  { atRest = false }: { readonly atRest?: boolean } = {},
): Promise<Violation[]> {
  const rows = await inTransaction(
    pool,
    "check-conservation",
    (tx) =>
      tx.query<Violation & Record<string, unknown>>(CHECKS, [
        projection.projectionName,
        projection.consumerGroup,
        OUTBOX_TOPIC_ID,
        atRest,
      ]),
    { readOnly: true, statementTimeoutMs: 300_000 },
  );
  return rows.map(({ rule, hostId, transactionId, partition, offset }) => ({
    rule,
    hostId,
    transactionId,
    partition,
    offset,
  }));
}

const LIMIT = "ORDER BY 4, 5 LIMIT 20";

const CHECKS = `
WITH moved AS MATERIALIZED (
  SELECT host_id, transaction_id, partition_id, min(c_offset) AS first, max(c_offset) AS last, count(*) AS members,
         max(transaction_count) AS declared, min(transaction_count) AS declared_least,
         max(c_offset - transaction_ordinal) - min(c_offset - transaction_ordinal) AS disorder,
         min(transaction_ordinal) AS first_ordinal,
         bool_and(aggregate_id IS NULL AND root_instance_id IS NULL) AS unordered
  FROM outbox_message_t GROUP BY host_id, transaction_id, partition_id
), position AS (
  SELECT c.partition_id, c.next_offset AS written, coalesce(p.next_offset, 1) AS reached
  FROM event_offset_counter_t c
  LEFT JOIN consumer_offsets p ON p.group_id = $2 AND p.topic_id = $3 AND p.partition_id = c.partition_id
), captured AS MATERIALIZED (
  SELECT host_id, original_transaction_id::text AS transaction_id, count(*) AS n, bool_or(status = 'OPEN') AS is_open
  FROM event_failure_transaction_t WHERE projection_name = $1 AND consumer_group = $2
  GROUP BY host_id, original_transaction_id
), parked AS MATERIALIZED (
  SELECT DISTINCT d.host_id, d.original_transaction_id::text AS transaction_id
  FROM event_projection_deferred_t d JOIN event_replay_barrier_t b ON b.host_id = d.host_id AND b.barrier_id = d.barrier_id
  WHERE b.projection_name = $1 AND b.consumer_group = $2 AND d.status IN ('PENDING', 'RUNNING')
), step AS MATERIALIZED (
  SELECT o.host_id, o.transaction_id, 'AGGREGATE'::text AS scope_type, o.aggregate_type || ':' || o.aggregate_id AS scope_key,
         o.aggregate_version AS version
  FROM outbox_message_t o WHERE o.aggregate_id IS NOT NULL
  UNION ALL
  SELECT o.host_id, o.transaction_id, 'GRAPH_ROOT', o.root_instance_id::text, o.graph_revision
  FROM outbox_message_t o WHERE o.root_instance_id IS NOT NULL
), standing AS MATERIALIZED (
  SELECT s.host_id, s.transaction_id, bool_and(p.projected_version IS NOT NULL AND p.projected_version >= s.version) AS all_projected
  FROM step s
  LEFT JOIN projection_scope_t p ON p.host_id = s.host_id AND p.projection_name = $1 AND p.consumer_group = $2
    AND p.scope_type = s.scope_type AND p.scope_key = s.scope_key
  GROUP BY s.host_id, s.transaction_id
), fate AS MATERIALIZED (
  SELECT m.*, position.reached,
         coalesce(s.all_projected, t.transaction_id IS NOT NULL) AS projected,
         coalesce(c.n, 0) AS failures, coalesce(c.is_open, false) AS is_open, k.transaction_id IS NOT NULL AS is_parked
  FROM moved m
  JOIN position ON position.partition_id = m.partition_id
  LEFT JOIN standing s ON s.host_id = m.host_id AND s.transaction_id = m.transaction_id
  LEFT JOIN projected_transaction_t t ON t.host_id = m.host_id AND t.projection_name = $1 AND t.consumer_group = $2
    AND t.transaction_id = m.transaction_id
  LEFT JOIN captured c ON c.host_id = m.host_id AND c.transaction_id = m.transaction_id::text
  LEFT JOIN parked k ON k.host_id = m.host_id AND k.transaction_id = m.transaction_id::text
), committed AS MATERIALIZED (
  SELECT i.host_id, i.failure_id, count(*) AS n
  FROM event_replay_attempt_t a
  JOIN event_replay_item_t i ON i.host_id = a.host_id AND i.replay_request_id = a.replay_request_id AND i.item_ordinal = a.item_ordinal
  WHERE a.projection_committed GROUP BY i.host_id, i.failure_id
), ranges AS (
  SELECT partition_id, first_offset, last_offset,
         lag(last_offset, 1, 0::int8) OVER (PARTITION BY partition_id ORDER BY first_offset) AS before
  FROM projection_range_t WHERE consumer_group = $2
), covered AS (
  SELECT partition_id, max(last_offset) AS last FROM ranges GROUP BY partition_id
), dense AS (
  SELECT partition_id, count(*) AS n, max(c_offset) AS last FROM outbox_message_t GROUP BY partition_id
)
SELECT rule, host_id AS "hostId", transaction_id AS "transactionId", partition_id AS partition, c_offset AS offset FROM (
  (SELECT 'OFFSETS_NOT_DENSE' AS rule, NULL::uuid AS host_id, NULL::text AS transaction_id, p.partition_id, d.last AS c_offset
   FROM position p LEFT JOIN dense d USING (partition_id)
   WHERE coalesce(d.n, 0) <> p.written - 1 OR coalesce(d.last, 0) <> p.written - 1 ${LIMIT})
  UNION ALL
  (SELECT 'TRANSACTION_NOT_WHOLE', host_id, transaction_id::text, partition_id, first FROM moved
   WHERE members <> declared OR declared <> declared_least OR disorder <> 0 OR first_ordinal <> 0 ${LIMIT})
  UNION ALL
  (SELECT 'STORE_WITHOUT_OUTBOX', e.host_id, NULL::text, NULL::int, NULL::int8 FROM event_store_t e
   WHERE NOT EXISTS (SELECT 1 FROM outbox_message_t o WHERE o.host_id = e.host_id AND o.id = e.id) ${LIMIT})
  UNION ALL
  (SELECT 'OUTBOX_WITHOUT_STORE', o.host_id, o.transaction_id::text, o.partition_id, o.c_offset FROM outbox_message_t o
   WHERE NOT EXISTS (SELECT 1 FROM event_store_t e WHERE e.host_id = o.host_id AND e.id = o.id) ${LIMIT})
  UNION ALL
  (SELECT 'NOTIFICATION_MISSING', o.host_id, o.transaction_id::text, o.partition_id, o.c_offset FROM outbox_message_t o
   WHERE NOT EXISTS (SELECT 1 FROM notification_t n WHERE n.host_id = o.host_id AND n.id = o.id) ${LIMIT})
  UNION ALL
  (SELECT 'PROGRESS_BEYOND_OUTBOX', NULL::uuid, NULL::text, partition_id, reached FROM position WHERE reached > written ${LIMIT})
  UNION ALL
  (SELECT 'PROGRESS_SPLITS_TRANSACTION', host_id, transaction_id::text, partition_id, first FROM fate
   WHERE first < reached AND last >= reached ${LIMIT})
  UNION ALL
  (SELECT 'RANGES_NOT_EXACT', NULL::uuid, NULL::text, partition_id, first_offset FROM ranges WHERE first_offset <> before + 1 ${LIMIT})
  UNION ALL
  (SELECT 'RANGES_NOT_EXACT', NULL::uuid, NULL::text, p.partition_id, p.reached FROM position p LEFT JOIN covered c USING (partition_id)
   WHERE coalesce(c.last, 0) <> p.reached - 1 ${LIMIT})
  UNION ALL
  (SELECT 'LOST', host_id, transaction_id::text, partition_id, first FROM fate
   WHERE last < reached AND NOT projected AND failures = 0 AND NOT is_parked ${LIMIT})
  UNION ALL
  (SELECT 'CAPTURED_TWICE', host_id, transaction_id::text, partition_id, first FROM fate WHERE failures > 1 ${LIMIT})
  UNION ALL
  (SELECT 'CAPTURED_AND_PROJECTED', host_id, transaction_id::text, partition_id, first FROM fate
   WHERE is_open AND projected ${LIMIT})
  UNION ALL
  (SELECT 'PROJECTED_BEYOND_PROGRESS', host_id, transaction_id::text, partition_id, first FROM fate
   WHERE first >= reached AND (projected OR failures > 0) ${LIMIT})
  UNION ALL
  (SELECT DISTINCT 'PARKED_LOST', d.host_id, d.original_transaction_id::text, NULL::int, NULL::int8
   FROM event_projection_deferred_t d
   JOIN event_projection_deferred_scope_t l ON l.host_id = d.host_id AND l.deferred_id = d.deferred_id
   JOIN event_replay_barrier_t b ON b.host_id = l.host_id AND b.barrier_id = l.barrier_id
   WHERE b.projection_name = $1 AND b.consumer_group = $2 AND d.status IN ('PENDING', 'RUNNING') AND b.released_ts IS NOT NULL ${LIMIT})
  UNION ALL
  (SELECT 'PARKED_LEFT', host_id, transaction_id, NULL::int, NULL::int8 FROM parked WHERE $4 ${LIMIT})
  UNION ALL
  (SELECT 'BARRIER_LEFT', b.host_id, NULL::text, NULL::int, NULL::int8 FROM event_replay_barrier_t b
   LEFT JOIN event_replay_request_t r ON r.host_id = b.host_id AND r.replay_request_id = b.replay_request_id
   WHERE b.projection_name = $1 AND b.consumer_group = $2 AND b.released_ts IS NULL
     AND ($4 OR r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED')) ${LIMIT})
  UNION ALL
  (SELECT 'REPLAY_NOT_ONCE', f.host_id, f.original_transaction_id::text, f.source_partition, NULL::int8
   FROM event_replay_item_t i
   JOIN event_failure_transaction_t f ON f.host_id = i.host_id AND f.failure_id = i.failure_id
   CROSS JOIN LATERAL (SELECT count(*) AS n FROM event_replay_attempt_t a WHERE a.host_id = i.host_id
     AND a.replay_request_id = i.replay_request_id AND a.item_ordinal = i.item_ordinal AND a.projection_committed) committed
   WHERE f.projection_name = $1 AND f.consumer_group = $2
     AND committed.n <> CASE i.status WHEN 'SUCCEEDED' THEN 1 ELSE 0 END ${LIMIT})
  UNION ALL
  (SELECT 'REPLAY_NOT_ONCE', f.host_id, f.original_transaction_id::text, f.source_partition, NULL::int8
   FROM event_failure_transaction_t f LEFT JOIN committed c ON c.host_id = f.host_id AND c.failure_id = f.failure_id
   WHERE f.projection_name = $1 AND f.consumer_group = $2
     AND coalesce(c.n, 0) <> CASE f.status WHEN 'RESOLVED' THEN 1 ELSE 0 END ${LIMIT})
) AS violation`;
