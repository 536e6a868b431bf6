import type { CreatePlanRequest, ReplayStatus, SelectionStrategy, ValidationMode } from "@/server/contracts/replay";
import { audit } from "@/server/governance/audit";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { PlanItem, PlanMetadata } from "./domain/plan";

/** A request row as planning, decisions and reads see it. Timestamps are the database's own text. */
export type RequestRow = {
  readonly replayRequestId: string;
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly strategy: SelectionStrategy;
  readonly validationMode: ValidationMode;
  readonly reason: string;
  readonly planHash: string | null;
  readonly policyRegistryVersion: string;
  readonly planMetadata: PlanMetadata;
  readonly status: ReplayStatus;
  readonly transactionCount: number;
  readonly eventCount: number;
  readonly payloadBytes: number;
  readonly requestedBy: string;
  readonly requestedTs: string;
  readonly approvedBy: string | null;
  readonly approvedTs: string | null;
  readonly startedBy: string | null;
  readonly startedTs: string | null;
  readonly completedTs: string | null;
  readonly expiresTs: string;
  readonly expiresInSeconds: number;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly isolationMode: string | null;
  /** Undecided or unstarted although its time is over. */
  readonly overdue: boolean;
  /** An intent or a run that nobody executes: the lease is past or was given back. */
  readonly retryable: boolean;
};

/** Undecided or unstarted: what may still be cancelled or expire. */
export const UNSTARTED = "('READY', 'AWAITING_APPROVAL', 'APPROVED')";

export const REQUEST_COLUMNS = `r.replay_request_id AS "replayRequestId", r.projection_name AS "projectionName",
  r.consumer_group AS "consumerGroup", r.selection_strategy AS strategy, r.validation_mode AS "validationMode", r.reason,
  r.plan_hash AS "planHash", r.policy_registry_version AS "policyRegistryVersion", r.plan_metadata AS "planMetadata", r.status,
  r.transaction_count AS "transactionCount", r.event_count AS "eventCount", r.decrypted_payload_bytes AS "payloadBytes",
  r.requested_by AS "requestedBy", r.requested_ts AS "requestedTs", r.approved_by AS "approvedBy", r.approved_ts AS "approvedTs",
  r.started_by AS "startedBy", r.started_ts AS "startedTs", r.completed_ts AS "completedTs", r.expires_ts AS "expiresTs",
  greatest(0, floor(extract(epoch FROM r.expires_ts - clock_timestamp())))::int AS "expiresInSeconds",
  r.failure_code AS "failureCode", r.failure_message AS "failureMessage", r.isolation_mode AS "isolationMode",
  r.status IN ${UNSTARTED} AND r.expires_ts <= clock_timestamp() AS overdue,
  r.status IN ('INSTALLING_BARRIER', 'RUNNING') AND NOT EXISTS (
    SELECT FROM event_replay_lease_t l WHERE l.host_id = r.host_id AND l.replay_request_id = r.replay_request_id
       AND l.expires_ts > clock_timestamp()) AS retryable`;

const ONE = "FROM event_replay_request_t r WHERE r.host_id = $1 AND r.replay_request_id = $2";

export async function readRequest(tx: Tx, hostId: string, requestId: string): Promise<RequestRow | undefined> {
  const [row] = await tx.query<RequestRow>(`SELECT ${REQUEST_COLUMNS} ${ONE}`, [hostId, requestId], "read_request");
  return row;
}

/** Locks the row, then reads it: what the holder before us committed is seen. */
export async function lockRequest(tx: Tx, hostId: string, requestId: string): Promise<RequestRow | undefined> {
  tx.lock("REPLAY_REQUEST");
  await tx.query(`SELECT 1 ${ONE} FOR NO KEY UPDATE`, [hostId, requestId], "lock_request");
  return await readRequest(tx, hostId, requestId);
}

/**
 * Expiry without a clock of our own (decision D-03): whoever meets an overdue request writes EXPIRED by compare-and-set, with
 * its audit record. Returns whether this call did.
 */
export async function expireIfOverdue(tx: Tx, hostId: string, requestId: string): Promise<boolean> {
  tx.lock("REPLAY_REQUEST");
  const hit = await tx.execute(
    `UPDATE event_replay_request_t r SET status = 'EXPIRED', completed_ts = clock_timestamp(), updated_ts = clock_timestamp()
      WHERE r.host_id = $1 AND r.replay_request_id = $2 AND r.status IN ${UNSTARTED} AND r.expires_ts <= clock_timestamp()`,
    [hostId, requestId],
  );
  if (hit === 0) return false;
  await audit(tx, {
    hostId,
    event: "EVENT_REPLAY_REQUEST_EXPIRED",
    actor: { type: "SYSTEM" },
    replayRequestId: requestId,
  });
  return true;
}

export type NewRequest = {
  readonly hostId: string;
  readonly requestId: string;
  readonly request: Pick<
    CreatePlanRequest,
    "projectionName" | "consumerGroup" | "strategy" | "validationMode" | "reason"
  >;
  readonly requestedBy: string;
  readonly policyRegistryVersion: string;
  readonly repairSchemaVersion: string | null;
  readonly metadata: PlanMetadata;
  readonly planHash: string;
  readonly eventCount: number;
  readonly payloadBytes: number;
  /** The database's own text. */
  readonly expiresTs: string;
  readonly items: readonly PlanItem[];
  readonly repair: { readonly repairId: string; readonly failureId: string } | null;
};

/**
 * Writes a plan whole: PLANNING with its items, then READY, and AWAITING_APPROVAL unless it is a preview. Rows: 1 request, n
 * items. From READY on the database freezes all that the hash covers.
 */
export async function insertPlan(tx: Tx, plan: NewRequest): Promise<void> {
  const { hostId, requestId, request, metadata } = plan;
  tx.lock("REPLAY_REQUEST");
  await tx.execute(
    `INSERT INTO event_replay_request_t (host_id, replay_request_id, projection_name, consumer_group, selection_strategy,
       validation_mode, reason, plan_hash, policy_registry_version, repair_schema_version, plan_metadata, transaction_count,
       event_count, decrypted_payload_bytes, requested_by, requested_ts, expires_ts, isolation_mode)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13, $14, $15, now(), $16::timestamptz, $17)`,
    [
      hostId,
      requestId,
      request.projectionName,
      request.consumerGroup,
      request.strategy,
      request.validationMode,
      request.reason,
      plan.planHash,
      plan.policyRegistryVersion,
      plan.repairSchemaVersion,
      JSON.stringify(metadata),
      plan.items.length,
      plan.eventCount,
      plan.payloadBytes,
      plan.requestedBy,
      plan.expiresTs,
      metadata.isolationScope.mode === "TRANSACTION_ONLY" ? null : metadata.isolationScope.mode,
    ],
  );
  await tx.execute(
    `INSERT INTO event_replay_item_t (host_id, replay_request_id, item_ordinal, failure_id, repair_id,
       expected_content_fingerprint, dependency_reason, added_dependency)
     SELECT $1, $2, i.* FROM unnest($3::int[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bool[]) AS i`,
    [
      hostId,
      requestId,
      arrayLiteral(plan.items.map((item) => item.ordinal)),
      arrayLiteral(plan.items.map((item) => item.failure.failureId)),
      arrayLiteral(
        plan.items.map(({ failure }) => (failure.failureId === plan.repair?.failureId ? plan.repair.repairId : null)),
      ),
      arrayLiteral(plan.items.map((item) => item.failure.contentFingerprint)),
      arrayLiteral(plan.items.map((item) => item.dependencyReason)),
      arrayLiteral(plan.items.map((item) => item.addedDependency)),
    ],
  );
  await move(tx, hostId, requestId, "PLANNING", "READY");
  if (request.validationMode !== "VALIDATE_ONLY") await move(tx, hostId, requestId, "READY", "AWAITING_APPROVAL");
}

async function move(tx: Tx, hostId: string, requestId: string, from: ReplayStatus, to: ReplayStatus): Promise<void> {
  const hit = await tx.execute(
    `UPDATE event_replay_request_t SET status = $4, updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND status = $3`,
    [hostId, requestId, from, to],
  );
  if (hit !== 1) throw new Error("a plan left its state while it was written");
}

/** AWAITING_APPROVAL → APPROVED by compare-and-set on state, hash, mode, person and clock. Null when any doesn't hold. */
export async function approveRequest(
  tx: Tx,
  hostId: string,
  requestId: string,
  planHash: string,
  personId: string,
): Promise<{ readonly approvedTs: string } | null> {
  const [row] = await tx.query<{ approvedTs: string }>(
    `UPDATE event_replay_request_t SET status = 'APPROVED', approved_by = $4, approved_ts = clock_timestamp(),
            updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND plan_hash = $3 AND status = 'AWAITING_APPROVAL'
        AND validation_mode <> 'VALIDATE_ONLY' AND requested_by <> $4 AND expires_ts > clock_timestamp()
     RETURNING approved_ts AS "approvedTs"`,
    [hostId, requestId, planHash, personId],
  );
  return row ?? null;
}

/** An unstarted request → CANCELLED by compare-and-set on state, hash and clock. */
export async function cancelRequest(tx: Tx, hostId: string, requestId: string, planHash: string): Promise<boolean> {
  const hit = await tx.execute(
    `UPDATE event_replay_request_t SET status = 'CANCELLED', completed_ts = clock_timestamp(), updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND plan_hash = $3 AND status IN ${UNSTARTED}
        AND expires_ts > clock_timestamp()`,
    [hostId, requestId, planHash],
  );
  return hit === 1;
}

/** Who cancelled a request, from the record of it. */
export async function whoCancelled(tx: Tx, hostId: string, requestId: string): Promise<string | null> {
  const [row] = await tx.query<{ actor_id: string }>(
    `SELECT actor_id FROM event_replay_audit_t
      WHERE host_id = $1 AND replay_request_id = $2 AND event_name = 'EVENT_REPLAY_REQUEST_CANCELLED'`,
    [hostId, requestId],
  );
  return row?.actor_id ?? null;
}
