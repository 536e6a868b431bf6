import type { AuditFactName } from "@/server/contracts/audit";

/** Records by what they tell, for the filter. */
export const AUDIT_KINDS = {
  decisions: {
    label: "plans and decisions",
    events: [
      "EVENT_REPLAY_PLAN_CREATED",
      "EVENT_REPLAY_PLAN_APPROVAL_REQUESTED",
      "EVENT_REPLAY_PLAN_APPROVED",
      "EVENT_REPLAY_REQUEST_CANCELLED",
      "EVENT_REPLAY_REQUEST_EXPIRED",
      "EVENT_REPLAY_EXECUTION_REQUESTED",
      "EVENT_REPLAY_EXECUTION_RETRIED",
    ],
  },
  runs: {
    label: "what ran",
    events: [
      "EVENT_REPLAY_WORKER_CLAIMED",
      "EVENT_REPLAY_BARRIER_INSTALLED",
      "EVENT_REPLAY_ATTEMPT_STARTED",
      "EVENT_REPLAY_ATTEMPT_SUCCEEDED",
      "EVENT_REPLAY_ATTEMPT_FAILED",
      "EVENT_REPLAY_DEFERRED_FAILED",
      "EVENT_REPLAY_REQUEST_SUCCEEDED",
      "EVENT_REPLAY_REQUEST_FAILED",
    ],
  },
  refusals: { label: "refused calls", events: ["CALL_REFUSED"] },
  people: {
    label: "sign-in and accounts",
    events: ["PERSON_SIGNED_IN", "PERSON_SIGNED_OUT", "PERSON_ACCOUNTS_LINKED", "PERSON_ACCOUNTS_UNLINKED"],
  },
  exports: { label: "exports", events: ["AUDIT_EXPORTED"] },
} as const;
export type AuditKind = keyof typeof AUDIT_KINDS;

const WORDS: Readonly<Record<string, string>> = {
  EVENT_REPLAY_PLAN_CREATED: "Plan created",
  EVENT_REPLAY_PLAN_APPROVAL_REQUESTED: "Approval asked",
  EVENT_REPLAY_PLAN_APPROVED: "Plan approved",
  EVENT_REPLAY_REQUEST_CANCELLED: "Plan cancelled",
  EVENT_REPLAY_REQUEST_EXPIRED: "Plan expired",
  EVENT_REPLAY_EXECUTION_REQUESTED: "Run asked",
  EVENT_REPLAY_EXECUTION_RETRIED: "Run asked again",
  EVENT_REPLAY_WORKER_CLAIMED: "Run taken up",
  EVENT_REPLAY_BARRIER_INSTALLED: "Scopes held",
  EVENT_REPLAY_ATTEMPT_STARTED: "Attempt started",
  EVENT_REPLAY_ATTEMPT_SUCCEEDED: "Attempt succeeded",
  EVENT_REPLAY_ATTEMPT_FAILED: "Attempt failed",
  EVENT_REPLAY_DEFERRED_FAILED: "Parked work failed",
  EVENT_REPLAY_REQUEST_SUCCEEDED: "Request succeeded",
  EVENT_REPLAY_REQUEST_FAILED: "Request failed",
  EVENT_REPLAY_FAILURE_REOPENED: "Failure reopened",
  CALL_REFUSED: "Call refused",
  AUDIT_EXPORTED: "Audit exported",
  PERSON_SIGNED_IN: "Signed in",
  PERSON_SIGNED_OUT: "Signed out",
  PERSON_ACCOUNTS_LINKED: "Accounts linked",
  PERSON_ACCOUNTS_UNLINKED: "Accounts unlinked",
};

/** What a record tells; one without words of its own reads by its name. */
export function auditWords(event: string): string {
  const words = WORDS[event];
  if (words) return words;
  const plain = event
    .replace(/^EVENT_REPLAY_/, "")
    .replaceAll("_", " ")
    .toLowerCase();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

const FACTS: Partial<Record<AuditFactName, string>> = {
  planHash: "plan",
  strategy: "selection",
  validationMode: "mode",
  fencingToken: "fencing token",
  abandonedAttempts: "attempts left behind",
  epoch: "epoch",
  itemOrdinal: "item",
  attemptNumber: "attempt",
  transactionId: "transaction",
  requestId: "call",
  personA: "account",
  personB: "account",
  linkId: "link",
};

export const factWord = (name: AuditFactName): string => FACTS[name] ?? name;
