import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type AuditEvent, audit } from "@/server/governance/audit";
import type { Tx } from "@/server/platform/db/transaction";
import type { Fence } from "./fence";
import { workerId } from "./worker-id";

type Facts = {
  readonly failureId?: string;
  /** Numbers, ids, codes of ours. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** What an execution did, in the transaction that did it. */
export async function auditExecution(tx: Tx, fence: Fence, event: AuditEvent, facts: Facts = {}): Promise<void> {
  const { hostId, replayRequestId } = fence;
  await audit(tx, { hostId, replayRequestId, event, actor: { type: "WORKER", workerId: workerId() }, ...facts });
}

/** What a person asked for, with their reason and the hash they saw (ER-APR-10). */
export async function auditPerson(
  tx: Tx,
  ctx: ReplayContext,
  request: { readonly replayRequestId: string; readonly planHash: string; readonly reason: string },
  event: AuditEvent,
): Promise<void> {
  await audit(tx, {
    hostId: ctx.hostId,
    event,
    actor: { type: "USER", personId: ctx.actor.personId },
    replayRequestId: request.replayRequestId,
    reason: request.reason,
    details: { planHash: request.planHash },
  });
}
