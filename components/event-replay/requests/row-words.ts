import { count, duration, many } from "@/components/ui/format";
import type { ReplayListItem } from "@/server/contracts/replay-list";

/** One request in a line of the inbox, the list or the overview. Every number here is the server's; parts add up to the whole. */

type Sized = Pick<ReplayListItem, "transactionCount" | "scopeCount" | "validationMode">;

const VERBS: Record<ReplayListItem["validationMode"], string> = {
  EXECUTE: "Replay",
  ROLLBACK_DRY_RUN: "Dry run of",
  VALIDATE_ONLY: "Preview of",
};

/** "Replay 10 transactions in 6 scopes"; unordered transactions have no scope to name. */
export function requestTitle(item: Sized): string {
  const where = item.scopeCount > 0 ? ` in ${many(item.scopeCount, "scope")}` : "";
  return `${VERBS[item.validationMode]} ${many(item.transactionCount, "transaction")}${where}`;
}

/** "portal-query, 12 events, 7 selected, 3 added": selected and added make up the transactions of the title. */
export function requestParts(
  item: Pick<
    ReplayListItem,
    "projectionName" | "eventCount" | "selectedTransactionCount" | "addedDependencyTransactionCount"
  >,
): string {
  const added = item.addedDependencyTransactionCount;
  return [
    item.projectionName,
    many(item.eventCount, "event"),
    `${count(item.selectedTransactionCount)} selected`,
    ...(added > 0 ? [`${count(added)} added`] : []),
  ].join(", ");
}

type Counted = Pick<
  ReplayListItem,
  "status" | "validationMode" | "transactionCount" | "succeededCount" | "failedCount" | "approver"
>;

const STARTED: readonly ReplayListItem["status"][] = ["INSTALLING_BARRIER", "RUNNING", "SUCCEEDED", "FAILED"];

/** "6 of 9", and what became of the others; a request that never ran has done none of them. */
export function progressOf(item: Counted): { done: string; rest: string | null } {
  const done = `${count(item.succeededCount)} of ${count(item.transactionCount)}`;
  if (!STARTED.includes(item.status)) return { done, rest: null };
  const left = item.transactionCount - item.succeededCount - item.failedCount;
  const rest = [
    ...(item.failedCount > 0 ? [`${count(item.failedCount)} failed`] : []),
    ...(left > 0 ? [`${count(left)} ${item.status === "FAILED" ? "not run" : "to go"}`] : []),
  ].join(", ");
  return { done, rest: rest || null };
}

/** How a request stands in one short sentence, for the overview. */
export function outcomeOf(item: Counted): string {
  const { done, rest } = progressOf(item);
  switch (item.status) {
    case "SUCCEEDED":
      return item.validationMode === "ROLLBACK_DRY_RUN" ? `${done} would pass, rolled back` : `${done} replayed`;
    case "FAILED":
      return [`${count(item.succeededCount)} done`, rest].filter(Boolean).join(", ");
    case "CANCELLED":
    case "EXPIRED":
      return `${many(item.transactionCount, "transaction")}, nothing ran`;
    case "INSTALLING_BARRIER":
    case "RUNNING":
      return [`${done} done`, rest].filter(Boolean).join(", ");
    default:
      return many(item.transactionCount, "transaction");
  }
}

/** The instant a line of the overview is about: its end, or when it was asked for while it has none. */
export function momentOf(item: Pick<ReplayListItem, "status" | "completedTs" | "expiresAt" | "requestedTs">): string {
  if (item.status === "EXPIRED") return item.completedTs ?? item.expiresAt;
  return item.completedTs ?? item.requestedTs;
}

const URGENT_MS = 3_600_000;

export type Deadline = { words: string; look: "calm" | "urgent" | "past" };

/** What is left until a deadline, by the server's clock; urgent in its last hour. */
export function deadlineOf(expiresAt: string, nowMs: number): Deadline {
  const left = Date.parse(expiresAt) - nowMs;
  if (left <= 0) return { words: "expired", look: "past" };
  return { words: duration(left), look: left < URGENT_MS ? "urgent" : "calm" };
}
