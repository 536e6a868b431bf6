import type { ErrorCode } from "@/server/contracts/errors";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { Tx } from "@/server/platform/db/transaction";
import { auditExecution } from "./audit";
import { quarantine, releaseIfDrained, startDraining } from "./barriers";
import { ownersOfUndone } from "./domain/quarantine";
import { drainNext } from "./drain";
import type { Fence } from "./fence";
import { holderOf } from "./install";
import { loadItems } from "./item-repository";
import { releaseLease } from "./lease";
import { readStandings } from "./plan-check";
import type { ProcessDeps } from "./process-event-replay";
import { finishRequest, type RequestRow } from "./request-repository";
import type { ExecutionSettings } from "./settings";
import type { Step } from "./step";

/**
 * What follows the items: parked work of everything done is drained in source order, one transaction each, and its barriers are
 * released; then the durable end. SUCCEEDED only when every item is, nothing of ours is parked or held, no drain failed and
 * every scope stands at least where the plan leads. `mayGoOn` is asked before each step.
 */
export async function finishExecution(
  step: Step,
  request: RequestRow,
  deps: ProcessDeps,
  fence: Fence,
  settings: ExecutionSettings,
  mayGoOn: () => void,
): Promise<void> {
  const holder = holderOf(request, fence);
  const { partitionId } = request.plan_metadata;
  await step("replay-draining", (tx) => startDraining(tx, holder));
  for (;;) {
    mayGoOn();
    const drained = await step("replay-drain", async (tx) => {
      const result = await drainNext(tx, deps.projection, { ...holder, partitionId });
      if (result.kind === "FAILED") {
        await auditExecution(tx, fence, "EVENT_REPLAY_DEFERRED_FAILED", {
          failureId: result.failureId,
          details: { code: "DEFERRED_PROJECTION_FAILED", transactionId: result.transactionId },
        });
      }
      return result.kind;
    });
    if (drained === "DRAINED" || drained === "FAILED") continue;
    const released = await step("replay-release", (tx) =>
      releaseIfDrained(tx, { ...holder, partitionId, waitMs: settings.installWaitMs }),
    );
    if (released === "RELEASED") break;
  }
  await step("replay-end", (tx) => end(tx, request, fence));
}

/** Scopes of everything undone become quarantines of their own open failures, on the transaction that fails the item. */
export async function quarantineUndone(tx: Tx, request: RequestRow, fence: Fence): Promise<void> {
  const items = await loadItems(tx, fence.hostId, fence.replayRequestId);
  await quarantine(tx, { ...holderOf(request, fence), ownerByScope: ownersOfUndone(items) });
}

async function end(tx: Tx, request: RequestRow, fence: Fence): Promise<void> {
  const failure = await whyFailed(tx, request, fence);
  await finishRequest(tx, fence, failure === null ? "SUCCEEDED" : "FAILED", failure);
  await auditExecution(tx, fence, failure === null ? "EVENT_REPLAY_REQUEST_SUCCEEDED" : "EVENT_REPLAY_REQUEST_FAILED", {
    details: failure === null ? {} : { code: failure.code },
  });
  await releaseLease(tx, fence);
}

type Reasons = { code: ErrorCode | null; message: string | null; undone: number; drain_failed: boolean; held: number };

/** From durable rows alone, so that whoever takes over ends it the same way. Null: it succeeded. */
async function whyFailed(
  tx: Tx,
  request: RequestRow,
  fence: Fence,
): Promise<{ code: ErrorCode; message: string } | null> {
  const { hostId, replayRequestId } = fence;
  const [found] = await tx.query<Reasons>(
    `SELECT (SELECT a.details ->> 'code' FROM event_replay_audit_t a
              WHERE a.host_id = $1 AND a.replay_request_id = $2 AND a.event_name = 'EVENT_REPLAY_ATTEMPT_FAILED'
              ORDER BY a.created_ts, a.audit_id LIMIT 1) AS code,
            (SELECT a.details ->> 'reason' FROM event_replay_audit_t a
              WHERE a.host_id = $1 AND a.replay_request_id = $2 AND a.event_name = 'EVENT_REPLAY_ATTEMPT_FAILED'
              ORDER BY a.created_ts, a.audit_id LIMIT 1) AS message,
            (SELECT count(*)::int FROM event_replay_item_t i
              WHERE i.host_id = $1 AND i.replay_request_id = $2 AND i.status <> 'SUCCEEDED') AS undone,
            EXISTS (SELECT FROM event_replay_audit_t a
              WHERE a.host_id = $1 AND a.replay_request_id = $2 AND a.event_name = 'EVENT_REPLAY_DEFERRED_FAILED') AS drain_failed,
            (SELECT count(*)::int FROM event_replay_barrier_t b
              WHERE b.host_id = $1 AND b.replay_request_id = $2 AND b.released_ts IS NULL) AS held`,
    [hostId, replayRequestId],
  );
  const reasons = found as Reasons;
  if (reasons.held > 0) throw new Error("a request may not end while it holds barriers");
  if (reasons.undone > 0) {
    return { code: reasons.code ?? "PROJECTION_FAILED", message: reasons.message ?? "An item did not project." };
  }
  if (reasons.drain_failed) {
    return {
      code: "DEFERRED_PROJECTION_FAILED",
      message: "Every item projected; work that was parked meanwhile did not.",
    };
  }
  const projected = await readStandings(tx, hostId, request);
  const short = request.plan_metadata.scopes.find(
    ({ scopeType, scopeKey, after }) => (projected.get(scopeId({ type: scopeType, key: scopeKey })) ?? 0) < after,
  );
  return short ? { code: "PROJECTION_FAILED", message: "A scope did not move as planned." } : null;
}
