import type { Tx } from "@/server/platform/db/transaction";
import { Parameters } from "./failure-query";

/** Oldest open failures that are looked at; beyond it numbers are "at least" and the oldest scopes are still exactly right. */
export const BLOCKED_SAMPLE = 1_000;

export type BlockedFilter = {
  readonly projections: readonly { readonly projectionName: string; readonly consumerGroup: string }[];
  readonly scopeType?: string | undefined;
};

export type BlockedRow = {
  readonly scopeType: "AGGREGATE" | "GRAPH_ROOT";
  readonly scopeKey: string;
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly since: string;
  readonly seconds: number;
  readonly failureId: string;
};

export type BlockedPosition = {
  readonly since: string;
  readonly scopeType: string;
  readonly scopeKey: string;
  readonly projectionName: string;
  readonly consumerGroup: string;
};

/**
 * Scopes with an open failure, one row each: blocked since its oldest one. Oldest failures come from event_failure_open_first_ix per
 * projection, their scopes by key.
 */
function blockedScopes(p: Parameters, hostId: string, filter: BlockedFilter): string {
  const host = p.add(hostId);
  const names = p.add(filter.projections.map((x) => x.projectionName));
  const groups = p.add(filter.projections.map((x) => x.consumerGroup));
  const type =
    filter.scopeType === undefined
      ? "s.scope_type IN ('AGGREGATE', 'GRAPH_ROOT')"
      : `s.scope_type = ${p.add(filter.scopeType)}`;
  return `WITH oldest AS MATERIALIZED (
      SELECT m.failure_id, m.first_failed_ts, x.projection_name, x.consumer_group
      FROM unnest(${names}::text[], ${groups}::text[]) AS x(projection_name, consumer_group)
      CROSS JOIN LATERAL (
        SELECT f.failure_id, f.first_failed_ts FROM event_failure_transaction_t f
        WHERE f.host_id = ${host} AND f.status = 'OPEN' AND f.projection_name = x.projection_name
          AND f.consumer_group = x.consumer_group
        ORDER BY f.first_failed_ts, f.failure_id LIMIT ${BLOCKED_SAMPLE}) m
      ORDER BY m.first_failed_ts, m.failure_id LIMIT ${BLOCKED_SAMPLE}
    ), blocked AS MATERIALIZED (
      SELECT s.scope_type, s.scope_key, o.projection_name, o.consumer_group, min(o.first_failed_ts) AS since,
        (array_agg(o.failure_id ORDER BY o.first_failed_ts, o.failure_id))[1] AS failure_id
      FROM oldest o CROSS JOIN LATERAL (
        SELECT s.scope_type, s.scope_key FROM event_failure_scope_t s
        WHERE s.host_id = ${host} AND s.failure_id = o.failure_id AND ${type} OFFSET 0) s
      GROUP BY 1, 2, 3, 4
    )`;
}

const SECONDS = "greatest(0, floor(extract(epoch FROM now() - b.since)))::int";
const ORDER = `b.since, b.scope_type COLLATE "C", b.scope_key COLLATE "C", b.projection_name COLLATE "C", b.consumer_group COLLATE "C"`;

/** Longest blocked first, after a position. */
export async function loadBlocked(
  tx: Tx,
  hostId: string,
  filter: BlockedFilter,
  limit: number,
  after?: BlockedPosition,
): Promise<BlockedRow[]> {
  if (filter.projections.length === 0) return [];
  const p = new Parameters();
  const blocked = blockedScopes(p, hostId, filter);
  const where =
    after === undefined
      ? ""
      : `WHERE (${ORDER}) > (${p.add(after.since)}::timestamptz, ${[
          after.scopeType,
          after.scopeKey,
          after.projectionName,
          after.consumerGroup,
        ]
          .map((part) => `${p.add(part)}::text COLLATE "C"`)
          .join(", ")})`;
  return await tx.query<BlockedRow>(
    `${blocked} SELECT b.scope_type AS "scopeType", b.scope_key AS "scopeKey", b.projection_name AS "projectionName",
        b.consumer_group AS "consumerGroup", b.since, ${SECONDS} AS seconds, b.failure_id AS "failureId"
      FROM blocked b ${where} ORDER BY ${ORDER} LIMIT ${p.add(limit)}`,
    p.values,
  );
}

export type BlockedSummary = {
  readonly scopes: number;
  readonly capped: boolean;
  readonly incidents: number;
  readonly oldestSeconds: number;
  readonly under60s: number;
  readonly under300s: number;
  readonly under900s: number;
  readonly under3600s: number;
  readonly over3600s: number;
  readonly byCode: readonly { readonly code: string; readonly scopes: number }[];
};

/** Numbers over the same scopes: buckets add up to scopes (ER-OBS-05). */
export async function summarizeBlocked(
  tx: Tx,
  hostId: string,
  filter: BlockedFilter,
  incidentSeconds: number,
): Promise<BlockedSummary> {
  const p = new Parameters();
  const blocked = blockedScopes(p, hostId, filter);
  const host = p.add(hostId);
  const incident = p.add(incidentSeconds);
  const [row] = await tx.query<BlockedSummary>(
    `${blocked}, aged AS (SELECT ${SECONDS} AS seconds FROM blocked b)
      SELECT count(*)::int AS scopes, (SELECT count(*) FROM oldest) >= ${BLOCKED_SAMPLE} AS capped,
        count(*) FILTER (WHERE seconds >= ${incident}::int)::int AS incidents, coalesce(max(seconds), 0)::int AS "oldestSeconds",
        count(*) FILTER (WHERE seconds < 60)::int AS "under60s",
        count(*) FILTER (WHERE seconds >= 60 AND seconds < 300)::int AS "under300s",
        count(*) FILTER (WHERE seconds >= 300 AND seconds < 900)::int AS "under900s",
        count(*) FILTER (WHERE seconds >= 900 AND seconds < 3600)::int AS "under3600s",
        count(*) FILTER (WHERE seconds >= 3600)::int AS "over3600s",
        coalesce((SELECT jsonb_agg(jsonb_build_object('code', c.code, 'scopes', c.n) ORDER BY c.n DESC, c.code) FROM (
          SELECT coalesce(f.error_code, 'UNKNOWN') AS code, count(*)::int AS n
          FROM blocked b JOIN event_failure_transaction_t f ON f.host_id = ${host} AND f.failure_id = b.failure_id
          GROUP BY 1 ORDER BY 2 DESC LIMIT 40) c), '[]') AS "byCode"
      FROM aged`,
    p.values,
  );
  if (row === undefined) throw new Error("an aggregate without grouping answers one row");
  return row;
}

/** Members of these failures with the columns that say which scopes they write. */
export async function loadOrdering(tx: Tx, hostId: string, failureIds: readonly string[]) {
  return await tx.query<{
    failureId: string;
    aggregateType: string | null;
    aggregateId: string | null;
    aggregateVersion: number | null;
    rootInstanceId: string | null;
    graphRevision: number | null;
  }>(
    `SELECT failure_id AS "failureId", aggregate_type AS "aggregateType", aggregate_id AS "aggregateId",
        aggregate_version AS "aggregateVersion", root_instance_id AS "rootInstanceId", graph_revision AS "graphRevision"
      FROM event_failure_event_t WHERE host_id = $1 AND failure_id = ANY($2::uuid[])`,
    [hostId, failureIds],
    "failures_ordering",
  );
}
