import type { ReactNode } from "react";
import { bytes, count, duration, many } from "@/components/ui/format";
import { Status, type StatusKey } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import type { GetOverviewResponse } from "@/server/contracts/overview";

const CAPTURE: Record<GetOverviewResponse["capture"]["state"], { status: StatusKey; word: string }> = {
  HEALTHY: { status: "done", word: "Healthy" },
  DEGRADED: { status: "held", word: "Behind" },
  STOPPED: { status: "failed", word: "Stopped" },
};

const ARCHIVE: Record<GetOverviewResponse["archive"]["state"], StatusKey | undefined> = {
  OK: undefined,
  SOFT: "held",
  HARD: "failed",
};

const lag = (seconds: number) => (seconds < 10 ? `${seconds.toFixed(1)} s` : duration(seconds * 1000));

function Figure({ name, value, sub }: { name: string; value: ReactNode; sub: ReactNode }) {
  return (
    <div>
      <span className="k">{name}</span>
      <span className="v">{value}</span>
      <span className="s">{sub}</span>
    </div>
  );
}

function OpenFigure({ data }: { data: GetOverviewResponse }) {
  const { open, openExecutable, openDiagnostic } = data.totals;
  const value = open === 0 ? <Status status="done">None</Status> : <Status status="failed">{count(open)}</Status>;
  const sub =
    open === 0
      ? `${count(data.totals.resolved)} resolved so far`
      : `${count(openExecutable)} replayable, ${count(openDiagnostic)} evidence`;
  return <Figure name="Open failures" value={value} sub={sub} />;
}

function BlockedFigure({ blocked }: { blocked: GetOverviewResponse["blocked"] }) {
  const minutes = Math.round(blocked.thresholdSeconds / 60);
  if (blocked.scopes === 0) {
    return (
      <Figure
        name="Blocked scopes"
        value={<Status status="done">None</Status>}
        sub={`An incident opens after ${minutes} min`}
      />
    );
  }
  const number = `${count(blocked.scopes)}${blocked.scopesCapped ? "+" : ""}`;
  return (
    <Figure
      name="Blocked scopes"
      value={
        <Status status={blocked.incident ? "failed" : "held"}>
          {blocked.incident ? `${number}, incident` : number}
        </Status>
      }
      sub={`${count(blocked.incidentScopes)} older than ${minutes} min`}
    />
  );
}

/** Four figures: does capture work, what is open, what is blocked, how full the archive is. */
export function HealthStrip({ data }: { data: GetOverviewResponse }) {
  const capture = CAPTURE[data.capture.state];
  const archive = ARCHIVE[data.archive.state];
  const used = `${bytes(data.archive.bytesUsed)} of ${bytes(data.archive.hardBytes)}`;
  return (
    <div className="nums page">
      <Figure
        name="Capture"
        value={<Status status={capture.status}>{capture.word}</Status>}
        sub={`Outbox lag ${lag(data.capture.outboxLagSeconds)}, ${count(data.capture.outboxPending)} waiting`}
      />
      <OpenFigure data={data} />
      <BlockedFigure blocked={data.blocked} />
      <Figure
        name="Archive, all hosts"
        value={archive ? <Status status={archive}>{used}</Status> : used}
        sub={`Warns at ${bytes(data.archive.softBytes)}`}
      />
      <Figure
        name="Resolved"
        value={count(data.totals.resolved)}
        sub={
          data.lastResolved ? (
            <Age at={data.lastResolved.resolvedTs} suffix=" ago" />
          ) : (
            many(data.totals.waived, "waived", "waived")
          )
        }
      />
    </div>
  );
}
