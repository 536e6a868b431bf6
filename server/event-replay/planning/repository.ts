import { OUTBOX_TOPIC_ID } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { type Scope, scopeId, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { OpenWrite } from "./domain/closure";
import type { KnownVersion } from "./domain/gaps";
import type { GraphRevision } from "./domain/plan";

export type Projection = Pick<ProjectionDefinition, "projectionName" | "consumerGroup">;

export type FailureHeader = {
  readonly failureId: string;
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly executable: boolean;
  readonly replayPolicy: string;
  readonly errorCode: string | null;
  readonly eventCount: number;
  readonly payloadBytes: number;
  /** Repairs of it that await a decision or are approved. */
  readonly liveRepairIds: readonly string[];
};

/** Headers of these failures of the host; ids that aren't there are missing. By primary key. */
export async function loadHeaders(tx: Tx, hostId: string, failureIds: readonly string[]): Promise<FailureHeader[]> {
  return await tx.query<FailureHeader>(
    `SELECT f.failure_id AS "failureId", f.projection_name AS "projectionName", f.consumer_group AS "consumerGroup", f.status,
            f.executable, f.replay_policy AS "replayPolicy", f.error_code AS "errorCode", f.event_count AS "eventCount",
            f.decrypted_payload_bytes AS "payloadBytes",
            ARRAY(SELECT r.repair_id::text FROM event_repair_t r WHERE r.host_id = f.host_id AND r.failure_id = f.failure_id
                   AND r.status IN ('AWAITING_APPROVAL', 'APPROVED')) AS "liveRepairIds"
       FROM event_failure_transaction_t f
      WHERE f.host_id = $1 AND f.failure_id = ANY ($2::uuid[])`,
    [hostId, failureIds],
  );
}

export type OrderingRow = {
  failure_id: string;
  aggregate_type: string | null;
  aggregate_id: string | null;
  root_instance_id: string | null;
  first_version: number | null;
  last_version: number | null;
  first_revision: number | null;
  last_revision: number | null;
};

/**
 * What every OPEN executable failure of the projection writes, one row a failure and scope, and where each scope stands: the
 * ground of a closure. One range scan of the open failures and their members, one of the open scopes; open work is read before
 * the standings, so that an item committed in between counts as projected and never as missing.
 */
export async function loadOpenWork(tx: Tx, hostId: string, projection: Projection): Promise<OpenWrite[]> {
  const { projectionName, consumerGroup } = projection;
  const rows = await tx.query<OrderingRow>(
    `SELECT e.failure_id, e.aggregate_type, e.aggregate_id, e.root_instance_id,
            min(e.aggregate_version) AS first_version, max(e.aggregate_version) AS last_version,
            min(e.graph_revision) AS first_revision, max(e.graph_revision) AS last_revision
       FROM event_failure_transaction_t f
       JOIN event_failure_event_t e ON e.host_id = f.host_id AND e.failure_id = f.failure_id
      WHERE f.host_id = $1 AND f.projection_name = $2 AND f.consumer_group = $3 AND f.status = 'OPEN' AND f.executable
        AND f.replay_policy IN ('GRAPH_ROOT', 'AGGREGATE_VERSION')
      GROUP BY 1, 2, 3, 4`,
    [hostId, projectionName, consumerGroup],
  );
  const standings = await tx.query<{ scope_type: Scope["type"]; scope_key: string; projected_version: number }>(
    `SELECT p.scope_type, p.scope_key, p.projected_version
       FROM (SELECT DISTINCT s.scope_type, s.scope_key FROM event_failure_scope_t s
              WHERE s.host_id = $1 AND s.projection_name = $2 AND s.consumer_group = $3 AND s.status = 'OPEN') open
       JOIN projection_scope_t p ON p.host_id = $1 AND p.projection_name = $2 AND p.consumer_group = $3
        AND p.scope_type = open.scope_type AND p.scope_key = open.scope_key`,
    [hostId, projectionName, consumerGroup],
  );
  const projected = new Map(
    standings.map((row) => [scopeId({ type: row.scope_type, key: row.scope_key }), row.projected_version]),
  );
  return mergeByScope(rows, projected);
}

/**
 * Scopes in quarantine whose owner is still OPEN, by scopeId: only a plan that holds the owner may take them over. Owners need
 * not write what they hold. Index: event_replay_barrier_live_uk.
 */
export async function loadQuarantineOwners(
  tx: Tx,
  hostId: string,
  projection: Projection,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ scope_type: Scope["type"]; scope_key: string; failure_id: string }>(
    `SELECT b.scope_type, b.scope_key, f.failure_id
       FROM event_replay_barrier_t b
       JOIN event_failure_transaction_t f ON f.host_id = b.host_id AND f.failure_id = b.quarantine_failure_id
      WHERE b.host_id = $1 AND b.projection_name = $2 AND b.consumer_group = $3 AND b.released_ts IS NULL
        AND b.state = 'QUARANTINED' AND f.status = 'OPEN'`,
    [hostId, projection.projectionName, projection.consumerGroup],
  );
  return new Map(rows.map((row) => [scopeId({ type: row.scope_type, key: row.scope_key }), row.failure_id]));
}

/** A failure's members may reach one scope in several rows (an aggregate of several roots, a root with several aggregates). */
export function mergeByScope(rows: readonly OrderingRow[], projected: ReadonlyMap<string, number>): OpenWrite[] {
  const merged = new Map<string, OpenWrite>();
  for (const row of rows) {
    const ends = (version: "first" | "last") =>
      scopesOfEvent({
        aggregateType: row.aggregate_type,
        aggregateId: row.aggregate_id,
        aggregateVersion: version === "first" ? row.first_version : row.last_version,
        rootInstanceId: row.root_instance_id,
        graphRevision: version === "first" ? row.first_revision : row.last_revision,
      });
    const last = ends("last");
    ends("first").forEach(({ type, key, version: firstVersion }, i) => {
      const lastVersion = last[i]?.version ?? firstVersion;
      const id = scopeId({ type, key });
      const known = merged.get(`${row.failure_id} ${id}`);
      merged.set(`${row.failure_id} ${id}`, {
        type,
        key,
        failureId: row.failure_id,
        firstVersion: Math.min(firstVersion, known?.firstVersion ?? firstVersion),
        lastVersion: Math.max(lastVersion, known?.lastVersion ?? lastVersion),
        projected: projected.get(id) ?? null,
      });
    });
  }
  return [...merged.values()];
}

/** Where these scopes stand; a scope of which nothing is projected is missing. By primary key. */
export async function loadStandings(
  tx: Tx,
  hostId: string,
  projection: Projection,
  scopes: readonly Scope[],
): Promise<ReadonlyMap<string, number>> {
  if (scopes.length === 0) return new Map();
  const rows = await tx.query<{ scope_type: Scope["type"]; scope_key: string; projected_version: number }>(
    `SELECT p.scope_type, p.scope_key, p.projected_version
       FROM unnest($4::text[], $5::text[]) AS s(scope_type, scope_key)
       JOIN projection_scope_t p ON p.host_id = $1 AND p.projection_name = $2 AND p.consumer_group = $3
        AND p.scope_type = s.scope_type AND p.scope_key = s.scope_key`,
    [
      hostId,
      projection.projectionName,
      projection.consumerGroup,
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
    ],
  );
  return new Map(rows.map((row) => [scopeId({ type: row.scope_type, key: row.scope_key }), row.projected_version]));
}

/** A scope of a plan with the ordering columns that find its members. `below`: versions from here on are of no interest. */
export type LookedUpScope = Scope & {
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly above: number;
  readonly below: number;
};

/**
 * Versions of these scopes that a captured, unresolved failure outside the plan writes: waived, evidence only, or not
 * selected. At most 1,000. Indexes: members by aggregate and by graph root.
 */
export async function loadKnownVersions(
  tx: Tx,
  hostId: string,
  projection: Projection,
  scopes: readonly LookedUpScope[],
  planned: readonly string[],
): Promise<KnownVersion[]> {
  if (scopes.length === 0) return [];
  const keys = "unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::int8[], $9::int8[], $11::uuid[])";
  const lane = `${keys} AS l(scope_type, scope_key, aggregate_type, aggregate_id, above, below, root_id)`;
  const outside = `JOIN event_failure_transaction_t f ON f.host_id = e.host_id AND f.failure_id = e.failure_id
       AND f.projection_name = $2 AND f.consumer_group = $3 AND f.status <> 'RESOLVED' AND f.failure_id <> ALL ($10::uuid[])`;
  return await tx.query<KnownVersion>(
    `SELECT DISTINCT l.scope_type AS type, l.scope_key AS key, e.aggregate_version AS version, f.failure_id AS "failureId",
            f.original_transaction_id AS "transactionId"
       FROM ${lane}
       JOIN event_failure_event_t e ON e.host_id = $1 AND e.aggregate_type = l.aggregate_type AND e.aggregate_id = l.aggregate_id
        AND e.aggregate_version > l.above AND e.aggregate_version < l.below
       ${outside}
      WHERE l.scope_type = 'AGGREGATE'
     UNION
     SELECT DISTINCT l.scope_type, l.scope_key, e.graph_revision, f.failure_id, f.original_transaction_id
       FROM ${lane}
       JOIN event_failure_event_t e ON e.host_id = $1 AND e.root_instance_id = l.root_id
        AND e.graph_revision > l.above AND e.graph_revision < l.below
       ${outside}
      WHERE l.scope_type = 'GRAPH_ROOT'
      ORDER BY 1, 2, 3, 4 LIMIT 1000`,
    [
      hostId,
      projection.projectionName,
      projection.consumerGroup,
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
      arrayLiteral(scopes.map((scope) => scope.aggregateType)),
      arrayLiteral(scopes.map((scope) => scope.aggregateId)),
      arrayLiteral(scopes.map((scope) => scope.above)),
      arrayLiteral(scopes.map((scope) => scope.below)),
      planned,
      arrayLiteral(scopes.map((scope) => (scope.type === "GRAPH_ROOT" ? scope.key : null))),
    ],
  );
}

/** Offset up to which the live processor has come on the lane; 0 before its first batch. */
export async function loadProjectedOffset(tx: Tx, projection: Projection, partitionId: number): Promise<number> {
  const [row] = await tx.query<{ next_offset: number }>(
    "SELECT next_offset FROM consumer_offsets WHERE group_id = $1 AND topic_id = $2 AND partition_id = $3",
    [projection.consumerGroup, OUTBOX_TOPIC_ID, partitionId],
  );
  return (row?.next_offset ?? 1) - 1;
}

/** What append accepted and what is projected of each graph root, in the order given. */
export async function loadGraphRevisions(
  tx: Tx,
  hostId: string,
  roots: readonly { readonly rootInstanceId: string; readonly projected: number | null }[],
): Promise<GraphRevision[]> {
  if (roots.length === 0) return [];
  const rows = await tx.query<{ instance_id: string; accepted_revision: number }>(
    "SELECT instance_id, accepted_revision FROM instance_graph_revision_t WHERE host_id = $1 AND instance_id = ANY ($2::uuid[])",
    [hostId, roots.map((root) => root.rootInstanceId)],
  );
  const accepted = new Map(rows.map((row) => [row.instance_id, row.accepted_revision]));
  return roots.map((root) => ({ ...root, accepted: accepted.get(root.rootInstanceId) ?? null }));
}

export type RepairRow = {
  readonly repairId: string;
  readonly failureId: string;
  readonly status: "AWAITING_APPROVAL" | "APPROVED" | "REJECTED" | "CANCELLED" | "APPLIED";
  readonly repairSchemaVersion: string;
  readonly originalFingerprint: string;
  readonly correctedFingerprint: string;
};

/** One named repair of the host. */
export async function loadRepair(tx: Tx, hostId: string, repairId: string): Promise<RepairRow | undefined> {
  const [row] = await tx.query<RepairRow>(
    `SELECT repair_id AS "repairId", failure_id AS "failureId", status, repair_schema_version AS "repairSchemaVersion",
            original_transaction_fingerprint AS "originalFingerprint",
            corrected_transaction_fingerprint AS "correctedFingerprint"
       FROM event_repair_t WHERE host_id = $1 AND repair_id = $2`,
    [hostId, repairId],
  );
  return row;
}

/** Whether every corrected member of a repair is stored and matches its digest, recomputed from the stored bytes. */
export async function isRepairIntact(tx: Tx, hostId: string, repairId: string): Promise<boolean> {
  const [row] = await tx.query<{ intact: boolean | null }>(
    `SELECT bool_and(corrected_payload_plain IS NOT NULL
              AND encode(sha256(corrected_payload_plain), 'hex') = corrected_payload_digest) AS intact
       FROM event_repair_event_t WHERE host_id = $1 AND repair_id = $2`,
    [hostId, repairId],
  );
  return row?.intact ?? false;
}
