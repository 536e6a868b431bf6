import type { ProcessReplayRequest, ProcessReplayResponse } from "@/server/contracts/replay";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import type { Pool } from "@/server/platform/db/pool";
import { toIsoOrNull } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { claimRequest } from "./claim";
import { Execution } from "./execution";
import { type RequestRow, readRequest } from "./request-repository";
import { EXECUTION, type ExecutionSettings } from "./settings";
import { workerId } from "./worker-id";

export type ProcessDeps = { readonly pool: Pool; readonly projection: ProjectionDefinition };

/**
 * processEventReplay (reference §11.7): runs a committed intent on this request's own thread, by the forwarded token of the
 * person who asked. Machine tokens are denied; user, host and endpoint rule were checked again by the gateway (ER-APR-15).
 */
export async function processEventReplay(
  ctx: ReplayContext,
  request: ProcessReplayRequest,
  settings: ExecutionSettings = EXECUTION,
): Promise<ProcessReplayResponse> {
  if (!ctx.actor.human) throw new AppError("AUTHORIZATION_DENIED");
  return processReplay({ pool: ctx.pool, projection: ctx.projection }, request, settings);
}

/**
 * Accepts only (host, request, hash) of a committed intent (ER-API-09), claims it, and runs barriers, items, drain and end to
 * a durable status, which is the answer. A request that has ended answers with its stored outcome. Nothing is left running
 * when this returns: no listener, timer or thread (ER-ISO-15).
 */
export async function processReplay(
  deps: ProcessDeps,
  request: ProcessReplayRequest,
  settings: ExecutionSettings = EXECUTION,
): Promise<ProcessReplayResponse> {
  const { hostId, replayRequestId, planHash } = request;
  const claimedAt = performance.now();
  const claim = await inTransaction(
    deps.pool,
    "replay-claim",
    async (tx) => {
      const ended = await readRequest(tx, hostId, replayRequestId);
      const over = ended?.status === "SUCCEEDED" || ended?.status === "FAILED";
      if (!over && !readReplayConfig().enabled) throw new AppError("REPLAY_EXECUTION_PAUSED");
      return claimRequest(tx, {
        hostId,
        replayRequestId,
        planHash,
        owner: workerId(),
        leaseSeconds: settings.leaseSeconds,
      });
    },
    { idleTimeoutMs: settings.idleTimeoutMs },
  );
  if (claim.kind === "ENDED") return toAnswer(claim.request);
  const execution = new Execution(deps, claim.request, claim.fence, settings, claimedAt + settings.budgetMs);
  await execution.run();
  return answerOf(deps.pool, hostId, replayRequestId);
}

/** The durable state now. */
export async function answerOf(pool: Pool, hostId: string, replayRequestId: string): Promise<ProcessReplayResponse> {
  const row = await inTransaction(pool, "replay-status", (tx) => readRequest(tx, hostId, replayRequestId), {
    readOnly: true,
  });
  if (!row) throw new AppError("REQUEST_NOT_FOUND");
  return toAnswer(row);
}

export function toAnswer(row: RequestRow): ProcessReplayResponse {
  return {
    replayRequestId: row.replay_request_id,
    status: row.status,
    retryable: row.retryable,
    failureCode: row.failure_code,
    leaseExpiresAt: toIsoOrNull(row.lease_expires_ts),
  };
}
