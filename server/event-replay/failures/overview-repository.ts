import type { Tx } from "@/server/platform/db/transaction";

export type SourceStanding = {
  readonly pending: number;
  readonly lagSeconds: number;
  readonly lastProgressTs: string | null;
};

/** How far this projection is behind on the host's own lane: one counter row, one progress row, one probe of the outbox. */
export async function loadSourceStanding(tx: Tx, consumerGroup: string, partition: number): Promise<SourceStanding> {
  const [row] = await tx.query<SourceStanding>(
    `SELECT greatest(0, c.next_offset - coalesce(o.next_offset, 1)) AS pending, o.updated_ts AS "lastProgressTs",
        coalesce((SELECT greatest(0, extract(epoch FROM now() - m.created_ts)) FROM outbox_message_t m
          WHERE m.partition_id = c.partition_id AND m.c_offset >= coalesce(o.next_offset, 1)
          ORDER BY m.c_offset LIMIT 1), 0)::float8 AS "lagSeconds"
      FROM event_offset_counter_t c
      LEFT JOIN consumer_offsets o ON o.group_id = $1 AND o.topic_id = 1 AND o.partition_id = c.partition_id
      WHERE c.partition_id = $2`,
    [consumerGroup, partition],
    "overview_source",
  );
  return row ?? { pending: 0, lagSeconds: 0, lastProgressTs: null };
}

export type ProcessorStanding = { readonly running: number; readonly retrying: number; readonly code: string | null };

/** Processes of this projection that reported within 30 s; six missed heartbeats mean gone. */
export async function loadProcessors(
  tx: Tx,
  projectionName: string,
  consumerGroup: string,
): Promise<ProcessorStanding> {
  const [row] = await tx.query<ProcessorStanding>(
    `SELECT count(*)::int AS running, count(*) FILTER (WHERE state = 'RETRYING')::int AS retrying, min(code) AS code
      FROM processor_status_t
      WHERE projection_name = $1 AND consumer_group = $2 AND state <> 'STOPPED' AND heartbeat_ts > now() - interval '30 seconds'`,
    [projectionName, consumerGroup],
    "overview_processors",
  );
  return row ?? { running: 0, retrying: 0, code: null };
}

/** Bytes of the archive on disk, every host together: that is what its limits guard. No scan. */
export async function loadArchiveBytes(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ bytes: number }>(
    "SELECT pg_table_size('event_failure_event_t'::regclass)::int8 AS bytes",
    [],
    "overview_archive",
  );
  return row?.bytes ?? 0;
}

/** Unread FAILED and DLQ notifications of one user (notification_unread_failure_ix). */
export async function loadUnread(tx: Tx, hostId: string, userId: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM notification_t
      WHERE host_id = $1 AND user_id = $2::uuid AND read_ts IS NULL AND status IN ('FAILED', 'DLQ')`,
    [hostId, userId],
    "overview_unread",
  );
  return row?.n ?? 0;
}

export type BarrierStanding = { readonly active: number; readonly quarantined: number; readonly deferred: number };

export async function loadBarriers(tx: Tx, hostId: string): Promise<BarrierStanding> {
  const [row] = await tx.query<BarrierStanding>(
    `SELECT count(*) FILTER (WHERE state <> 'QUARANTINED')::int AS active, count(*) FILTER (WHERE state = 'QUARANTINED')::int AS quarantined,
        (SELECT count(*)::int FROM event_projection_deferred_t d WHERE d.host_id = $1 AND d.status IN ('PENDING', 'RUNNING')) AS deferred
      FROM event_replay_barrier_t WHERE host_id = $1 AND released_ts IS NULL`,
    [hostId],
    "overview_barriers",
  );
  return row ?? { active: 0, quarantined: 0, deferred: 0 };
}

export type StatusCount = { readonly status: "OPEN" | "RESOLVED" | "WAIVED"; readonly n: number };

/** Exact failures by status, from the rollup. */
export async function loadStatusCounts(tx: Tx, hostId: string): Promise<StatusCount[]> {
  return await tx.query<StatusCount>(
    `SELECT status, sum(n)::int8 AS n FROM event_failure_rollup_t WHERE host_id = $1 GROUP BY status`,
    [hostId],
    "overview_statuses",
  );
}

export type LastResolved = {
  readonly failureId: string;
  readonly status: "RESOLVED" | "WAIVED";
  readonly resolvedTs: string;
  readonly resolvedByRequestId: string | null;
};

/** The failure that left OPEN last, among the 200 of each status and projection that failed last (event_failure_closed_last_ix). */
export async function loadLastResolved(tx: Tx, hostId: string): Promise<LastResolved | null> {
  const [row] = await tx.query<LastResolved>(
    `SELECT c.failure_id AS "failureId", c.status, c.resolved_ts AS "resolvedTs", c.resolved_by_request_id AS "resolvedByRequestId"
      FROM (SELECT DISTINCT status, projection_name, consumer_group FROM event_failure_rollup_t
        WHERE host_id = $1 AND status <> 'OPEN' AND n > 0) r
      CROSS JOIN LATERAL (
        SELECT f.failure_id, f.status, f.resolved_ts, f.resolved_by_request_id FROM event_failure_transaction_t f
        WHERE f.host_id = $1 AND f.status = r.status AND f.status <> 'OPEN' AND f.projection_name = r.projection_name
          AND f.consumer_group = r.consumer_group
        ORDER BY f.last_failed_ts DESC, f.failure_id DESC LIMIT 200) c
      ORDER BY c.resolved_ts DESC, c.failure_id LIMIT 1`,
    [hostId],
    "overview_resolved",
  );
  return row ?? null;
}
