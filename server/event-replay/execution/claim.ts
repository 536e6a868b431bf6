import { safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { auditExecution } from "./audit";
import type { Fence } from "./fence";
import { abandonAttempts } from "./item-repository";
import { hasLiveLease, writeLease } from "./lease";
import { lockRequestNow, type RequestRow, raiseToken } from "./request-repository";

/** What a claim found. */
export type Claim =
  | { readonly kind: "CLAIMED"; readonly fence: Fence; readonly request: RequestRow }
  /** The request has ended: its stored outcome is the answer (ER-API-28). */
  | { readonly kind: "ENDED"; readonly request: RequestRow };

export type ClaimRequest = {
  readonly hostId: string;
  readonly replayRequestId: string;
  readonly planHash: string;
  readonly owner: string;
  readonly leaseSeconds: number;
};

/**
 * Claims exactly the named request with exactly this hash (ER-ISO-14), if its intent is committed and nobody executes it:
 * request row locked without waiting, no live lease, token raised, lease written by the database's clock, a dead executor's
 * attempts ABANDONED. A lease that is past never overrides a held lock: then the row can't be had (ER-ISO-12).
 */
export async function claimRequest(tx: Tx, claim: ClaimRequest): Promise<Claim> {
  const { hostId, replayRequestId } = claim;
  const request = await lockOrRefuse(tx, hostId, replayRequestId);
  if (!request) throw new AppError("REQUEST_NOT_FOUND");
  requireHash(request, claim.planHash);
  if (request.status === "SUCCEEDED" || request.status === "FAILED") return { kind: "ENDED", request };
  requireIntent(request);
  if (await hasLiveLease(tx, hostId, replayRequestId)) throw new AppError("REPLAY_EXECUTION_IN_PROGRESS");
  const fence = { hostId, replayRequestId, fencingToken: await raiseToken(tx, hostId, request) };
  await writeLease(tx, fence, claim.owner, claim.leaseSeconds);
  const abandoned = await abandonAttempts(tx, hostId, replayRequestId);
  await auditExecution(tx, fence, "EVENT_REPLAY_WORKER_CLAIMED", {
    details: { fencingToken: fence.fencingToken, abandonedAttempts: abandoned },
  });
  return { kind: "CLAIMED", fence, request };
}

/** The caller's hash must be the plan's: what runs is what somebody saw and approved (ER-APR-06). */
export function requireHash(request: RequestRow, planHash: string): void {
  if (request.plan_hash === null || toWireDigest(request.plan_hash) !== planHash) throw new AppError("STALE_PLAN");
}

/** Only a committed intent is processed; an APPROVED request is started by nobody but the command (ER-API-09). */
function requireIntent(request: RequestRow): void {
  const committed = request.status === "INSTALLING_BARRIER" || request.status === "RUNNING";
  if (!committed || request.validation_mode !== "EXECUTE") throw new AppError("INVALID_REPLAY_STATE");
}

/**
 * The request row, locked. REPLAY_EXECUTION_IN_PROGRESS when a step of an execution, or another decision, holds it: waiting
 * would answer nothing better.
 */
export async function lockOrRefuse(tx: Tx, hostId: string, replayRequestId: string): Promise<RequestRow | undefined> {
  try {
    return await lockRequestNow(tx, hostId, replayRequestId);
  } catch (error) {
    if (safePgError(error)?.sqlState === "55P03") throw new AppError("REPLAY_EXECUTION_IN_PROGRESS");
    throw error;
  }
}
