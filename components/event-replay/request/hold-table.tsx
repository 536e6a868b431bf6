"use client";
import Link from "next/link";
import { Button } from "@/components/ui/button";
import { count, many } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { Status, type StatusKey } from "@/components/ui/status";
import { ExactTime } from "@/components/ui/time";
import { ScopeLabel } from "../scope-label";
import { failureHref } from "../words";
import { appendedLater, type Replay } from "./request-view";
import { useShown } from "./use-shown";

type Barrier = Replay["barriers"][number];

const STATE: Record<Barrier["state"], { status: StatusKey; word: string }> = {
  INSTALLING: { status: "running", word: "Installing" },
  ACTIVE: { status: "running", word: "Active" },
  DRAINING: { status: "running", word: "Draining" },
  QUARANTINED: { status: "held", word: "Quarantined" },
};

const kind = (scopeType: string) => (scopeType === "GRAPH_ROOT" ? "Graph root" : "Aggregate");

function More({ hidden, all }: { hidden: number; all: () => void }) {
  if (hidden === 0) return null;
  return (
    <div className="tf">
      <Button small onClick={all}>
        Show {count(hidden)} more scopes
      </Button>
    </div>
  );
}

/** Before it runs: which scopes it will hold, how far each moves, what already waits behind it. */
export function WillHold({ request: r }: { request: Replay }) {
  const { shown, hidden, all } = useShown(r.lanes);
  if (r.lanes.length === 0) return null;
  return (
    <section>
      <div className="sec-h">
        <h2>{r.validationMode === "VALIDATE_ONLY" ? "What it would hold" : "What it will hold"}</h2>
        <span className="m">only while it runs; live work is parked and drained in order</span>
      </div>
      <div className="tw scroll">
        <table className="rec tight">
          <caption className="vh">Scopes it holds while it runs</caption>
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col">Kind</th>
              <th scope="col" className="r">
                Now at
              </th>
              <th scope="col" className="r">
                Planned
              </th>
              <th scope="col" className="r">
                Appended later
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((lane) => (
              <tr key={`${lane.scopeType} ${lane.scopeKey}`}>
                <td>
                  <ScopeLabel scope={lane} copy />
                </td>
                <td className="nw" data-l="Kind">
                  {kind(lane.scopeType)}
                </td>
                <td className="r" data-l="Now at">
                  {lane.nowVersion ?? "–"}
                </td>
                <td className="r nw" data-l="Planned">
                  {lane.beforeVersion ?? "–"} → {lane.afterVersion}
                </td>
                <td className="r" data-l="Appended later">
                  {lane.appendedVersion === null ? "–" : count(appendedLater(lane))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More hidden={hidden} all={all} />
    </section>
  );
}

function HeldBy({ barrier }: { barrier: Barrier }) {
  if (barrier.quarantineFailureId === null) return <>This request</>;
  return (
    <span>
      Failure{" "}
      <Link className="link" href={failureHref(barrier.quarantineFailureId)}>
        <Id value={barrier.quarantineFailureId} copy={false} />
      </Link>
    </span>
  );
}

/** Since it started: its barriers, and the quarantines that its failures own. */
export function BarrierTable({ request: r }: { request: Replay }) {
  const { shown, hidden, all } = useShown(r.barriers);
  if (r.barriers.length === 0) return null;
  const held = r.barriers.filter((b) => b.releasedTs === null).length;
  const sub =
    held === 0
      ? "all released"
      : `${count(held)} held, ${many(r.deferred.count, "live transaction")} parked; they drain in source order`;
  return (
    <section>
      <div className="sec-h">
        <h2>Held scopes</h2>
        <span className="m">{sub}</span>
      </div>
      <div className="tw scroll">
        <table className="rec tight">
          <caption className="vh">Barriers of the request</caption>
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col">Barrier</th>
              <th scope="col" className="r">
                Epoch
              </th>
              <th scope="col">Held by</th>
              <th scope="col" className="r">
                Parked now
              </th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((b) => {
              const state = b.releasedTs === null ? STATE[b.state] : { status: "closed" as const, word: "Released" };
              const scopeType = b.scopeType === "GRAPH_ROOT" ? "GRAPH_ROOT" : "AGGREGATE";
              return (
                <tr key={b.barrierId}>
                  <td>
                    <ScopeLabel scope={{ scopeType, scopeKey: b.scopeKey }} copy />
                  </td>
                  <td data-l="Barrier">
                    <Status status={state.status}>{state.word}</Status>
                  </td>
                  <td className="r" data-l="Epoch">
                    {b.barrierEpoch}
                  </td>
                  <td data-l="Held by">
                    <HeldBy barrier={b} />
                  </td>
                  <td className="r" data-l="Parked now">
                    {count(b.parked)}
                  </td>
                  <td className="nw" data-l="Since">
                    <ExactTime at={b.releasedTs ?? b.installedTs} plain />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <More hidden={hidden} all={all} />
    </section>
  );
}
