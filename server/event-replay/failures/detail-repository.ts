import type { Tx } from "@/server/platform/db/transaction";
import type { ReplayAttempt } from "./domain/timeline";

export type FailureFacts = {
  readonly contentFingerprint: string;
  readonly errorDetails: { scopeType?: unknown; scopeKey?: unknown; expected?: unknown; got?: unknown } | null;
  readonly failedOrdinal: number | null;
  readonly policyRegistryVersion: string;
  readonly legalHold: boolean;
  readonly resolutionCode: string | null;
  readonly resolvedByRepairId: string | null;
};

export type MemberRow = {
  readonly ordinal: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly schemaVersion: string | null;
  readonly aggregateId: string | null;
  readonly aggregateType: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly userId: string | null;
  readonly sourceProcessor: "DATABASE" | "KAFKA";
  readonly sourceTopic: string | null;
  readonly sourcePartition: number | null;
  readonly sourceOffset: number;
  readonly payloadDigest: string;
  readonly payloadStorage: "DATABASE_PLAIN" | "DATABASE" | "OBJECT" | "DELETED";
  readonly decryptedPayloadBytes: number;
  readonly sensitivePayload: boolean;
  readonly policyRegistryVersion: string;
};

export type ScopeRow = {
  readonly scopeType: string;
  readonly scopeKey: string;
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  /** An unreleased barrier holds it in quarantine. */
  readonly quarantined: boolean;
};

export type DeliveryRow = {
  readonly sourceProcessor: "DATABASE" | "KAFKA";
  readonly topic: string | null;
  readonly partition: number | null;
  readonly firstOffset: number | null;
  readonly lastOffset: number | null;
  readonly observationCount: number;
  readonly firstObservedTs: string;
  readonly lastObservedTs: string;
  readonly deliveryCount: number;
};

export async function loadFacts(tx: Tx, hostId: string, failureId: string): Promise<FailureFacts | null> {
  const [row] = await tx.query<FailureFacts>(
    `SELECT content_fingerprint AS "contentFingerprint", error_details AS "errorDetails", failed_ordinal AS "failedOrdinal",
        policy_registry_version AS "policyRegistryVersion", legal_hold AS "legalHold", resolution_code AS "resolutionCode",
        resolved_by_repair_id AS "resolvedByRepairId"
      FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $2`,
    [hostId, failureId],
    "failures_facts",
  );
  return row ?? null;
}

/** Members in order. The bytes, their key and their headers are not among the columns. */
export async function loadMembers(tx: Tx, hostId: string, failureId: string): Promise<MemberRow[]> {
  return await tx.query<MemberRow>(
    `SELECT event_ordinal AS ordinal, event_id AS "eventId", event_type AS "eventType", event_schema_version AS "schemaVersion",
        aggregate_id AS "aggregateId", aggregate_type AS "aggregateType", aggregate_version AS "aggregateVersion",
        root_instance_id AS "rootInstanceId", graph_revision AS "graphRevision", user_id AS "userId",
        source_processor AS "sourceProcessor", source_topic AS "sourceTopic", source_partition AS "sourcePartition",
        source_offset AS "sourceOffset", payload_digest AS "payloadDigest", payload_storage AS "payloadStorage",
        decrypted_payload_bytes AS "decryptedPayloadBytes", sensitive_payload AS "sensitivePayload",
        policy_registry_version AS "policyRegistryVersion"
      FROM event_failure_event_t WHERE host_id = $1 AND failure_id = $2 ORDER BY event_ordinal LIMIT 5000`,
    [hostId, failureId],
    "failures_members",
  );
}

export async function loadScopes(tx: Tx, hostId: string, failureId: string): Promise<ScopeRow[]> {
  return await tx.query<ScopeRow>(
    `SELECT s.scope_type AS "scopeType", s.scope_key AS "scopeKey", s.status,
        EXISTS (SELECT FROM event_replay_barrier_t b WHERE b.host_id = s.host_id AND b.projection_name = s.projection_name
          AND b.consumer_group = s.consumer_group AND b.scope_type = s.scope_type AND b.scope_key = s.scope_key
          AND b.released_ts IS NULL AND b.state = 'QUARANTINED') AS quarantined
      FROM event_failure_scope_t s
      WHERE s.host_id = $1 AND s.failure_id = $2 AND s.scope_type IN ('AGGREGATE', 'GRAPH_ROOT')
      ORDER BY s.scope_type COLLATE "C", s.scope_key COLLATE "C" LIMIT 500`,
    [hostId, failureId],
    "failures_scopes",
  );
}

/** Deliveries newest first, at most 50; deliveryCount is of all. Source coordinates are topic, partition and offsets only. */
export async function loadDeliveries(tx: Tx, hostId: string, failureId: string): Promise<DeliveryRow[]> {
  return await tx.query<DeliveryRow>(
    `SELECT source_processor AS "sourceProcessor", source_coordinates->>'topic' AS topic,
        (source_coordinates->>'partition')::int AS partition, (source_coordinates->>'firstOffset')::int8 AS "firstOffset",
        (source_coordinates->>'lastOffset')::int8 AS "lastOffset", observation_count AS "observationCount",
        first_observed_ts AS "firstObservedTs", last_observed_ts AS "lastObservedTs", count(*) OVER ()::int AS "deliveryCount"
      FROM event_failure_delivery_t WHERE host_id = $1 AND failure_id = $2
      ORDER BY last_observed_ts DESC, delivery_id LIMIT 50`,
    [hostId, failureId],
    "failures_deliveries",
  );
}

/** The newest 20 tries to replay it for good: request, which try, result and our code; `ts` is its end, else its begin. */
export async function loadAttempts(tx: Tx, hostId: string, failureId: string): Promise<ReplayAttempt[]> {
  return await tx.query<ReplayAttempt>(
    `SELECT a.replay_request_id AS "replayRequestId", a.attempt_number AS "attemptNumber", a.result,
        a.error_code AS "errorCode", coalesce(a.completed_ts, a.started_ts) AS ts
      FROM event_replay_item_t i
      JOIN event_replay_request_t r ON r.host_id = i.host_id AND r.replay_request_id = i.replay_request_id
      JOIN event_replay_attempt_t a ON a.host_id = i.host_id AND a.replay_request_id = i.replay_request_id
        AND a.item_ordinal = i.item_ordinal
      WHERE i.host_id = $1 AND i.failure_id = $2 AND r.validation_mode = 'EXECUTE'
      ORDER BY coalesce(a.completed_ts, a.started_ts) DESC, a.replay_attempt_id DESC LIMIT 20`,
    [hostId, failureId],
    "failures_attempts",
  );
}

/** Rows of the notification page for the same transaction: how many, and the newest. */
export async function loadNotificationLink(
  tx: Tx,
  hostId: string,
  transactionId: string,
): Promise<{ count: number; newest: { id: string; status: string; processTs: string } | null }> {
  const rows = await tx.query<{ id: string; status: string; processTs: string; n: number }>(
    `SELECT id, status, process_ts AS "processTs", count(*) OVER ()::int AS n FROM notification_t
      WHERE host_id = $1 AND transaction_id = $2 ORDER BY process_ts DESC, id DESC LIMIT 1`,
    [hostId, transactionId],
    "failures_notifications",
  );
  const [row] = rows;
  return row === undefined ? { count: 0, newest: null } : { count: row.n, newest: row };
}

export type FailureHold = {
  /** Requests that hold it, previews left out. */
  readonly count: number;
  /** The one that matters most: being executed, else approved or awaiting approval, else the newest that ended. */
  readonly first: { readonly replayRequestId: string; readonly status: string } | null;
  readonly repairUnderWay: boolean;
};

/** Who works on this failure: the requests that hold it, and whether a repair is under way. Overdue counts as EXPIRED. */
export async function loadHold(tx: Tx, hostId: string, failureId: string): Promise<FailureHold> {
  const [row] = await tx.query<{ id: string | null; status: string | null; n: number | null; repair: boolean }>(
    `SELECT held.id, held.status, held.n,
        EXISTS (SELECT FROM event_repair_t r WHERE r.host_id = $1 AND r.failure_id = $2
          AND r.status IN ('AWAITING_APPROVAL', 'APPROVED')) AS repair
      FROM (SELECT 1) one LEFT JOIN LATERAL (
        SELECT q.id, q.status, count(*) OVER ()::int AS n FROM (
          SELECT r.replay_request_id AS id, r.requested_ts,
              CASE WHEN r.status IN ('PLANNING', 'READY', 'AWAITING_APPROVAL', 'APPROVED') AND r.expires_ts <= now() THEN 'EXPIRED'
                ELSE r.status END AS status
            FROM event_replay_item_t i
            JOIN event_replay_request_t r ON r.host_id = i.host_id AND r.replay_request_id = i.replay_request_id
            WHERE i.host_id = $1 AND i.failure_id = $2 AND r.validation_mode <> 'VALIDATE_ONLY') q
        ORDER BY q.status IN ('INSTALLING_BARRIER', 'RUNNING') DESC, q.status IN ('APPROVED', 'AWAITING_APPROVAL') DESC,
          q.requested_ts DESC, q.id DESC LIMIT 1) held ON true`,
    [hostId, failureId],
    "failures_hold",
  );
  const first = row?.id && row.status ? { replayRequestId: row.id, status: row.status } : null;
  return { count: row?.n ?? 0, first, repairUnderWay: row?.repair ?? false };
}
