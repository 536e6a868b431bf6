import type { Tx } from "@/server/platform/db/transaction";
import type { CauseFacts } from "./domain/cause-catalog";

/** One scope to look at, with the ordering columns that find its members. */
export type LaneKey = {
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly scopeType: "AGGREGATE" | "GRAPH_ROOT";
  readonly scopeKey: string;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly rootInstanceId: string | null;
  /** Versions the looking failure writes here; it is left out of the open ones. Null: leave nobody out. */
  readonly own: { readonly failureId: string; readonly first: number; readonly last: number } | null;
};

export type OpenVersion = CauseFacts & {
  readonly failureId: string;
  readonly version: number;
  readonly memberType: string;
};

export type Lane = {
  readonly projectedVersion: number | null;
  /** Newest appended version; null where this scope's events are not in our store. */
  readonly appendedVersion: number | null;
  /** Open failures of the scope, own excluded: lowest versions first, at most `take` of openCount. */
  readonly open: readonly OpenVersion[];
  readonly openCount: number;
  readonly belowOwn: number;
  readonly aboveOwn: number;
  readonly lastOpenVersion: number | null;
};

const KEYS = `unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::uuid[],
    $11::int8[], $12::int8[])
  AS l(lane, projection_name, consumer_group, scope_type, scope_key, aggregate_type, aggregate_id, root_id, own_id, own_first, own_last)`;

/** Open members of each lane, one row a failure with its lowest and highest version there (aggregate and graph indexes). */
const OPEN = `SELECT l.lane, l.own_first, l.own_last, e.failure_id, min(e.aggregate_version) AS version,
    max(e.aggregate_version) AS last_version, min(e.event_type) AS member_type
  FROM ${KEYS}
  JOIN event_failure_event_t e ON e.host_id = $1 AND e.aggregate_type = l.aggregate_type AND e.aggregate_id = l.aggregate_id
  JOIN event_failure_scope_t s ON s.host_id = $1 AND s.failure_id = e.failure_id AND s.scope_type = l.scope_type
    AND s.scope_key = l.scope_key AND s.status = 'OPEN' AND s.projection_name = l.projection_name AND s.consumer_group = l.consumer_group
  WHERE l.scope_type = 'AGGREGATE' AND e.failure_id IS DISTINCT FROM l.own_id
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT l.lane, l.own_first, l.own_last, e.failure_id, min(e.graph_revision), max(e.graph_revision), min(e.event_type)
  FROM ${KEYS}
  JOIN event_failure_event_t e ON e.host_id = $1 AND e.root_instance_id = l.root_id
  JOIN event_failure_scope_t s ON s.host_id = $1 AND s.failure_id = e.failure_id AND s.scope_type = l.scope_type
    AND s.scope_key = l.scope_key AND s.status = 'OPEN' AND s.projection_name = l.projection_name AND s.consumer_group = l.consumer_group
  WHERE l.scope_type = 'GRAPH_ROOT' AND e.failure_id IS DISTINCT FROM l.own_id
  GROUP BY 1, 2, 3, 4`;

const STANDING = `SELECT l.lane, p.projected_version AS "projectedVersion", CASE l.scope_type
      WHEN 'AGGREGATE' THEN (SELECT max(v.aggregate_version) FROM event_store_t v
        WHERE v.host_id = $1 AND v.aggregate_type = l.aggregate_type AND v.aggregate_id = l.aggregate_id)
      ELSE (SELECT g.accepted_revision FROM instance_graph_revision_t g WHERE g.host_id = $1 AND g.instance_id = l.root_id)
    END AS "appendedVersion"
  FROM ${KEYS}
  LEFT JOIN projection_scope_t p ON p.host_id = $1 AND p.projection_name = l.projection_name
    AND p.consumer_group = l.consumer_group AND p.scope_type = l.scope_type AND p.scope_key = l.scope_key`;

const RANKED = `SELECT o.lane, o.failure_id AS "failureId", o.version, o.member_type AS "memberType", o."openCount", o."belowOwn",
    o."aboveOwn", o."lastOpenVersion", f.error_code AS "errorCode", f.error_type AS "sqlState",
    f.error_constraint AS "constraint", f.failed_event_type AS "eventType"
  FROM (
    SELECT x.*, row_number() OVER (PARTITION BY x.lane ORDER BY x.version, x.failure_id) AS place,
      count(*) OVER (PARTITION BY x.lane)::int AS "openCount",
      count(*) FILTER (WHERE x.version < x.own_first) OVER (PARTITION BY x.lane)::int AS "belowOwn",
      count(*) FILTER (WHERE x.version > x.own_last) OVER (PARTITION BY x.lane)::int AS "aboveOwn",
      max(x.last_version) OVER (PARTITION BY x.lane) AS "lastOpenVersion"
    FROM (${OPEN}) x) o
  JOIN event_failure_transaction_t f ON f.host_id = $1 AND f.failure_id = o.failure_id
  WHERE o.place <= $13
  ORDER BY o.lane, o.place`;

type RankedRow = OpenVersion & {
  lane: number;
  openCount: number;
  belowOwn: number;
  aboveOwn: number;
  lastOpenVersion: number;
};

/** Where each scope stands and what is open in it: two statements for any number of scopes, results in the order given. */
export async function loadLanes(tx: Tx, hostId: string, keys: readonly LaneKey[], take: number): Promise<Lane[]> {
  if (keys.length === 0) return [];
  const values = [
    hostId,
    keys.map((_, lane) => lane),
    keys.map((k) => k.projectionName),
    keys.map((k) => k.consumerGroup),
    keys.map((k) => k.scopeType),
    keys.map((k) => k.scopeKey),
    keys.map((k) => k.aggregateType),
    keys.map((k) => k.aggregateId),
    keys.map((k) => k.rootInstanceId),
    keys.map((k) => k.own?.failureId ?? null),
    keys.map((k) => k.own?.first ?? null),
    keys.map((k) => k.own?.last ?? null),
  ];
  const standing = await tx.query<{ lane: number; projectedVersion: number | null; appendedVersion: number | null }>(
    STANDING,
    values,
    "failures_lane_standing",
  );
  const ranked = await tx.query<RankedRow>(RANKED, [...values, take], "failures_lane_open");
  const byLane = new Map<number, RankedRow[]>();
  for (const row of ranked) byLane.set(row.lane, [...(byLane.get(row.lane) ?? []), row]);
  return keys.map((_, lane) => {
    const open = byLane.get(lane) ?? [];
    const at = standing.find((row) => row.lane === lane);
    return {
      projectedVersion: at?.projectedVersion ?? null,
      appendedVersion: at?.appendedVersion ?? null,
      open,
      openCount: open[0]?.openCount ?? 0,
      belowOwn: open[0]?.belowOwn ?? 0,
      aboveOwn: open[0]?.aboveOwn ?? 0,
      lastOpenVersion: open[0]?.lastOpenVersion ?? null,
    };
  });
}
