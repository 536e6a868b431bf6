import type { Tx } from "@/server/platform/db/transaction";
import { matchingIds, Parameters, type ResolvedFilter } from "./failure-query";

/** How many of the newest failures of one cause are looked at for its types and scopes; their number itself is exact. */
export const SAMPLE = 200;
/** How many of the newest failures since yesterday are looked at for the hourly arrivals. */
const ARRIVALS_SAMPLE = 1_000;

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
 * newest first, ARRIVALS_SAMPLE recent ones and the one that waits longest; a page shows a few causes, so that this is a few bounded statements however many
 * failures there are.
 */
export async function sampleCause(tx: Tx, hostId: string, resolved: ResolvedFilter): Promise<CauseSample | null> {
  const p = new Parameters();
  const ids = matchingIds(p, hostId, resolved, { sort: "last_failed_ts", limit: SAMPLE }, COLUMNS);
  // Yesterday's midnight is at least 24 hours ago, in any time zone; the hours themselves cut what is older.
  const window = { sort: "last_failed_ts", limit: ARRIVALS_SAMPLE, laterThan: "yesterday" } as const;
  const recent = matchingIds(p, hostId, resolved, window, ["first_failed_ts"]);
  const oldest = matchingIds(p, hostId, resolved, { sort: "last_failed_ts", limit: 1, after: FIRST }, [
    "first_failed_ts",
  ]);
  const host = p.add(hostId);
  const [row] = await tx.query<CauseSample & { newestTs: string | null }>(
    `WITH picked AS MATERIALIZED (${ids}), longest AS (${oldest}), recent AS (${recent}), hours AS MATERIALIZED (
        SELECT floor(extract(epoch FROM first_failed_ts - (date_trunc('hour', now()) - interval '23 hours')) / 3600)::int AS hour,
          count(*) AS n
        FROM recent WHERE first_failed_ts >= date_trunc('hour', now()) - interval '23 hours' GROUP BY 1
      ), types AS (
        SELECT DISTINCT failed_event_type AS name FROM picked WHERE failed_event_type IS NOT NULL
        UNION SELECT e.event_type FROM picked p JOIN LATERAL (SELECT e.event_type FROM event_failure_event_t e
          WHERE e.host_id = ${host} AND e.failure_id = p.failure_id AND e.event_ordinal = coalesce(p.failed_ordinal, 0) OFFSET 0) e ON true
        WHERE p.failed_event_type IS NULL
      )
      SELECT (SELECT max(last_failed_ts) FROM picked) AS "newestTs",
        least((SELECT min(first_failed_ts) FROM picked), (SELECT first_failed_ts FROM longest)) AS "oldestTs",
        (SELECT count(*)::int FROM picked) AS sampled,
        ARRAY(SELECT coalesce((SELECT n FROM hours WHERE hour = h), 0)::int FROM generate_series(0, 23) h ORDER BY h) AS arrivals,
        ARRAY(SELECT name FROM types ORDER BY name COLLATE "C" LIMIT 5) AS "typeNames",
        (SELECT count(*)::int FROM types) AS "typeCount",
        (SELECT count(*)::int FROM (SELECT DISTINCT p.projection_name, p.consumer_group, s.scope_type, s.scope_key
          FROM picked p JOIN LATERAL (SELECT c.scope_type, c.scope_key FROM event_failure_scope_t c
            WHERE c.host_id = ${host} AND c.failure_id = p.failure_id OFFSET 0) s ON true
          WHERE p.status = 'OPEN') d) AS scopes`,
    p.values,
  );
  return row === undefined || row.newestTs === null ? null : row;
}

const COLUMNS = [
  "first_failed_ts",
  "last_failed_ts",
  "status",
  "failed_ordinal",
  "failed_event_type",
  "projection_name",
  "consumer_group",
];

/** Before every failure. */
const FIRST = { ts: "-infinity", id: "00000000-0000-0000-0000-000000000000" };
