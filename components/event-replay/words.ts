import { many } from "@/components/ui/format";
import type { StatusKey } from "@/components/ui/status";
import type { CandidateItem, CauseGroup, FailureCause } from "@/server/contracts/failures";

/** Wire words to the reader's words. States keep their names on the wire; only what stands on the page is here. */

export const POLICY_WORDS: Record<CandidateItem["replayPolicy"], string> = {
  GRAPH_ROOT: "Graph root",
  AGGREGATE_VERSION: "Aggregate version",
  TRANSACTION_ONLY: "Transaction only",
  NOT_REPLAYABLE: "Not replayable",
};

export const STATUS_WORDS: Record<CandidateItem["status"], { status: StatusKey; word: string }> = {
  OPEN: { status: "failed", word: "Open" },
  RESOLVED: { status: "done", word: "Resolved" },
  WAIVED: { status: "closed", word: "Waived" },
};

export type ScopeParts = { type: string; keyText: string };

/** A scope as `Type` and key. An aggregate's key already starts with its type; a graph root is an instance. */
export function scopeParts(scope: { scopeType: "AGGREGATE" | "GRAPH_ROOT"; scopeKey: string }): ScopeParts {
  if (scope.scopeType === "GRAPH_ROOT") return { type: "Instance", keyText: scope.scopeKey };
  const at = scope.scopeKey.indexOf(":");
  return at < 0
    ? { type: "Aggregate", keyText: scope.scopeKey }
    : { type: scope.scopeKey.slice(0, at), keyText: scope.scopeKey.slice(at + 1) };
}

/** "PROJECTION_FAILED 23503": the code with the database's state, as small mono text. */
export function causeCode(cause: FailureCause): string {
  return [cause.code, cause.sqlState].filter(Boolean).join(" ");
}

/** "RoleUserCreatedEvent, portal-query" or "11 event types, 2 projections". */
export function causeWhere(group: CauseGroup, separator = ", "): string {
  const { names, count } = group.eventTypes;
  const types = count === 1 ? (names[0] ?? "1 event type") : many(count, "event type");
  const projections =
    group.projections.length === 1 ? group.projections[0] : many(group.projections.length, "projection");
  return [types, projections].filter(Boolean).join(separator);
}

/** Address of the list narrowed to one cause. */
export function causeHref(key: string): string {
  return `/event-replay/failures?cause=${encodeURIComponent(key)}`;
}

export function failureHref(failureId: string): string {
  return `/event-replay/failures/${failureId}`;
}

export function scopeHref(scope: { scopeType: string; scopeKey: string }): string {
  return `/event-replay/failures?view=flat&scopeType=${scope.scopeType}&scopeKey=${encodeURIComponent(scope.scopeKey)}`;
}
