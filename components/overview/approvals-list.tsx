"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { listEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { countOf, openTotal } from "@/components/event-replay/approvals/inbox-view";
import { anyOf, personName, requestHref } from "@/components/event-replay/request/replay-words";
import { Deadline } from "@/components/event-replay/requests/deadline";
import { requestTitle } from "@/components/event-replay/requests/row-words";
import { waitingForMe } from "@/components/shell/inbox-read";
import { count, many } from "@/components/ui/format";
import { Status, StatusGlyph } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import type { ListReplayResponse, ReplayListItem } from "@/server/contracts/replay-list";

const SHOWN = 4;

type Approvers = ListReplayResponse["eligibleApprovers"];

function Row({ item, mine }: { item: ReplayListItem; mine?: Approvers | undefined }) {
  return (
    <li>
      <div className="row between">
        {mine && item.stale ? (
          <Status status="held">Yours, stale</Status>
        ) : (
          // Waiting for someone else: the same glyph in grey.
          <span className={mine ? "st closed" : "st waiting"}>
            <StatusGlyph status="waiting" />
            {mine ? "Yours, for another" : "For you"}
          </span>
        )}
        <span className="sm">
          <Deadline at={item.expiresAt} line="inline" />
        </span>
      </div>
      <Link className="md" href={requestHref(item.replayRequestId)}>
        {requestTitle(item)}
      </Link>
      <p className="sm m">
        {mine && !item.stale ? (
          `${mine.length > 0 ? anyOf(mine) : "Nobody seen here yet"} can approve`
        ) : (
          <>
            Asked by {personName(item.requester)} <Age at={item.requestedTs} units={1} suffix=" ago" />
          </>
        )}
      </p>
    </li>
  );
}

/** "And 7 more of yours, 2 not yours to decide": what the list does not show, so that the numbers add up. */
function rest(counts: ListReplayResponse["counts"], forMe: number, mine: number): string | undefined {
  const parts = [
    [countOf(counts, "WAITING_FOR_ME") - forMe, "more for you"],
    [countOf(counts, "MINE_WAITING") - mine, "more of yours"],
    [countOf(counts, "NOT_MINE"), "not yours to decide"],
  ] as const;
  const left = parts.filter(([n]) => n > 0);
  if (left.length === 0) return undefined;
  return `${forMe + mine > 0 ? "And " : ""}${left.map(([n, words]) => `${count(n)} ${words}`).join(", ")}`;
}

/** What awaits a decision: for the viewer first, then the viewer's own; the others are counted. */
export function ApprovalsList() {
  const { hostId } = useViewer();
  const forMe = useQuery(listEventReplay(waitingForMe(hostId)));
  const counts = forMe.data?.counts;
  const mine = useQuery({
    ...listEventReplay({ hostId, view: "MINE_WAITING", pageSize: SHOWN }),
    enabled: (counts?.mineWaiting ?? 0) > 0,
  });
  if (!forMe.data || !counts) return forMe.isError ? <p className="m">The inbox could not be read.</p> : null;
  const first = forMe.data.items.slice(0, SHOWN);
  const second = counts.mineWaiting > 0 ? (mine.data?.items ?? []).slice(0, SHOWN - first.length) : [];
  const others = rest(counts, first.length, second.length);
  if (openTotal(counts) === 0) return <p className="m none">Nothing waits for a decision.</p>;
  return (
    <>
      {first.length + second.length > 0 ? (
        <ul className="list">
          {first.map((item) => (
            <Row key={item.replayRequestId} item={item} />
          ))}
          {second.map((item) => (
            <Row key={item.replayRequestId} item={item} mine={mine.data?.eligibleApprovers ?? []} />
          ))}
        </ul>
      ) : null}
      {others ? (
        <p className={first.length + second.length > 0 ? "sm m more-line" : "m none"}>
          {first.length + second.length > 0
            ? others
            : `${many(openTotal(counts), "plan awaits", "plans await")} a decision: ${others}`}
        </p>
      ) : null}
    </>
  );
}
