import Link from "next/link";
import { count, many } from "@/components/ui/format";
import { Score } from "@/components/ui/score";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { failureScore } from "../failure-score";
import { ScopeLabel } from "../scope-label";
import { failureHref } from "../words";

const predecessorRows = (failure: GetFailureResponse) =>
  failure.lanes.flatMap((lane) => lane.predecessors.map((p) => ({ lane, p })));

/** What must run first, drawn and as a table: open failures that write an earlier version of a scope of this one. */
export function FailureOrder({ failure }: { failure: GetFailureResponse }) {
  if (failure.lanes.length === 0) {
    return (
      <section>
        <div className="sec-h">
          <h2>What must run first</h2>
        </div>
        <p className="m">Nothing: this transaction has no ordered scope, so it waits for no other and blocks none.</p>
      </section>
    );
  }
  const score = failureScore(failure);
  const rows = predecessorRows(failure);
  const before = failure.openPredecessorCount;
  const sub =
    before === 0
      ? `no open predecessor; this transaction is next in ${failure.laneCount === 1 ? "its scope" : `all ${count(failure.laneCount)} scopes`}`
      : `${many(before, "open predecessor")} in ${many(failure.laneCount, "scope")}`;
  const many_ = score.lanes.some((l) => (l.parked ?? 0) > 0);
  return (
    <section>
      <div className="sec-h">
        <h2>What must run first</h2>
        <span className="m">{sub}</span>
      </div>
      <Score
        lanes={score.lanes}
        columns={score.columns}
        highlight={score.columns}
        label="Execution order by scope"
        parkedHead="later"
      />
      <div className="legend">
        <span>
          <i className="lg" />
          projected
        </span>
        <span>
          <i className="lg atl" />
          projection is here
        </span>
        {before > 0 ? (
          <span>
            <i className="lg open" />
            open predecessor
          </span>
        ) : null}
        <span>
          <i className="lg sel" />
          this transaction
        </span>
        {score.lanes.length > 1 ? (
          <span>
            <i className="lg tie" />
            one transaction, {count(score.lanes.length)} scopes
          </span>
        ) : null}
        {many_ ? (
          <span>
            <i className="lg park" />
            appended later
          </span>
        ) : null}
      </div>
      {score.drawn < score.predecessors ? (
        <p className="m sm">
          The last {score.drawn} of {count(score.predecessors)} predecessors are drawn.
        </p>
      ) : null}
      {rows.length > 0 ? (
        <details className="more">
          <summary>Predecessors as a table, {count(rows.length)}</summary>
          <table className="tight rec">
            <caption className="vh">Open predecessors</caption>
            <thead>
              <tr>
                <th scope="col">Event type</th>
                <th scope="col">Scope</th>
                <th scope="col" className="r">
                  Version
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ lane, p }) => (
                <tr key={`${lane.scopeKey} ${p.failureId}`}>
                  <td>
                    <Link href={failureHref(p.failureId)}>{p.eventType}</Link>
                  </td>
                  <td data-l="Scope">
                    <ScopeLabel scope={lane} />
                  </td>
                  <td className="r" data-l="Version">
                    {p.version}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ) : null}
    </section>
  );
}
