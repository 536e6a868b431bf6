import type { StatusKey } from "@/components/ui/status";
import { anyOf, personName } from "./replay-words";
import { between } from "./request-times";
import { isInterrupted, type Replay } from "./request-view";

export type Step = {
  key: "planned" | "awaiting" | "approved" | "barrier" | "running" | "end";
  word: string;
  state: "ok" | "now" | "next";
  /** Of the step that is now. */
  status?: StatusKey;
  /** Second line: an instant, then words. */
  at?: string | undefined;
  note?: string | undefined;
};

const KEYS = ["planned", "awaiting", "approved", "barrier", "running", "end"] as const;
const FUTURE = ["Planned", "Awaiting approval", "Approved", "Installing barriers", "Running", "Succeeded"];
const PAST = ["Planned", "Awaited approval", "Approved", "Barriers installed", "Ran", "Succeeded"];

/** First name, or "you": there is little room under a step. */
const short = (person: { name: string | null; isYou: boolean } | null): string | undefined =>
  person ? personName(person).replace(/^(\S+) .*$/, person.name === null ? personName(person) : "$1") : undefined;

/** Which step the request is at, or ended at. */
function place(r: Replay): number {
  switch (r.status) {
    case "PLANNING":
      return 0;
    case "AWAITING_APPROVAL":
    case "READY":
      return 1;
    case "APPROVED":
      return 2;
    case "INSTALLING_BARRIER":
      return 3;
    case "RUNNING":
      return 4;
    case "SUCCEEDED":
      return 5;
    case "FAILED":
      return r.startedTs === null ? 0 : r.barriers.length > 0 || r.attempts.length > 0 ? 4 : 3;
    case "CANCELLED":
    case "EXPIRED":
      return r.approvedTs === null ? 1 : 3;
  }
}

function now(r: Replay): Pick<Step, "word" | "status" | "at" | "note"> {
  const running = r.items.find((i) => i.status === "RUNNING");
  if (isInterrupted(r)) return { word: "Interrupted", status: "held", note: "nobody executes it" };
  if (r.stale) return { word: "Stale", status: "held", note: "needs a new plan" };
  switch (r.status) {
    case "PLANNING":
      return { word: "Planning", status: "running" };
    case "READY":
      return { word: "Preview", status: "closed" };
    case "AWAITING_APPROVAL": {
      const who = anyOf(r.people.eligibleApprovers.map((p) => ({ ...p, name: p.name?.split(" ")[0] ?? null })));
      return { word: "Awaiting approval", status: "waiting", note: who || "nobody seen here may" };
    }
    case "APPROVED":
      return { word: "Approved", status: "waiting", at: r.approvedTs ?? undefined, note: short(r.people.approver) };
    case "INSTALLING_BARRIER":
      return { word: "Installing barriers", status: "running" };
    case "RUNNING":
      return {
        word: r.totals.pending + r.totals.running === 0 ? "Draining" : "Running",
        status: "running",
        note: running ? `item ${running.ordinal + 1} of ${r.transactionCount}` : undefined,
      };
    case "SUCCEEDED":
      return { word: "Succeeded", status: "done", at: r.completedTs ?? undefined };
    case "FAILED":
      return { word: "Failed", status: "failed", at: r.completedTs ?? undefined };
    case "CANCELLED":
      return { word: "Cancelled", status: "closed", at: r.completedTs ?? undefined };
    case "EXPIRED":
      return { word: "Expired", status: "closed", at: r.expiresAt };
  }
}

function past(r: Replay, key: Step["key"]): Pick<Step, "at" | "note"> {
  const last = r.barriers
    .map((b) => b.installedTs)
    .sort()
    .at(-1);
  // A barrier taken over from a quarantine is older than the run.
  const installed = last !== undefined && r.startedTs !== null && last > r.startedTs ? last : undefined;
  if (key === "planned") return { at: r.requestedTs, note: short(r.people.requester) };
  if (key === "awaiting") return { note: between(r.requestedTs, r.approvedTs) };
  if (key === "approved") return { at: r.approvedTs ?? undefined, note: short(r.people.approver) };
  if (key === "barrier") return { note: between(r.startedTs, installed) };
  return { note: between(installed ?? r.startedTs, r.completedTs) };
}

/** The way of a request in six steps: done, where it is or ended, still to come. */
export function stepsOf(r: Replay): Step[] {
  const at = place(r);
  return KEYS.map((key, i) => {
    if (i < at) return { key, word: PAST[i] as string, state: "ok", ...past(r, key) };
    if (i === at) return { key, state: "now", ...now(r) };
    return { key, word: FUTURE[i] as string, state: "next" };
  });
}

/** The same for a narrow screen: "Step 2 of 6: awaiting approval, you or Erin". */
export function stepSentence(steps: readonly Step[]): string {
  const at = steps.findIndex((s) => s.state === "now");
  const step = steps[at];
  if (!step) return "";
  const note = step.note ? `, ${step.note}` : "";
  return `Step ${at + 1} of ${steps.length}: ${step.word.toLowerCase()}${note}`;
}
