import { many } from "@/components/ui/format";
import type { StatusKey } from "@/components/ui/status";
import { personName } from "./replay-words";
import type { Replay } from "./request-view";

type Entry = Replay["history"][number];
export type HistoryLine = {
  key: string;
  status: StatusKey;
  words: string;
  at: string;
  reason: string | null;
  /** The code itself, for an event this page has no words for. */
  code?: string;
};

const BY_PERSON: Record<string, { status: StatusKey; verb: string }> = {
  EVENT_REPLAY_PLAN_CREATED: { status: "waiting", verb: "Planned" },
  EVENT_REPLAY_PLAN_APPROVAL_REQUESTED: { status: "waiting", verb: "Requested" },
  EVENT_REPLAY_PLAN_APPROVED: { status: "done", verb: "Approved" },
  EVENT_REPLAY_REQUEST_CANCELLED: { status: "closed", verb: "Cancelled" },
  EVENT_REPLAY_EXECUTION_REQUESTED: { status: "closed", verb: "Run" },
  EVENT_REPLAY_EXECUTION_RETRIED: { status: "closed", verb: "Retried" },
};

const BY_SYSTEM: Record<string, { status: StatusKey; words: string }> = {
  EVENT_REPLAY_REQUEST_EXPIRED: { status: "closed", words: "Expired" },
  EVENT_REPLAY_WORKER_CLAIMED: { status: "running", words: "An executor took it" },
  EVENT_REPLAY_BARRIER_INSTALLED: { status: "running", words: "Barriers installed" },
  EVENT_REPLAY_ATTEMPT_STARTED: { status: "running", words: "An item started" },
  EVENT_REPLAY_ATTEMPT_FAILED: { status: "failed", words: "An item failed" },
  EVENT_REPLAY_DEFERRED_FAILED: { status: "failed", words: "Parked work failed" },
  EVENT_REPLAY_REQUEST_SUCCEEDED: { status: "done", words: "Succeeded" },
  EVENT_REPLAY_REQUEST_FAILED: { status: "failed", words: "Failed" },
};

const COMMITTED = "EVENT_REPLAY_ATTEMPT_SUCCEEDED";
const STARTED = "EVENT_REPLAY_ATTEMPT_STARTED";
const ENDED = new Set([COMMITTED, "EVENT_REPLAY_ATTEMPT_FAILED"]);

function actorOf(entry: Entry, r: Replay): string {
  const { requester, approver, executor, eligibleApprovers } = r.people;
  const known = [requester, approver, executor, ...eligibleApprovers].find((p) => p?.personId === entry.actorId);
  return personName(known ?? { name: entry.actorName, isYou: false });
}

function line(entry: Entry, r: Replay): Omit<HistoryLine, "key"> {
  const { ts: at, reason } = entry;
  const person = BY_PERSON[entry.event];
  if (person) return { status: person.status, words: `${person.verb} by ${actorOf(entry, r)}`, at, reason };
  const system = BY_SYSTEM[entry.event];
  if (system) return { ...system, at, reason };
  return { status: "closed", words: "Recorded", at, reason, code: entry.event };
}

/**
 * The trace newest first. Commits of items that follow each other are one line with their number; the start of an item
 * is a line only while it has no end; a plan that asks for approval in the same moment is one line.
 */
export function historyOf(r: Replay): HistoryLine[] {
  const lines: HistoryLine[] = [];
  let commits: { at: string; n: number } | undefined;
  const flush = () => {
    if (commits) {
      const words = `${many(commits.n, "item")} committed`;
      lines.push({ key: `commits ${commits.at}`, status: "running", words, at: commits.at, reason: null });
    }
    commits = undefined;
  };
  let ended = false;
  r.history.forEach((entry, i) => {
    if (entry.event === STARTED && ended) {
      ended = false;
      return;
    }
    ended = ENDED.has(entry.event);
    if (entry.event === COMMITTED) {
      commits = { at: commits?.at ?? entry.ts, n: (commits?.n ?? 0) + 1 };
      return;
    }
    flush();
    const twin = r.history.some((h) => h.event === "EVENT_REPLAY_PLAN_APPROVAL_REQUESTED" && h.ts === entry.ts);
    if (entry.event === "EVENT_REPLAY_PLAN_CREATED" && twin) return;
    lines.push({ key: `${entry.ts} ${entry.event} ${i}`, ...line(entry, r) });
  });
  flush();
  return lines;
}
