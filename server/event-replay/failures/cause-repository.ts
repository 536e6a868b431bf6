import type { Tx } from "@/server/platform/db/transaction";
import { matchingIds, Parameters, type ResolvedFilter } from "./failure-query";

/** How many of the newest failures of one cause are looked at for its arrivals and types; their number itself is exact. */
export const SAMPLE = 1_000;
/** How many of those are asked for their scopes: one index range each. */
export const SCOPE_SAMPLE = 200;

export type CauseSample = {
  readonly newestTs: string;
  readonly oldestTs: string;
  /** 24 hours, oldest first, the last one running. */
  readonly arrivals: readonly number[];
  readonly typeNames: readonly string[];
  readonly typeCount: number;
  readonly scopes: number;
  readonly sampled: number;
};

/**
 * Newest, oldest, hourly arrivals, types and distinct scopes of the failures that match. One statement over at most SAMPLE rows,
 * newest first, and the one that waits longest; a page shows a few causes, so that this is a few bounded statements however many
 * failures there are. `scopes` is of the newest SCOPE_SAMPLE.
 */
export async function sampleCause(tx: Tx, hostId: string, resolved: ResolvedFilter): Promise<CauseSample | null> {
  const p = new Parameters();
  const ids = matchingIds(p, hostId, resolved, { sort: "last_failed_ts", limit: SAMPLE });
  const oldest = matchingIds(p, hostId, resolved, { sort: "last_failed_ts", limit: 1, after: FIRST });
  const host = p.add(hostId);
  const [row] = await tx.query<CauseSample & { newestTs: string | null }>(
    `WITH picked AS MATERIALIZED (
        SELECT f.failure_id, f.first_failed_ts, f.last_failed_ts, f.status, coalesce(f.failed_ordinal, 0) AS ordinal,
          f.failed_event_type, f.projection_name, f.consumer_group
        FROM (${ids}) m JOIN event_failure_transaction_t f ON f.host_id = ${host} AND f.failure_id = m.failure_id
      ), longest AS (
        SELECT f.first_failed_ts FROM (${oldest}) m
        JOIN event_failure_transaction_t f ON f.host_id = ${host} AND f.failure_id = m.failure_id
      ), hours AS (
        SELECT floor(extract(epoch FROM first_failed_ts - (date_trunc('hour', now()) - interval '23 hours')) / 3600)::int AS hour,
          count(*) AS n
        FROM picked WHERE first_failed_ts >= date_trunc('hour', now()) - interval '23 hours' GROUP BY 1
      ), newest AS MATERIALIZED (
        SELECT * FROM picked ORDER BY last_failed_ts DESC, failure_id DESC LIMIT ${SCOPE_SAMPLE}
      ), types AS (
        SELECT DISTINCT failed_event_type AS name FROM picked WHERE failed_event_type IS NOT NULL
        UNION SELECT e.event_type FROM newest p JOIN LATERAL (SELECT e.event_type FROM event_failure_event_t e
          WHERE e.host_id = ${host} AND e.failure_id = p.failure_id AND e.event_ordinal = p.ordinal OFFSET 0) e ON true
        WHERE p.failed_event_type IS NULL
      )
      SELECT (SELECT max(last_failed_ts) FROM picked) AS "newestTs",
        least((SELECT min(first_failed_ts) FROM picked), (SELECT first_failed_ts FROM longest)) AS "oldestTs",
        (SELECT count(*)::int FROM picked) AS sampled,
        ARRAY(SELECT coalesce((SELECT n FROM hours WHERE hour = h), 0)::int FROM generate_series(0, 23) h ORDER BY h) AS arrivals,
        ARRAY(SELECT name FROM types ORDER BY name COLLATE "C" LIMIT 5) AS "typeNames",
        (SELECT count(*)::int FROM types) AS "typeCount",
        (SELECT count(*)::int FROM (SELECT DISTINCT p.projection_name, p.consumer_group, s.scope_type, s.scope_key
          FROM newest p JOIN LATERAL (SELECT c.scope_type, c.scope_key FROM event_failure_scope_t c
            WHERE c.host_id = ${host} AND c.failure_id = p.failure_id OFFSET 0) s ON true
          WHERE p.status = 'OPEN') d) AS scopes`,
    p.values,
  );
  return row === undefined || row.newestTs === null ? null : row;
}

/** Before every failure. */
const FIRST = { ts: "-infinity", id: "00000000-0000-0000-0000-000000000000" };
