"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { listEventReplay, type ReplayFilter } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { replayStatusWords, requestHref } from "@/components/event-replay/request/replay-words";
import { momentOf, outcomeOf } from "@/components/event-replay/requests/row-words";
import { Status } from "@/components/ui/status";
import { Age } from "@/components/ui/time";

/** Everything past its approval: what waits to be run, runs, or has ended. */
const recoveries = (hostId: string): ReplayFilter => ({
  hostId,
  statuses: ["APPROVED", "INSTALLING_BARRIER", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"],
  pageSize: 5,
});

/** The latest requests and how each stands or ended. */
export function RecoveriesList() {
  const { hostId } = useViewer();
  const { data, isError } = useQuery(listEventReplay(recoveries(hostId)));
  if (!data) return isError ? <p className="m">The requests could not be read.</p> : null;
  if (data.items.length === 0) return <p className="m none">Nothing was replayed yet.</p>;
  return (
    <ul className="list">
      {data.items.map((item) => {
        const { status, word } = replayStatusWords(item);
        return (
          <li key={item.replayRequestId}>
            <div className="row between">
              <Status status={status}>{word}</Status>
              <span className="sm m">
                <Age at={momentOf(item)} units={1} suffix=" ago" />
              </span>
            </div>
            <Link href={requestHref(item.replayRequestId)}>{outcomeOf(item)}</Link>
            {item.failureCode ? <p className="sm code">{item.failureCode}</p> : null}
          </li>
        );
      })}
    </ul>
  );
}
