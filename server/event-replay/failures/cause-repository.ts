import type { Tx } from "@/server/platform/db/transaction";
import { matchingIds, Parameters, type ResolvedFilter } from "./failure-query";

/** How many of the newest failures of one cause are looked at for its scopes and types; their number itself is exact. */
export const SAMPLE = 10_000;

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
 * newest first; a page shows a few causes, so that this is a few statements however many failures there are.
 */
export async function sampleCause(tx: Tx, hostId: string, resolved: ResolvedFilter): Promise<CauseSample | null> {
  const p = new Parameters();
  const ids = matchingIds(p, hostId, resolved, { sort: "last_failed_ts", limit: SAMPLE });
  const host = p.add(hostId);
  const [row] = await tx.query<CauseSample & { newestTs: string | null }>(
    `WITH picked AS MATERIALIZED (
        SELECT f.failure_id, f.first_failed_ts, f.last_failed_ts, coalesce(f.failed_ordinal, 0) AS ordinal, f.failed_event_type
        FROM (${ids}) m JOIN event_failure_transaction_t f ON f.host_id = ${host} AND f.failure_id = m.failure_id
      ), hours AS (
        SELECT floor(extract(epoch FROM first_failed_ts - (date_trunc('hour', now()) - interval '23 hours')) / 3600)::int AS hour,
          count(*) AS n
        FROM picked WHERE first_failed_ts >= date_trunc('hour', now()) - interval '23 hours' GROUP BY 1
      ), types AS (
        SELECT DISTINCT coalesce(p.failed_event_type, e.event_type) AS name FROM picked p
        LEFT JOIN event_failure_event_t e ON p.failed_event_type IS NULL AND e.host_id = ${host}
          AND e.failure_id = p.failure_id AND e.event_ordinal = p.ordinal
      )
      SELECT (SELECT max(last_failed_ts) FROM picked) AS "newestTs", (SELECT min(first_failed_ts) FROM picked) AS "oldestTs",
        (SELECT count(*)::int FROM picked) AS sampled,
        ARRAY(SELECT coalesce((SELECT n FROM hours WHERE hour = h), 0)::int FROM generate_series(0, 23) h ORDER BY h) AS arrivals,
        ARRAY(SELECT name FROM types WHERE name IS NOT NULL ORDER BY name COLLATE "C" LIMIT 5) AS "typeNames",
        (SELECT count(*)::int FROM types WHERE name IS NOT NULL) AS "typeCount",
        (SELECT count(*)::int FROM (SELECT DISTINCT s.projection_name, s.consumer_group, s.scope_type, s.scope_key
          FROM picked p JOIN event_failure_scope_t s ON s.host_id = ${host} AND s.failure_id = p.failure_id
          WHERE s.status = 'OPEN') d) AS scopes`,
    p.values,
  );
  return row === undefined || row.newestTs === null ? null : row;
}
