import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";

/** What the record tells; names are the published ones (reference §7) and the console's own. */
export type AuditEvent =
  | "EVENT_REPLAY_PLAN_CREATED"
  | "EVENT_REPLAY_PLAN_APPROVAL_REQUESTED"
  | "EVENT_REPLAY_PLAN_APPROVED"
  | "EVENT_REPLAY_REQUEST_CANCELLED"
  | "EVENT_REPLAY_REQUEST_EXPIRED"
  | "EVENT_REPLAY_EXECUTION_REQUESTED"
  | "EVENT_REPLAY_EXECUTION_RETRIED"
  | "EVENT_REPLAY_WORKER_CLAIMED"
  | "EVENT_REPLAY_BARRIER_INSTALLED"
  | "EVENT_REPLAY_ATTEMPT_STARTED"
  | "EVENT_REPLAY_ATTEMPT_SUCCEEDED"
  | "EVENT_REPLAY_ATTEMPT_FAILED"
  | "EVENT_REPLAY_DEFERRED_FAILED"
  | "EVENT_REPLAY_REQUEST_SUCCEEDED"
  | "EVENT_REPLAY_REQUEST_FAILED"
  | "PERSON_SIGNED_IN"
  | "PERSON_SIGNED_OUT"
  | "PERSON_ACCOUNTS_LINKED"
  | "PERSON_ACCOUNTS_UNLINKED"
  | "CALL_REFUSED"
  | "AUDIT_EXPORTED";

export type AuditRecord = {
  readonly hostId: string;
  readonly event: AuditEvent;
  /** A person's id; the process that executes, by its identity; or SYSTEM: what nobody did, such as expiry. */
  readonly actor:
    | { readonly type: "USER"; readonly personId: string }
    | { readonly type: "WORKER"; readonly workerId: string }
    | { readonly type: "SYSTEM" };
  readonly replayRequestId?: string;
  readonly failureId?: string;
  readonly reason?: string;
  /** Ids, digests, numbers and codes of ours; never a value of an event. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** Failure ids one record may name (reference §7). */
const MAX_FAILURE_IDS = 500;

/** Writes one record in the transaction of what it tells: neither exists without the other (ER-APR-17). */
export async function audit(tx: Tx, record: AuditRecord): Promise<void> {
  const ids = record.details?.failureIds;
  if (Array.isArray(ids) && ids.length > MAX_FAILURE_IDS) throw new Error("an audit record names at most 500 failures");
  await tx.execute(
    `INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id, replay_request_id, failure_id, reason, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)`,
    [
      record.hostId,
      newId(),
      record.event,
      record.actor.type,
      actorIdOf(record.actor),
      record.replayRequestId ?? null,
      record.failureId ?? null,
      record.reason ?? null,
      JSON.stringify(record.details ?? {}),
    ],
    "audit",
  );
}

function actorIdOf(actor: AuditRecord["actor"]): string {
  if (actor.type === "USER") return actor.personId;
  return actor.type === "WORKER" ? actor.workerId : "event-admin";
}
