import type { Pool } from "@/server/platform/db/pool";

export type SourceLag = {
  /** Appended events that are neither projected nor captured yet, over all partitions. */
  readonly pending: number;
  /** Age of the oldest of them; 0 when there is none. */
  readonly oldestSeconds: number;
};

/**
 * How far the projector is behind the outbox. At most 16 partitions, one index probe each (outbox_message_t's unique
 * (partition_id, c_offset)); the counter row gives the count without counting.
 */
export async function readSourceLag(pool: Pool, consumerGroup: string): Promise<SourceLag> {
  const { rows } = await pool.query<SourceLag>(
    `SELECT coalesce(sum(c.next_offset - coalesce(o.next_offset, 1)), 0)::int8 AS pending,
            coalesce(max(extract(epoch FROM clock_timestamp() - m.created_ts)), 0)::float8 AS "oldestSeconds"
       FROM event_offset_counter_t c
       LEFT JOIN consumer_offsets o ON o.group_id = $1 AND o.topic_id = 1 AND o.partition_id = c.partition_id
       LEFT JOIN LATERAL (SELECT created_ts FROM outbox_message_t
                           WHERE partition_id = c.partition_id AND c_offset >= coalesce(o.next_offset, 1)
                           ORDER BY c_offset LIMIT 1) m ON true
      WHERE c.next_offset > coalesce(o.next_offset, 1)`,
    [consumerGroup],
  );
  return rows[0] ?? { pending: 0, oldestSeconds: 0 };
}

export type LiveProcessors = { readonly healthy: number; readonly retrying: number };

/** Three heartbeats missed: the process is gone, whatever its row says. */
const HEARTBEAT_LIMIT_SECONDS = 15;

/** Live processors of the group that were heard of lately, by what they say of themselves. A handful of rows. */
export async function readProcessors(pool: Pool, consumerGroup: string): Promise<LiveProcessors> {
  const { rows } = await pool.query<LiveProcessors>(
    `SELECT count(*) FILTER (WHERE state = 'HEALTHY')::int8 AS healthy, count(*) FILTER (WHERE state = 'RETRYING')::int8 AS retrying
       FROM processor_status_t
      WHERE consumer_group = $1 AND state <> 'STOPPED' AND heartbeat_ts > now() - make_interval(secs => $2)`,
    [consumerGroup, HEARTBEAT_LIMIT_SECONDS],
  );
  return rows[0] ?? { healthy: 0, retrying: 0 };
}
