import type { StatusKey } from "@/components/ui/status";
import type { ReplayStatus, SelectionStrategy, ValidationMode } from "@/server/contracts/replay";

/** Wire words of requests to the reader's words; shared by the plan, the request, the inbox and the list. */

export const REPLAY_STATUS_WORDS: Record<ReplayStatus, { status: StatusKey; word: string }> = {
  PLANNING: { status: "running", word: "Planning" },
  READY: { status: "closed", word: "Preview" },
  AWAITING_APPROVAL: { status: "waiting", word: "Awaiting approval" },
  APPROVED: { status: "waiting", word: "Approved, waits to be run" },
  INSTALLING_BARRIER: { status: "running", word: "Installing barriers" },
  RUNNING: { status: "running", word: "Running" },
  SUCCEEDED: { status: "done", word: "Succeeded" },
  FAILED: { status: "failed", word: "Failed" },
  CANCELLED: { status: "closed", word: "Cancelled" },
  EXPIRED: { status: "closed", word: "Expired" },
};

type Standing = { status: ReplayStatus; stale?: boolean; retryable?: boolean };

/** Glyph and word of a request: stale and interrupted ones are not what their status alone would say. */
export function replayStatusWords(request: Standing): { status: StatusKey; word: string } {
  if (request.stale && !request.retryable) return { status: "held", word: "Stale" };
  if (request.retryable) return { status: "held", word: "Interrupted" };
  return REPLAY_STATUS_WORDS[request.status];
}

export const STRATEGY_WORDS: Record<SelectionStrategy, string> = {
  EXACT: "Exactly these",
  DEPENDENCY_CLOSURE: "With predecessors",
};

export const MODE_WORDS: Record<ValidationMode, string> = {
  VALIDATE_ONLY: "Preview, runs nothing",
  ROLLBACK_DRY_RUN: "Dry run, rolled back",
  EXECUTE: "Execute",
};

/** Address of a request: what the requester hands over and the approver opens. */
export function requestHref(replayRequestId: string): string {
  return `/event-replay/requests/${replayRequestId}`;
}

type Person = { name: string | null; isYou: boolean };

/** A person in a sentence: "you" for the viewer, else the name as last seen. Names are for display alone. */
export function personName(person: Person): string {
  return person.isYou ? "you" : (person.name ?? "someone not seen here yet");
}

/** "Bob Lindqvist", "Bob or Erin", "Bob, Erin or 3 more"; empty for nobody. */
export function anyOf(people: readonly Person[], most = 2): string {
  const names = [...people].sort((a, b) => Number(b.isYou) - Number(a.isYou)).map(personName);
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} or ${rest} more`;
  return shown.length < 2 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}
