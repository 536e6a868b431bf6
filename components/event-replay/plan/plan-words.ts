import { count, duration, many } from "@/components/ui/format";
import { anyOf } from "../request/replay-words";
import type { Replay } from "../request/request-view";

/** What the plan page says of a preview, as functions of the preview alone. */

/** "Replay 10 transactions in 6 scopes". */
export function planTitle(preview: Replay | undefined): string {
  if (!preview) return "Plan a replay";
  const where = preview.lanes.length > 0 ? ` in ${many(preview.lanes.length, "scope")}` : "";
  return `Replay ${many(preview.transactionCount, "transaction")}${where}`;
}

/** Under "With predecessors": what it adds, once known. */
export function closureHint(preview: Replay | undefined): string {
  if (preview?.strategy !== "DEPENDENCY_CLOSURE") return "Adds what must run first.";
  const added = preview.addedDependencyTransactionCount;
  return added === 0 ? "Adds what must run first. Nothing has to." : `Adds what must run first. ${count(added)} added.`;
}

/** Under "Only the selected": what the preview with predecessors already tells about it. */
export function exactHint(closure: Replay | undefined): string {
  if (closure?.strategy !== "DEPENDENCY_CLOSURE") return "Refused when something must run before them.";
  const added = closure.addedDependencyTransactionCount;
  if (added === 0) return "Nothing must run before them.";
  return added === 1
    ? "Not possible: 1 transaction is open before them."
    : `Not possible: ${count(added)} transactions are open before them.`;
}

/** Over the items: how many were added, and why anything is added at all. */
export function addedSentence(preview: Pick<Replay, "addedDependencyTransactionCount" | "strategy">): string {
  const n = preview.addedDependencyTransactionCount;
  if (n === 0)
    return preview.strategy === "EXACT" ? "exactly the selected" : "all selected; nothing has to run before them";
  return `${count(n)} added because a projection never skips a version`;
}

/** Below the button: what creating does, how long it is good for, who can approve, and what does not happen. */
export function afterCreating(preview: Pick<Replay, "expiresAt" | "requestedTs" | "people">): string {
  const good = duration(Date.parse(preview.expiresAt) - Date.parse(preview.requestedTs), 1);
  const others = preview.people.eligibleApprovers.filter((p) => !p.isYou);
  const who = others.length > 0 ? ` ${anyOf(others, 3)} can approve it; you can't.` : "";
  return `Creates an immutable plan with a hash, good for ${good === "1 d" ? "24 h" : good}.${who} Nothing runs before that, and the failures stay open.`;
}

/** True when nobody but the requester could approve; the plan would wait for a person who has never signed in. */
export const nobodyCanApprove = (preview: Pick<Replay, "people">): boolean =>
  !preview.people.eligibleApprovers.some((p) => !p.isYou);
