import { count, many } from "@/components/ui/format";
import type { GetReplayResponse } from "@/server/contracts/replay";
import { personName } from "./replay-words";

/** What the request page says, as functions of the request alone: no clock, no browser. */
export type Replay = GetReplayResponse;

const started = (r: Pick<Replay, "startedTs">): boolean => r.startedTs !== null;

/** A run that nobody executes any more. The moment between the intent and its claim, 3 s, is no interruption. */
const CLAIM_MS = 3_000;
export function isInterrupted(r: Pick<Replay, "retryable" | "startedTs" | "asOf">): boolean {
  return r.retryable && (r.startedTs === null || Date.parse(r.asOf) - Date.parse(r.startedTs) > CLAIM_MS);
}

/** Undecided or unstarted. */
export const isUnstarted = (r: Pick<Replay, "status">): boolean =>
  r.status === "READY" || r.status === "AWAITING_APPROVAL" || r.status === "APPROVED";

export const isWorking = (r: Pick<Replay, "status">): boolean =>
  r.status === "INSTALLING_BARRIER" || r.status === "RUNNING";

/** Sentence start: "you" becomes "You". */
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const inScopes = (r: Replay): string => (r.lanes.length > 0 ? ` in ${many(r.lanes.length, "scope")}` : "");

export function titleOf(r: Replay): string {
  const n = many(r.transactionCount, "transaction");
  if (r.status === "SUCCEEDED" || (r.status === "FAILED" && started(r))) {
    return `${count(r.totals.succeeded)} of ${n} recovered`;
  }
  return r.validationMode === "VALIDATE_ONLY" ? `Preview: ${n}${inScopes(r)}` : `Replay ${n}${inScopes(r)}`;
}

/** "6 succeeded, 1 running, 3 waiting, 0 failed. Together 10." The parts add up to the whole. */
export function totalsSentence(r: Pick<Replay, "totals" | "transactionCount">): { bold: string; rest: string } {
  const { succeeded, running, pending, failed } = r.totals;
  return {
    bold: `${count(succeeded)} succeeded`,
    rest: `, ${count(running)} running, ${count(pending)} waiting, ${count(failed)} failed. Together ${count(r.transactionCount)}.`,
  };
}

/** The first part is set in bold; together they are the sentence the page turns on. */
export type Lead = { bold: string; rest: string };

const how = (n: number) => (n > 1 ? " unchanged, one after another, stopping at the first failure." : " unchanged.");

function waiting(r: Replay): Lead {
  const { requester, approver } = r.people;
  if (r.status === "APPROVED") {
    if (r.stale) return { bold: "It was approved, and has gone stale.", rest: " It never started and never will." };
    const by = approver ? capital(personName(approver)) : "A second person";
    return { bold: `${by} approved it.`, rest: " Nothing has started: somebody who may run it starts it here." };
  }
  const asks = requester.isYou ? " asked to replay " : " asks to replay ";
  return {
    bold: capital(personName(requester)),
    rest: `${asks}${many(r.transactionCount, "failed transaction")}${how(r.transactionCount)}`,
  };
}

function working(r: Replay): Lead {
  if (isInterrupted(r)) {
    return {
      bold: "The execution was interrupted.",
      rest: ` ${count(r.totals.succeeded)} of ${count(r.transactionCount)} succeeded and stay. Nothing goes on by itself: somebody who may run it can retry it here.`,
    };
  }
  if (r.status === "INSTALLING_BARRIER") {
    return {
      bold: "Barriers are being installed",
      rest: ` on ${many(r.lanes.length, "scope")}. Live work of these scopes is parked from then on; nothing is projected yet.`,
    };
  }
  if (r.totals.succeeded === r.transactionCount) {
    return { bold: `All ${count(r.transactionCount)} succeeded.`, rest: " Parked live work drains in source order." };
  }
  return totalsSentence(r);
}

function succeeded(r: Replay): Lead {
  const n = r.lanes.length;
  const { drained: ran, failed: gaps } = r.deferred;
  const drained =
    (ran > 0 ? ` ${many(ran, "parked live transaction")} drained in order.` : "") +
    (gaps > 0
      ? ` ${many(gaps, "parked live transaction")} could not run past another open failure and ${gaps === 1 ? "is a failure" : "are failures"} now.`
      : "");
  const otherwise = r.lanes.filter((l) => l.verdict !== "AS_PLANNED" && l.verdict !== "MOVED_ON").length;
  const on = r.lanes.filter((l) => l.verdict === "MOVED_ON").length;
  if (n === 0) {
    return { bold: `All ${many(r.transactionCount, "transaction")} committed.`, rest: " No scope orders them." };
  }
  if (otherwise > 0) {
    return {
      bold: "Everything was committed as planned.",
      rest: `${drained} ${many(otherwise, "scope")} of ${count(n)} ${otherwise === 1 ? "stands" : "stand"} elsewhere by now.`,
    };
  }
  const moved = n === 1 ? "The scope moved exactly as planned" : `All ${count(n)} scopes moved exactly as planned`;
  const since =
    on > 0
      ? `, and ${on === n ? (n === 1 ? "it has" : "all have") : `${count(on)} ${on === 1 ? "has" : "have"}`} moved on since`
      : "";
  return { bold: `${moved}${since}.`, rest: `${drained}${laterVersions(r)}` };
}

/** Commands on a scope are taken again once nothing of it waits; versions after the plan's may be failures of their own. */
function laterVersions(r: Replay): string {
  const behind = r.lanes.filter((l) => l.appendedVersion !== null && l.appendedVersion > (l.nowVersion ?? 0)).length;
  if (behind === 0) return " New commands are taken again.";
  const which = r.lanes.length === 1 ? "It has" : `${count(behind)} of them ${behind === 1 ? "has" : "have"}`;
  return ` ${which} later versions that are not projected; while failures of ${behind === 1 ? "it" : "them"} are open, commands on ${behind === 1 ? "it" : "them"} are refused.`;
}

function failed(r: Replay): Lead {
  if (!started(r)) return { bold: "Planning failed.", rest: " Nothing was changed; the failures stay open." };
  const item = r.items.find((i) => i.status === "FAILED");
  const { succeeded: ok, pending } = r.totals;
  const kept = ok === 0 ? "Nothing was projected" : `${count(ok)} succeeded and stay`;
  const rest = pending === 0 ? "" : `, ${count(pending)} did not run`;
  return {
    bold: item ? `Item ${item.ordinal + 1} failed.` : "It ended early.",
    rest: ` ${kept}${rest}. What did not succeed is still open and needs a new plan.`,
  };
}

/** The sentence the page turns on. */
export function leadOf(r: Replay): Lead {
  switch (r.status) {
    case "PLANNING":
      return { bold: "The plan is being made.", rest: " Nothing runs until a second person has approved it." };
    case "READY":
      return {
        bold: "This is a preview.",
        rest: ` It shows what a replay of ${many(r.transactionCount, "transaction")} would run. Nobody approves it, it holds nothing and never runs.`,
      };
    case "AWAITING_APPROVAL":
    case "APPROVED":
      return waiting(r);
    case "INSTALLING_BARRIER":
    case "RUNNING":
      return working(r);
    case "SUCCEEDED":
      return succeeded(r);
    case "FAILED":
      return failed(r);
    case "CANCELLED": {
      const by = endedBy(r);
      return {
        bold: by ? `Cancelled by ${by}.` : "Cancelled.",
        rest: " It never started and changed nothing; its failures stay as they are.",
      };
    }
    case "EXPIRED":
      return {
        bold: r.approvedTs ? "It expired before anybody ran it." : "It expired before anybody approved it.",
        rest: " It changed nothing; its failures stay as they are.",
      };
  }
}

/** Who cancelled, from the trace. */
function endedBy(r: Replay): string | undefined {
  const entry = r.history.find((h) => h.event === "EVENT_REPLAY_REQUEST_CANCELLED");
  if (!entry) return undefined;
  const known = [r.people.requester, r.people.approver, ...r.people.eligibleApprovers].find(
    (p) => p?.personId === entry.actorId,
  );
  return known ? personName(known) : (entry.actorName ?? undefined);
}

/** Scopes that an early end left held, each by its own open failure. */
export const quarantined = (r: Replay) => r.barriers.filter((b) => b.state === "QUARANTINED" && b.releasedTs === null);

/** Failures a new plan would take: what was selected here and is still open. */
export const openSelection = (r: Replay): string[] =>
  r.items.filter((i) => !i.addedDependency && i.failureStatus === "OPEN").map((i) => i.failureId);

/** Live work appended after what the plan writes; it waits until the plan has run. */
export const appendedLater = (lane: Pick<Replay["lanes"][number], "appendedVersion" | "afterVersion">): number =>
  lane.appendedVersion === null ? 0 : Math.max(0, lane.appendedVersion - lane.afterVersion);

/** "4 graph roots, 2 aggregates". */
export function scopeKinds(lanes: readonly Pick<Replay["lanes"][number], "scopeType">[]): string {
  const roots = lanes.filter((l) => l.scopeType === "GRAPH_ROOT").length;
  const parts = [
    roots > 0 ? many(roots, "graph root") : "",
    lanes.length > roots ? many(lanes.length - roots, "aggregate") : "",
  ];
  return parts.filter(Boolean).join(", ") || "nothing is ordered";
}

/** First barrier in, last barrier out: how long live work of the scopes was held. Undefined while any is held. */
export function heldSpan(r: Pick<Replay, "barriers">): { from: string; to: string } | undefined {
  const first = r.barriers.map((b) => b.installedTs).sort()[0];
  const out = r.barriers.map((b) => b.releasedTs);
  if (first === undefined || out.includes(null)) return undefined;
  return { from: first, to: [...(out as string[])].sort().at(-1) as string };
}
