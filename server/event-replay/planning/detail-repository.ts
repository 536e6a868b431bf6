import type { GetReplayResponse, ReplayItem } from "@/server/contracts/replay";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { OrderingRow } from "./repository";

export type ItemRow = Omit<ReplayItem, "scopes" | "needs" | "eventTypes"> & {
  readonly firstType: string;
  readonly typeCount: number;
};

/** The items of a request in plan order, with how each failure stands now. */
export async function loadItems(tx: Tx, hostId: string, requestId: string): Promise<ItemRow[]> {
  return await tx.query<ItemRow>(
    `SELECT i.item_ordinal AS ordinal, i.failure_id AS "failureId", i.expected_content_fingerprint AS "expectedContentFingerprint",
            i.dependency_reason AS "dependencyReason", i.added_dependency AS "addedDependency", i.status,
            i.attempt_count AS "attemptCount", i.repair_id AS "repairId", f.original_transaction_id AS "originalTransactionId",
            f.event_count AS "eventCount", f.status AS "failureStatus", f.error_code AS "errorCode", t.first AS "firstType",
            t.n AS "typeCount"
       FROM event_replay_item_t i
       JOIN event_failure_transaction_t f ON f.host_id = i.host_id AND f.failure_id = i.failure_id,
            LATERAL (SELECT count(DISTINCT e.event_type)::int AS n,
                            coalesce(f.failed_event_type, min(e.event_type) FILTER (WHERE e.event_ordinal = 0)) AS first
                       FROM event_failure_event_t e WHERE e.host_id = i.host_id AND e.failure_id = i.failure_id) t
      WHERE i.host_id = $1 AND i.replay_request_id = $2
      ORDER BY i.item_ordinal`,
    [hostId, requestId],
    "load_request_items",
  );
}

/** What the members of a request's failures write. */
export async function loadItemOrdering(tx: Tx, hostId: string, requestId: string): Promise<OrderingRow[]> {
  return await tx.query<OrderingRow>(
    `SELECT e.failure_id, e.aggregate_type, e.aggregate_id, e.root_instance_id,
            min(e.aggregate_version) AS first_version, max(e.aggregate_version) AS last_version,
            min(e.graph_revision) AS first_revision, max(e.graph_revision) AS last_revision
       FROM event_replay_item_t i
       JOIN event_failure_event_t e ON e.host_id = i.host_id AND e.failure_id = i.failure_id
      WHERE i.host_id = $1 AND i.replay_request_id = $2
      GROUP BY 1, 2, 3, 4`,
    [hostId, requestId],
    "load_item_ordering",
  );
}

export type AttemptRow = Omit<GetReplayResponse["attempts"][number], never>;

/** Every try, in order of item and number; timestamps as the database's own text. */
export async function loadAttempts(tx: Tx, hostId: string, requestId: string): Promise<AttemptRow[]> {
  return await tx.query<AttemptRow>(
    `SELECT item_ordinal AS "itemOrdinal", attempt_number AS "attemptNumber", worker_id AS "workerId", result,
            projection_committed AS "projectionCommitted", started_ts AS "startedTs", completed_ts AS "completedTs",
            error_code AS "errorCode", error_message AS "errorMessage"
       FROM event_replay_attempt_t WHERE host_id = $1 AND replay_request_id = $2
      ORDER BY item_ordinal, attempt_number LIMIT 2000`,
    [hostId, requestId],
    "load_attempts",
  );
}

export type BarrierRow = GetReplayResponse["barriers"][number];

/** Barriers of the request, and quarantines owned by its failures, with what is parked behind each. */
export async function loadBarriers(tx: Tx, hostId: string, requestId: string): Promise<BarrierRow[]> {
  return await tx.query<BarrierRow>(
    `SELECT b.barrier_id AS "barrierId", b.scope_type AS "scopeType", b.scope_key AS "scopeKey", b.state,
            b.owner_type AS "ownerType", b.barrier_epoch AS "barrierEpoch", b.quarantine_failure_id AS "quarantineFailureId",
            b.installed_ts AS "installedTs", b.released_ts AS "releasedTs",
            (SELECT count(*)::int FROM event_projection_deferred_scope_t s
               JOIN event_projection_deferred_t d ON d.host_id = s.host_id AND d.deferred_id = s.deferred_id
              WHERE s.host_id = b.host_id AND s.barrier_id = b.barrier_id AND d.status IN ('PENDING', 'RUNNING')) AS parked
       FROM event_replay_barrier_t b
      WHERE b.host_id = $1 AND (b.replay_request_id = $2 OR (b.state = 'QUARANTINED' AND b.released_ts IS NULL
        AND b.quarantine_failure_id IN (
          SELECT i.failure_id FROM event_replay_item_t i WHERE i.host_id = $1 AND i.replay_request_id = $2)))
      ORDER BY b.scope_type COLLATE "C", b.scope_key COLLATE "C", b.installed_ts LIMIT 10000`,
    [hostId, requestId],
    "load_request_barriers",
  );
}

export type ParkedTotals = {
  readonly count: number;
  readonly decryptedPayloadBytes: number;
  readonly drained: number;
  readonly failed: number;
};

/** Work parked behind these barriers, each transaction once: waiting now, drained, failed in the drain. */
export async function loadParkedTotals(tx: Tx, hostId: string, barrierIds: readonly string[]): Promise<ParkedTotals> {
  if (barrierIds.length === 0) return { count: 0, decryptedPayloadBytes: 0, drained: 0, failed: 0 };
  const [row] = await tx.query<ParkedTotals>(
    `SELECT count(*) FILTER (WHERE d.status IN ('PENDING', 'RUNNING'))::int AS count,
            coalesce(sum(d.decrypted_payload_bytes) FILTER (WHERE d.status IN ('PENDING', 'RUNNING')), 0)::int8 AS "decryptedPayloadBytes",
            count(*) FILTER (WHERE d.status = 'SUCCEEDED')::int AS drained,
            count(*) FILTER (WHERE d.status = 'FAILED')::int AS failed
       FROM event_projection_deferred_t d
      WHERE d.host_id = $1 AND d.deferred_id IN (
        SELECT s.deferred_id FROM event_projection_deferred_scope_t s WHERE s.host_id = $1 AND s.barrier_id = ANY ($2::uuid[]))`,
    [hostId, barrierIds],
    "load_parked_totals",
  );
  return row as ParkedTotals;
}

/** Newest version that our store holds of each aggregate, or that append accepted of each graph root; null where none. */
export async function loadAppended(
  tx: Tx,
  hostId: string,
  scopes: readonly {
    readonly aggregateType: string | null;
    readonly aggregateId: string | null;
    readonly rootId: string | null;
  }[],
): Promise<(number | null)[]> {
  if (scopes.length === 0) return [];
  const rows = await tx.query<{ appended: number | null }>(
    `SELECT coalesce(
              (SELECT max(v.aggregate_version) FROM event_store_t v
                WHERE v.host_id = $1 AND v.aggregate_type = s.aggregate_type AND v.aggregate_id = s.aggregate_id),
              (SELECT g.accepted_revision FROM instance_graph_revision_t g
                WHERE g.host_id = $1 AND g.instance_id = s.root_id)) AS appended
       FROM unnest($2::text[], $3::text[], $4::uuid[]) WITH ORDINALITY AS s(aggregate_type, aggregate_id, root_id, n)
      ORDER BY s.n`,
    [
      hostId,
      arrayLiteral(scopes.map((scope) => scope.aggregateType)),
      arrayLiteral(scopes.map((scope) => scope.aggregateId)),
      arrayLiteral(scopes.map((scope) => scope.rootId)),
    ],
    "load_appended",
  );
  return rows.map((row) => row.appended);
}

export type Lease = { readonly owner: string; readonly expiresTs: string };

export async function loadLease(tx: Tx, hostId: string, requestId: string): Promise<Lease | null> {
  const [row] = await tx.query<Lease>(
    `SELECT lease_owner AS owner, expires_ts AS "expiresTs" FROM event_replay_lease_t
      WHERE host_id = $1 AND replay_request_id = $2`,
    [hostId, requestId],
    "load_lease",
  );
  return row ?? null;
}

export type HistoryRow = {
  readonly ts: string;
  readonly event: string;
  readonly actorType: "USER" | "WORKER" | "SYSTEM";
  readonly actorId: string;
  readonly reason: string | null;
};

/** The request's trace, newest first, at most 200. Index: audit by request. */
export async function loadHistory(tx: Tx, hostId: string, requestId: string): Promise<HistoryRow[]> {
  return await tx.query<HistoryRow>(
    `SELECT created_ts AS ts, event_name AS event, actor_type AS "actorType", actor_id AS "actorId", reason
       FROM event_replay_audit_t WHERE host_id = $1 AND replay_request_id = $2
      ORDER BY created_ts DESC, audit_id DESC LIMIT 200`,
    [hostId, requestId],
    "load_history",
  );
}

/** The database's clock, its own text. */
export async function loadNow(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ now: string }>("SELECT clock_timestamp() AS now", [], "load_clock");
  return (row as { now: string }).now;
}
