import { AppError } from "@/server/platform/errors";
import { auditExecution } from "./audit";
import { type BarrierHolder, type Held, installBarriers } from "./barriers";
import type { Fence } from "./fence";
import { releaseLease } from "./lease";
import type { ProcessDeps } from "./process-event-replay";
import { finishRequest, markRunning, type RequestRow } from "./request-repository";
import type { ExecutionSettings } from "./settings";
import type { Step } from "./step";

export function holderOf(request: RequestRow, fence: Fence): BarrierHolder {
  const { projection_name: projectionName, consumer_group: consumerGroup } = request;
  return {
    hostId: fence.hostId,
    requestId: fence.replayRequestId,
    projection: { projectionName, consumerGroup },
  };
}

export const scopesOf = (request: RequestRow) =>
  request.plan_metadata.scopes.map(({ scopeType, scopeKey }) => ({ type: scopeType, key: scopeKey }));

/**
 * Barriers on every scope of the plan and RUNNING, in one commit. Throws REPLAY_EXECUTION_IN_PROGRESS when another execution has
 * one of them (the request stays INSTALLING_BARRIER), PAUSE_TIMEOUT when live work doesn't let go. A quarantine by a failure
 * outside the plan came after planning: the plan is stale, and ends FAILED with nothing installed. Returns whether it runs.
 */
export async function installForRequest(
  step: Step,
  request: RequestRow,
  deps: ProcessDeps,
  fence: Fence,
  settings: ExecutionSettings,
): Promise<boolean> {
  if (!isOwnProjection(request, deps)) throw new AppError("INVALID_REPLAY_STATE");
  const held = await step("replay-install", async (tx): Promise<Held | null> => {
    const installed = await installBarriers(tx, {
      ...holderOf(request, fence),
      partitionId: request.plan_metadata.partitionId,
      scopes: scopesOf(request),
      fencingToken: fence.fencingToken,
      waitMs: settings.installWaitMs,
    });
    if (installed.kind === "HELD") {
      if (installed.failureId !== null) await endStale(tx, fence, installed.failureId);
      return installed;
    }
    await markRunning(tx, fence, installed.epoch);
    await auditExecution(tx, fence, "EVENT_REPLAY_BARRIER_INSTALLED", {
      details: { epoch: installed.epoch, scopes: request.plan_metadata.scopes.length },
    });
    return null;
  });
  if (held === null) return true;
  if (held.failureId !== null) return false;
  throw new AppError("REPLAY_EXECUTION_IN_PROGRESS");
}

/** This process projects the projection that the plan names, or it must not touch it. */
function isOwnProjection(request: RequestRow, { projection }: ProcessDeps): boolean {
  return request.projection_name === projection.projectionName && request.consumer_group === projection.consumerGroup;
}

async function endStale(tx: Parameters<typeof finishRequest>[0], fence: Fence, failureId: string): Promise<void> {
  await finishRequest(tx, fence, "FAILED", {
    code: "STALE_PLAN",
    message: "A scope was quarantined after planning.",
  });
  await auditExecution(tx, fence, "EVENT_REPLAY_REQUEST_FAILED", { failureId, details: { code: "STALE_PLAN" } });
  await releaseLease(tx, fence);
}
