import type { ReplayContext } from "@/server/event-replay/replay-context";
import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import type { Fence } from "./fence";
import { workerId } from "./worker-id";

type Facts = {
  readonly failureId?: string;
  readonly barrierId?: string;
  /** Numbers, ids, codes of ours. */
  readonly details?: Readonly<Record<string, unknown>>;
};

const INSERT = `INSERT INTO event_replay_audit_t
  (host_id, audit_id, event_name, actor_type, actor_id, replay_request_id, failure_id, barrier_id, reason, details)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb)`;

/** What an execution did, in the transaction that did it. */
export async function auditExecution(tx: Tx, fence: Fence, event: string, facts: Facts = {}): Promise<void> {
  await tx.execute(
    INSERT,
    [
      fence.hostId,
      newId(),
      event,
      "WORKER",
      workerId(),
      fence.replayRequestId,
      facts.failureId ?? null,
      facts.barrierId ?? null,
      null,
      JSON.stringify(facts.details ?? {}),
    ],
    "audit_execution",
  );
}

/** What a person asked for, with their reason and the hash they saw (ER-APR-10). */
export async function auditPerson(
  tx: Tx,
  ctx: ReplayContext,
  request: { readonly replayRequestId: string; readonly planHash: string; readonly reason: string },
  event: string,
): Promise<void> {
  await tx.execute(INSERT, [
    ctx.hostId,
    newId(),
    event,
    "USER",
    ctx.actor.personId,
    request.replayRequestId,
    null,
    null,
    request.reason,
    JSON.stringify({ planHash: request.planHash }),
  ]);
}
