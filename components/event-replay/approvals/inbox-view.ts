import { count, many } from "@/components/ui/format";
import type { ListReplayResponse, ReplayListItem } from "@/server/contracts/replay-list";
import { anyOf } from "../request/replay-words";

/** The inbox as sections. Who may decide is the server's word alone: nothing here knows a role. */

export type InboxView = "WAITING_FOR_ME" | "MINE_WAITING" | "NOT_MINE";
export type InboxCounts = ListReplayResponse["counts"];

export type InboxSection = {
  view: InboxView;
  heading: string;
  hint: string;
  /** Head of the last column. */
  last: string;
  /** Said in place of rows. */
  none: string;
};

export const INBOX_SECTIONS: readonly InboxSection[] = [
  {
    view: "WAITING_FOR_ME",
    heading: "Waiting for you",
    hint: "soonest deadline first",
    last: "Action",
    none: "Nothing waits for your decision.",
  },
  {
    view: "MINE_WAITING",
    heading: "Yours, waiting for others",
    hint: "you asked, so someone else decides",
    last: "Who can decide",
    none: "Nothing that you asked for waits for a decision.",
  },
  {
    view: "NOT_MINE",
    heading: "Not yours to decide",
    hint: "listed so that nothing waits unseen",
    last: "Why not you",
    none: "No other plan waits for a decision.",
  },
];

const COUNTED: Record<InboxView, keyof InboxCounts> = {
  WAITING_FOR_ME: "waitingForMe",
  MINE_WAITING: "mineWaiting",
  NOT_MINE: "notMine",
};

export const countOf = (counts: InboxCounts, view: InboxView): number => counts[COUNTED[view]];

/** Everything on the host that awaits a decision: the three sections are all of it. */
export const openTotal = (counts: InboxCounts): number => counts.waitingForMe + counts.mineWaiting + counts.notMine;

/** The counts of the newest answer, so that the numbers of one page are of one moment. */
export function newestCounts(
  answers: readonly (Pick<ListReplayResponse, "asOf" | "counts"> | undefined)[],
): InboxCounts | undefined {
  const known = answers.filter((answer) => answer !== undefined);
  return known.reduce<(typeof known)[number] | undefined>((a, b) => (a && a.asOf >= b.asOf ? a : b), undefined)?.counts;
}

/** The head of the page: what waits for whom; nothing when nothing waits, which the page then says at length. */
export function inboxFacts(counts: InboxCounts): string[] {
  const { waitingForMe, mineWaiting, notMine } = counts;
  if (openTotal(counts) === 0) return [];
  return [
    waitingForMe === 0
      ? "None waits for you"
      : `${count(waitingForMe)} ${waitingForMe === 1 ? "waits" : "wait"} for you`,
    mineWaiting === 0
      ? "None of yours waits"
      : `${count(mineWaiting)} of yours ${mineWaiting === 1 ? "waits" : "wait"} for others`,
    ...(notMine > 0 ? [`${count(notMine)} not yours to decide`] : []),
  ];
}

/** "8 open on this host: 3 for you, 2 of yours, 3 not yours to decide". */
export function inboxSum(counts: InboxCounts): string {
  const { waitingForMe, mineWaiting, notMine } = counts;
  return `${many(openTotal(counts), "plan awaits", "plans await")} a decision on this host: ${count(waitingForMe)} for you, ${count(mineWaiting)} of yours, ${count(notMine)} not yours to decide`;
}

/** Who may decide the viewer's own plans; when nobody seen here may, what has to happen first. */
export function whoDecides(approvers: ListReplayResponse["eligibleApprovers"]): string {
  return anyOf(approvers) || "Nobody seen here yet: a second person who may approve has to sign in";
}

const STALE = "What it was planned from has moved: nobody can approve it. Cancel it and plan again.";

/**
 * Why the viewer does not decide this one: the server's own reason, unchanged. One's own plan that went stale says that
 * instead, since waiting for others would be in vain.
 */
export function whyNotYou(item: Pick<ReplayListItem, "approve" | "stale" | "requester">): string {
  if (item.stale && item.requester.isYou) return STALE;
  return item.approve.reason ?? "The server gives no reason.";
}
