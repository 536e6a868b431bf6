import {
  type ExecuteReplayRequest,
  type ExecuteReplayResponse,
  processEventReplayResponse,
} from "@/server/contracts/replay";
import { expireIfOverdue } from "@/server/event-replay/planning/request-repository";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import type { InternalAnswer } from "@/server/platform/http/internal-call";
import { auditPerson } from "./audit";
import { findHolder } from "./barriers";
import { lockOrRefuse, requireHash } from "./claim";
import { holderOf, scopesOf } from "./install";
import { loadItems } from "./item-repository";
import { hasLiveLease } from "./lease";
import { checkPlan } from "./plan-check";
import { answerOf } from "./process-event-replay";
import { commitIntent, type RequestRow } from "./request-repository";

/** The browser gets its answer after at most this long; the call it made runs on (ER-API-24). Milliseconds. */
export const ANSWER_AFTER_MS = 5_000;

/**
 * executeEventReplay (reference §11.6): breaker, hash, recorded approval of a second person, expiry, staleness, no other
 * execution on its scopes; then APPROVED → INSTALLING_BARRIER and its audit record in one commit, and only then one real call
 * of processEventReplay by the caller's own token (ER-API-08, ER-ISO-13). An intent or run whose executor is gone is called
 * again without a second transition; one that has succeeded answers with its stored outcome (ER-API-28).
 */
export async function executeEventReplay(
  ctx: ReplayContext,
  request: ExecuteReplayRequest,
  answerAfterMs: number = ANSWER_AFTER_MS,
): Promise<ExecuteReplayResponse> {
  if (!ctx.actor.human) throw new AppError("AUTHORIZATION_DENIED");
  const decision = await inTransaction(ctx.pool, "replay-intent", (tx) => decide(tx, ctx, request));
  if (decision !== "CALL") throw new AppError(decision);
  const { hostId, replayRequestId, planHash } = request;
  const ended = await currentOutcome(ctx, request);
  if (ended.status === "SUCCEEDED") return ended;
  const called = ctx.callQuery("processEventReplay", { hostId, replayRequestId, planHash });
  const answer = await within(answerAfterMs, called);
  if (answer !== null) refuseUnanswered(answer);
  return currentOutcome(ctx, request);
}

/** Throws what refuses and changes nothing; codes that come with a durable change are returned, so that it commits. */
async function decide(
  tx: Tx,
  ctx: ReplayContext,
  request: ExecuteReplayRequest,
): Promise<"CALL" | "INVALID_REPLAY_STATE"> {
  const row = await lockOrRefuse(tx, ctx.hostId, request.replayRequestId);
  if (!row) throw new AppError("REQUEST_NOT_FOUND");
  requireHash(row, request.planHash);
  if (row.status === "SUCCEEDED") return "CALL";
  if (!readReplayConfig().enabled) throw new AppError("REPLAY_EXECUTION_PAUSED");
  if (row.validation_mode !== "EXECUTE") throw new AppError("INVALID_REPLAY_STATE");
  if (row.status === "INSTALLING_BARRIER" || row.status === "RUNNING") return retry(tx, ctx, request);
  if (row.status === "READY" || row.status === "AWAITING_APPROVAL") throw new AppError("AUTHORIZATION_DENIED");
  if (row.status !== "APPROVED") throw new AppError("INVALID_REPLAY_STATE");
  requireIndependentApproval(row);
  if (await expireIfOverdue(tx, ctx.hostId, request.replayRequestId)) return "INVALID_REPLAY_STATE";
  const items = await loadItems(tx, ctx.hostId, request.replayRequestId);
  const objection = await checkPlan(tx, ctx.projection, ctx.hostId, row, items, readReplayConfig().excludedEventTypes);
  if (objection) throw new AppError(objection.code, { failureIds: [objection.failureId] });
  await refuseHeld(tx, ctx, row);
  if (!(await commitIntent(tx, ctx.hostId, request.replayRequestId, ctx.actor.personId))) {
    throw new AppError("INVALID_REPLAY_STATE");
  }
  await auditPerson(tx, ctx, request, "EVENT_REPLAY_EXECUTION_REQUESTED");
  return "CALL";
}

async function retry(tx: Tx, ctx: ReplayContext, request: ExecuteReplayRequest): Promise<"CALL"> {
  if (await hasLiveLease(tx, ctx.hostId, request.replayRequestId)) throw new AppError("REPLAY_EXECUTION_IN_PROGRESS");
  await auditPerson(tx, ctx, request, "EVENT_REPLAY_EXECUTION_RETRIED");
  return "CALL";
}

/** Another execution on one of the scopes, or a quarantine that came after planning. Install decides; this spares an intent. */
async function refuseHeld(tx: Tx, ctx: ReplayContext, row: RequestRow): Promise<void> {
  const fence = { hostId: ctx.hostId, replayRequestId: row.replay_request_id, fencingToken: row.fencing_token };
  const held = await findHolder(tx, holderOf(row, fence), scopesOf(row));
  if (held) throw new AppError(held.failureId === null ? "REPLAY_EXECUTION_IN_PROGRESS" : "STALE_PLAN");
}

/** Approval is what the row records of a second person; an approved repair is none (ER-APR-14). */
function requireIndependentApproval(row: RequestRow): void {
  if (row.approved_by === null || row.approved_by === row.requested_by) throw new AppError("AUTHORIZATION_DENIED");
}

/** A refusal is the answer; no answer means that only the durable state knows (ER-API-25). Nothing is sent again. */
function refuseUnanswered(answer: InternalAnswer): void {
  if (answer.kind === "REFUSED") throw new AppError(answer.code, answer.details);
  if (answer.kind === "LOST" || !processEventReplayResponse.safeParse(answer.body).success) {
    throw new AppError("REPLAY_EXECUTION_UNAVAILABLE");
  }
}

async function currentOutcome(ctx: ReplayContext, request: ExecuteReplayRequest): Promise<ExecuteReplayResponse> {
  const { replayRequestId, status, retryable, failureCode } = await answerOf(
    ctx.pool,
    ctx.hostId,
    request.replayRequestId,
  );
  return { replayRequestId, status, retryable, failureCode };
}

/** The answer, or null when it isn't there in time. The call itself goes on. */
async function within<T>(milliseconds: number, called: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds);
  });
  try {
    return await Promise.race([called, late]);
  } finally {
    clearTimeout(timer);
  }
}
