import type { Problem } from "@/components/api/problem";
import { isAmbiguous } from "@/components/api/replay";
import { count } from "@/components/ui/format";
import type { StaleReason } from "@/server/contracts/stale-reason";
import { anyOf, personName, replayStatusWords } from "./replay-words";
import { isInterrupted, type Replay } from "./request-view";

export const REASON_MAX = 2_048;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the server refuses them
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** What is wrong with a reason, in the words under its field; undefined when it can be sent. */
export function reasonProblem(text: string): string | undefined {
  const n = text.trim().length;
  if (n === 0) return "Give a reason. It is kept with the decision.";
  if (n > REASON_MAX) return `At most ${count(REASON_MAX)} characters; these are ${count(n)}.`;
  return CONTROL.test(text) ? "It holds characters that cannot be kept." : undefined;
}

export type Check = { ok: boolean; words: string };

const FAILURE_CODES: readonly StaleReason["code"][] = [
  "FAILURE_NOT_OPEN",
  "FAILURE_CHANGED",
  "PAYLOAD_GONE",
  "REPAIR_PROPOSED",
];

/** What the server checked just now, good and bad, beside the decision it is for. */
export function checksOf(r: Replay): Check[] {
  const codes = r.staleReasons.map((s) => s.code);
  const failures = !codes.some((c) => FAILURE_CODES.includes(c));
  const n = r.transactionCount;
  const checks: Check[] = [
    { ok: r.planHash !== null, words: "The stored plan has the hash on this page" },
    codes.includes("SCOPE_MOVED")
      ? { ok: false, words: "A scope has moved since planning" }
      : { ok: true, words: "No scope has moved since planning" },
    failures
      ? {
          ok: true,
          words: n === 1 ? "It is open, its bytes are present" : `All ${count(n)} are open, all bytes present`,
        }
      : { ok: false, words: "Not everything is open and as planned" },
  ];
  if (codes.includes("REGISTRY_CHANGED")) checks.push({ ok: false, words: "The policy registry has changed" });
  if (r.repairId !== null) {
    const ok = !codes.includes("REPAIR_CHANGED");
    checks.push({ ok, words: ok ? "The bound repair is approved" : "The bound repair is not approved any more" });
  }
  if (r.status === "AWAITING_APPROVAL") {
    const { isYou } = r.people.requester;
    checks.push({ ok: !isYou, words: isYou ? "You are the requester" : "You are not the requester" });
  }
  return checks;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Why the viewer can't approve, in the server's words, and for the requester who can (ER-UI-17). Never by role. */
export function whyNotApprove(r: Replay): string {
  const why = r.permissions.approve.reason ?? "You may not approve it.";
  if (r.status !== "AWAITING_APPROVAL" || r.stale) return why;
  const others = r.people.eligibleApprovers.filter((p) => !p.isYou);
  if (others.length === 0) return `${why} Nobody else seen on this host may approve it yet.`;
  return `${why} ${capital(anyOf(others, 3))} can.`;
}

/** Who waits for whom, over the decision. */
export function decisionHead(r: Replay): string {
  if (r.permissions.approve.allowed) return "Your decision";
  return r.stale ? "Nobody can approve it" : "Waits for a second person";
}

export type Denial = { sentence: string; advice: string; code: string; requestId?: string | undefined };

export type Decision = "approve" | "cancel" | "execute";

const NOT_DONE: Record<Decision, string> = { approve: "Not approved.", cancel: "Not cancelled.", execute: "Not run." };

/** A refused or lost command in safe words, with what to do about it. Nothing that came as text is shown (ER-UI-05). */
export function denialOf(decision: Decision, problem: Problem, r: Replay): Denial {
  const refused = isAmbiguous(problem) ? "" : `${NOT_DONE[decision]} `;
  const base = { sentence: `${refused}${problem.message}`, code: problem.code, requestId: problem.requestId };
  switch (problem.code) {
    case "STALE_PLAN":
      return { ...base, advice: "The page was read again: what has moved stands there." };
    case "INVALID_REPLAY_STATE":
      return { ...base, advice: `The page was read again. State now: ${replayStatusWords(r).word.toLowerCase()}.` };
    case "REPLAY_EXECUTION_IN_PROGRESS":
      return { ...base, advice: "It stays approved. Try when that execution has ended." };
    case "OFFLINE":
    case "UNREADABLE":
    case "INTERNAL":
      return { ...base, advice: "The state on this page is read again. A decision made twice counts once." };
    case "UNAUTHENTICATED":
      return { ...base, advice: "Sign in in another tab; what you typed stays here." };
    default:
      return { ...base, advice: "" };
  }
}

/** "Alice and the audit log read it." */
export function readersOf(r: Replay): string {
  const { requester } = r.people;
  if (requester.isYou) return "Whoever opens this request reads it, and the audit log keeps it.";
  return `${capital(personName(requester))} and the audit log read it.`;
}

/** What Retry goes on with: "Retry from item 7 of 10". */
export function retryLabel(r: Replay): string {
  const next = r.items.find((i) => i.status !== "SUCCEEDED");
  return next ? `Retry from item ${next.ordinal + 1} of ${count(r.transactionCount)}` : "Retry the drain";
}

/** Retry is offered when the server says that nobody executes the request any more, and only then (ER-UI-21). */
export const offersRetry = (r: Replay): boolean =>
  (r.status === "INSTALLING_BARRIER" || r.status === "RUNNING") && isInterrupted(r);
