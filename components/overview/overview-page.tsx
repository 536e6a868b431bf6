"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { getOverview } from "@/components/api/overview";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { useNow } from "@/components/ui/clock";
import { count, duration, many } from "@/components/ui/format";
import { Empty, Failed, LinesLoading, Stale, TableLoading } from "@/components/ui/states";
import { Age } from "@/components/ui/time";
import type { GetOverviewResponse } from "@/server/contracts/overview";
import { ApprovalsList } from "./approvals-list";
import { BlockedScopeTable } from "./blocked-scope-table";
import { CauseTable } from "./cause-table";
import { DemoBar } from "./demo-bar";
import { HealthStrip } from "./health-strip";
import { RecentCaptures } from "./recent-captures";
import { RecoveriesList } from "./recoveries-list";

const CAPTURES_SHOWN = 3;

/** How old the newest reading is, from the time it arrived. */
function Updated({ at }: { at: number }) {
  const now = useNow();
  return <span>Live, updated {duration(now - at, 1)} ago</span>;
}

function Causes({ data }: { data: GetOverviewResponse }) {
  return (
    <section>
      <div className="sec-h">
        <h2>Open failures by cause</h2>
        <span className="m">last 24 h, one bar an hour</span>
        <Link className="push link" href="/event-replay/failures">
          {data.totals.open === 1 ? "The failure" : `All ${count(data.totals.open)} failures`}
        </Link>
      </div>
      <CauseTable causes={data.causes} />
    </section>
  );
}

function NothingOpen({ data }: { data: GetOverviewResponse }) {
  return (
    <Empty
      status="done"
      title="Everything projected"
      foot={
        <>
          Rows of the <Link href="/notifications">notification page</Link> cannot be replayed. They stay there for
          reading.
        </>
      }
    >
      No failure is open on this host.{" "}
      {data.lastResolved ? (
        <>
          The last one was {data.lastResolved.status === "WAIVED" ? "waived" : "resolved"}{" "}
          <Age at={data.lastResolved.resolvedTs} /> ago.{" "}
        </>
      ) : null}
      {data.capture.sentence}
    </Empty>
  );
}

/** Overview: health, how many different problems there are, which scopes are blocked, and what waits for whom. */
export function OverviewPage() {
  const { hostId, demo } = useViewer();
  const query = useQuery(getOverview(hostId));
  const { data } = query;
  const problem = query.error ? asProblem(query.error) : undefined;
  return (
    <>
      {demo ? <DemoBar open={data?.totals.open} /> : null}
      <div className="ph">
        <div>
          <h1>Overview</h1>
          <div className="sub">
            {data ? (
              <>
                <span>
                  {data.totals.open === 0
                    ? "No open failure"
                    : `${many(data.totals.open, "open failure")} with ${many(data.totals.causes, "cause")}`}
                </span>
                <span>
                  {data.blocked.scopes === 0 ? "No scope blocked" : `${many(data.blocked.scopes, "scope")} blocked`}
                </span>
                <Updated at={query.dataUpdatedAt} />
              </>
            ) : null}
          </div>
        </div>
      </div>
      {data && problem ? (
        <Stale onRetry={() => void query.refetch()}>
          The overview could not be read again. {problem.message} What you see is as of{" "}
          <Age at={data.asOf} suffix=" ago." />
        </Stale>
      ) : null}
      {data ? (
        <>
          <HealthStrip data={data} />
          <div className="ov">
            <div>
              {data.totals.open === 0 ? <NothingOpen data={data} /> : <Causes data={data} />}
              {data.blocked.top.length > 0 ? (
                <section>
                  <div className="sec-h">
                    <h2>Blocked scopes</h2>
                    <span className="m">
                      {data.blocked.scopes > data.blocked.top.length
                        ? `the oldest ${data.blocked.top.length}`
                        : "oldest first"}
                      ; an incident opens after {Math.round(data.blocked.thresholdSeconds / 60)} min
                    </span>
                  </div>
                  <BlockedScopeTable scopes={data.blocked.top} />
                </section>
              ) : null}
            </div>
            <div>
              <section>
                <div className="sec-h">
                  <h2>Waiting for approval</h2>
                  <Link className="push link" href="/approvals">
                    Inbox
                  </Link>
                </div>
                <ApprovalsList />
              </section>
              <section>
                <div className="sec-h">
                  <h2>Recent replays</h2>
                  <Link className="push link" href="/event-replay/requests">
                    All requests
                  </Link>
                </div>
                <RecoveriesList />
              </section>
              {data.recentCaptures.length > 0 ? (
                <section>
                  <div className="sec-h">
                    <h2>Recent captures</h2>
                  </div>
                  <RecentCaptures captures={data.recentCaptures.slice(0, CAPTURES_SHOWN)} />
                </section>
              ) : null}
            </div>
          </div>
        </>
      ) : problem ? (
        <Failed
          title="The overview could not be read"
          sentence={problem.message}
          kept="Nothing was changed."
          requestId={problem.requestId}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <>
          <div className="waiting-lines">
            <LinesLoading lines={2} />
          </div>
          <TableLoading heads={["Cause", "Failures", "Newest", "Way out"]} />
        </>
      )}
    </>
  );
}
