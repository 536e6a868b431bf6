"use client";
import Link from "next/link";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useMemo, useState } from "react";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/ui/clock";
import { count, duration, many } from "@/components/ui/format";
import { TableKeys } from "@/components/ui/keyboard";
import { useRowCursor } from "@/components/ui/row-cursor";
import { Failed, Stale, TableLoading } from "@/components/ui/states";
import { requestHref } from "../request/replay-words";
import { RequestFilters } from "./request-filters";
import { RequestTable } from "./request-table";
import { NoRequestMatches, NoRequests } from "./requests-states";
import { isNarrowed, type RequestsView, readRequestsView, writeRequestsView } from "./requests-view";
import { useRequestRows } from "./use-request-rows";

const HEADS = ["What", "Request", "Asked by, why", "Asked", "Progress", "State"];
const KEYS = [
  { keys: ["J", "K"], does: "move" },
  { keys: ["Enter"], does: "open" },
  { keys: ["C"], does: "copy the id" },
  { keys: ["?"], does: "all keys" },
];

function Updated({ at }: { at: number }) {
  const now = useNow();
  return <span>Updated {duration(now - at, 1)} ago</span>;
}

/** Every replay request of the host, newest first, whatever became of it. */
export function RequestsPage() {
  const { hostId } = useViewer();
  const router = useRouter();
  const path = usePathname();
  const params = useSearchParams();
  const view = useMemo(() => readRequestsView(new URLSearchParams(params.toString())), [params]);
  /** Places of the pages gone through, so that Newer leads back the same way; empty after a reload. */
  const [trail, setTrail] = useState<readonly (string | undefined)[]>([]);
  const rows = useRequestRows(view, hostId);
  const { data, items, newer, total, query } = rows;

  const show = (next: RequestsView) => window.history.pushState(null, "", `${path}${writeRequestsView(next)}`);
  const go = (next: RequestsView) => {
    setTrail([]);
    show(next);
  };
  const at = (cursor: string | undefined): RequestsView => {
    const { cursor: _, ...rest } = view;
    return cursor === undefined ? rest : { ...rest, cursor };
  };
  const older = () => {
    if (!data?.nextCursor) return;
    setTrail([...trail, view.cursor]);
    show(at(data.nextCursor));
  };
  const back = () => {
    if (view.cursor === undefined) return;
    setTrail(trail.slice(0, -1));
    show(at(trail.at(-1)));
  };

  const ids = items.map((item) => item.replayRequestId);
  const { current, setCurrent } = useRowCursor(ids, {
    open: (id) => router.push(requestHref(id)),
    copy: (id) => void navigator.clipboard?.writeText(id),
  });

  const problem = query.error ? asProblem(query.error) : undefined;
  const lostPlace = problem?.code === "INVALID_REQUEST" && view.cursor !== undefined;
  const again = () => (lostPlace ? go(at(undefined)) : void query.refetch());
  const waiting = data ? data.counts.waitingForMe + data.counts.mineWaiting + data.counts.notMine : 0;

  return (
    <>
      <div className="ph">
        <div>
          <h1>Requests</h1>
          <div className="sub">
            {data ? (
              <>
                <span>
                  {many(total, "request")}
                  {data.totalCapped ? " or more" : ""}
                  {isNarrowed(view) ? (total === 1 ? " matches" : " match") : ""}
                </span>
                <Link className="link" href="/approvals">
                  {waiting === 0
                    ? "None awaits approval"
                    : `${count(waiting)} ${waiting === 1 ? "awaits" : "await"} approval`}
                </Link>
                <Updated at={query.dataUpdatedAt} />
                {newer > 0 ? (
                  <button className="plain link" type="button" onClick={rows.refresh}>
                    {count(newer)}
                    {rows.newerCapped ? "+" : ""} new since you opened the page, show
                  </button>
                ) : null}
              </>
            ) : null}
          </div>
        </div>
      </div>
      <RequestFilters view={view} go={go} />
      {problem && data ? (
        <Stale onRetry={again}>
          {lostPlace
            ? "This place in the list is gone. Try again shows its first page."
            : `The list could not be read again. ${problem.message}`}{" "}
          The rows below are the last ones read.
        </Stale>
      ) : null}
      {data ? (
        items.length > 0 ? (
          <RequestTable items={items} current={current} onCurrent={setCurrent} />
        ) : isNarrowed(view) ? (
          <NoRequestMatches view={view} go={go} />
        ) : (
          <NoRequests />
        )
      ) : problem ? (
        <Failed
          title="The list could not be read"
          sentence={problem.message}
          kept="Nothing was changed."
          requestId={problem.requestId}
          onRetry={again}
        />
      ) : (
        <TableLoading heads={HEADS} />
      )}
      {data && items.length > 0 ? (
        <div className="tf">
          <span>
            {count(items.length)} of {count(total)} shown, newest first
          </span>
          <span className="row">
            <Button small icon="left" aria-disabled={view.cursor === undefined || undefined} onClick={back}>
              {view.cursor !== undefined && trail.length === 0 ? "Newest" : "Newer"}
            </Button>
            <Button small aria-disabled={data.nextCursor === null || undefined} onClick={older}>
              Older
            </Button>
          </span>
          <TableKeys lines={KEYS} />
        </div>
      ) : null}
    </>
  );
}
