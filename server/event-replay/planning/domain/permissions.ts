import type { Permission, ReplayStatus, ValidationMode } from "@/server/contracts/replay";

/** What is known of a request and of the person who looks at it. */
export type DecisionFacts = {
  /** Overdue counts as EXPIRED. */
  readonly status: ReplayStatus;
  readonly validationMode: ValidationMode;
  readonly stale: boolean;
  readonly retryable: boolean;
  readonly isRequester: boolean;
  readonly human: boolean;
  readonly mayApprove: boolean;
  readonly mayExecute: boolean;
  readonly mayCancel: boolean;
  /** The deployment has paused execution. */
  readonly paused: boolean;
};

const ALLOWED: Permission = { allowed: true, reason: null };
const no = (reason: string): Permission => ({ allowed: false, reason });

const STATE: Readonly<Record<ReplayStatus, string>> = {
  PLANNING: "It is still being planned.",
  READY: "It is a preview: nobody approves it and it never runs.",
  AWAITING_APPROVAL: "It awaits the approval of a second person.",
  APPROVED: "It is approved already.",
  INSTALLING_BARRIER: "It is being executed.",
  RUNNING: "It is being executed.",
  SUCCEEDED: "It has succeeded.",
  FAILED: "It has failed. What is still open needs a new plan.",
  CANCELLED: "It was cancelled.",
  EXPIRED: "It expired. Nothing was changed; plan again.",
};
const STALE = "What it was planned from has moved. It has to be planned again.";
const MACHINE = "A machine's token decides nothing.";

/**
 * Whether this person may approve now; the reason says who or what would change a no. A hint for the page: the command checks
 * all of it again (ER-APR-18).
 */
export function mayApprove(facts: DecisionFacts): Permission {
  if (facts.status !== "AWAITING_APPROVAL") return no(STATE[facts.status]);
  if (!facts.human) return no(MACHINE);
  if (facts.isRequester) return no("You asked for it, so someone else decides.");
  if (!facts.mayApprove) return no("Your role may read requests, not approve them.");
  return facts.stale ? no(STALE) : ALLOWED;
}

/** Whether this person may execute, or retry, now. The requester may, once someone else has approved (decision D-08). */
export function mayExecute(facts: DecisionFacts): Permission {
  if (facts.validationMode === "VALIDATE_ONLY" && facts.status === "READY") return no(STATE.READY);
  const resumable = (facts.status === "INSTALLING_BARRIER" || facts.status === "RUNNING") && facts.retryable;
  if (facts.status !== "APPROVED" && !resumable) return no(STATE[facts.status]);
  if (!facts.human) return no(MACHINE);
  if (!facts.mayExecute) return no("Your role may read requests, not execute them.");
  if (facts.paused) return no("Replay execution is paused on this deployment.");
  return facts.stale ? no(STALE) : ALLOWED;
}

/** Whether this person may cancel now. A stale plan may be cancelled like any other that hasn't started. */
export function mayCancel(facts: DecisionFacts): Permission {
  const unstarted = facts.status === "READY" || facts.status === "AWAITING_APPROVAL" || facts.status === "APPROVED";
  if (!unstarted) return no(STATE[facts.status]);
  if (!facts.human) return no(MACHINE);
  return facts.mayCancel ? ALLOWED : no("Your role may read requests, not cancel them.");
}
