import type { ReplayStatus, ValidationMode } from "@/server/contracts/replay";
import type { PlanMetadata } from "@/server/event-replay/planning/domain/plan";
import type { Tx } from "@/server/platform/db/transaction";
import { type Fence, mustHit } from "./fence";
import { RETRYABLE } from "./lease";

/** A request as execution sees it. */
export type RequestRow = {
  readonly replay_request_id: string;
  readonly projection_name: string;
  readonly consumer_group: string;
  readonly validation_mode: ValidationMode;
  readonly plan_hash: string | null;
  readonly policy_registry_version: string;
  readonly plan_metadata: PlanMetadata;
  readonly status: ReplayStatus;
  readonly requested_by: string;
  readonly approved_by: string | null;
  readonly started_by: string | null;
  readonly failure_code: string | null;
  readonly fencing_token: number;
  readonly expired: boolean;
  readonly retryable: boolean;
  readonly lease_expires_ts: string | null;
};

const COLUMNS = `r.replay_request_id, r.projection_name, r.consumer_group, r.validation_mode, r.plan_hash,
  r.policy_registry_version, r.plan_metadata, r.status, r.requested_by, r.approved_by, r.started_by, r.failure_code,
  r.fencing_token, r.expires_ts <= clock_timestamp() AS expired, ${RETRYABLE} AS retryable,
  (SELECT l.expires_ts FROM event_replay_lease_t l
    WHERE l.host_id = r.host_id AND l.replay_request_id = r.replay_request_id AND l.expires_ts > clock_timestamp()
      AND r.status IN ('INSTALLING_BARRIER', 'RUNNING')) AS lease_expires_ts`;

const WHERE = "FROM event_replay_request_t r WHERE r.host_id = $1 AND r.replay_request_id = $2";

/** The request without a lock: for answers, not for decisions. */
export async function readRequest(tx: Tx, hostId: string, id: string): Promise<RequestRow | undefined> {
  return (await tx.query<RequestRow>(`SELECT ${COLUMNS} ${WHERE}`, [hostId, id], "read_replay_request"))[0];
}

/**
 * Locks first, reads afterwards: the second statement sees what the holder before us committed. Waits for nobody: 55P03 when
 * any transaction of an execution, or another decision, holds the row.
 */
export async function lockRequestNow(tx: Tx, hostId: string, id: string): Promise<RequestRow | undefined> {
  tx.lock("REPLAY_REQUEST");
  await tx.query(`SELECT 1 ${WHERE} FOR NO KEY UPDATE NOWAIT`, [hostId, id], "lock_replay_request_now");
  return readRequest(tx, hostId, id);
}

/** APPROVED → INSTALLING_BARRIER: the intent that processing needs. Compare and set; records who executes. */
export async function commitIntent(tx: Tx, hostId: string, id: string, personId: string): Promise<boolean> {
  const hit = await tx.execute(
    `UPDATE event_replay_request_t SET status = 'INSTALLING_BARRIER', started_by = $3, started_ts = clock_timestamp(),
            updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND status = 'APPROVED' AND validation_mode = 'EXECUTE'
        AND approved_by IS NOT NULL AND approved_by <> requested_by AND expires_ts > clock_timestamp()`,
    [hostId, id, personId],
  );
  return hit === 1;
}

/** Raises the fencing token by compare and set; returns the new one. */
export async function raiseToken(tx: Tx, hostId: string, request: RequestRow): Promise<number> {
  const rows = await tx.query<{ fencing_token: number }>(
    `UPDATE event_replay_request_t SET fencing_token = fencing_token + 1, updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND fencing_token = $3 AND status IN ('INSTALLING_BARRIER', 'RUNNING')
     RETURNING fencing_token`,
    [hostId, request.replay_request_id, request.fencing_token],
  );
  mustHit(rows.length);
  return (rows[0] as { fencing_token: number }).fencing_token;
}

/** INSTALLING_BARRIER → RUNNING, in the transaction that installed the barriers. */
export async function markRunning(tx: Tx, fence: Fence, epoch: number): Promise<void> {
  mustHit(
    await tx.execute(
      `UPDATE event_replay_request_t SET status = 'RUNNING', installed_barrier_epoch = $4, updated_ts = clock_timestamp()
        WHERE host_id = $1 AND replay_request_id = $2 AND fencing_token = $3 AND status = 'INSTALLING_BARRIER'`,
      [fence.hostId, fence.replayRequestId, fence.fencingToken, epoch],
    ),
  );
}

/** The end of a request. */
export async function finishRequest(
  tx: Tx,
  fence: Fence,
  status: "SUCCEEDED" | "FAILED",
  failure: { readonly code: string; readonly message: string } | null,
): Promise<void> {
  mustHit(
    await tx.execute(
      `UPDATE event_replay_request_t SET status = $4, failure_code = $5, failure_message = $6,
              completed_ts = clock_timestamp(), updated_ts = clock_timestamp()
        WHERE host_id = $1 AND replay_request_id = $2 AND fencing_token = $3
          AND status IN ('INSTALLING_BARRIER', 'RUNNING')`,
      [
        fence.hostId,
        fence.replayRequestId,
        fence.fencingToken,
        status,
        failure?.code ?? null,
        failure?.message ?? null,
      ],
    ),
  );
}
