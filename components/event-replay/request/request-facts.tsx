"use client";
import { StatusGlyph } from "@/components/ui/status";
import { Age, ExactTime, TimeAgo } from "@/components/ui/time";
import { Who } from "@/components/ui/who";
import { workerName } from "./attempt-table";
import { Countdown } from "./countdown";
import { historyOf } from "./history-view";
import { MODE_WORDS, STRATEGY_WORDS } from "./replay-words";
import { isWorking, type Replay } from "./request-view";

type Person = Replay["people"]["requester"];

/** Who did it and when. */
function By({ person, at }: { person: Person; at: string | null }) {
  return (
    <dd>
      <Who name={person.name} you={person.isYou} />
      {at ? (
        <span className="m sm line">
          <TimeAgo at={at} />
        </span>
      ) : null}
    </dd>
  );
}

/** Requester, approver, executor, with their times. */
export function RequestPersons({ request: r }: { request: Replay }) {
  const { requester, approver, executor } = r.people;
  return (
    <div className="do">
      <h2>Persons</h2>
      <dl className="facts">
        <dt>Requested</dt>
        <By person={requester} at={r.requestedTs} />
        {approver ? (
          <>
            <dt>Approved</dt>
            <By person={approver} at={r.approvedTs} />
          </>
        ) : null}
        {executor ? (
          <>
            <dt>Run</dt>
            <By person={executor} at={r.startedTs} />
          </>
        ) : null}
      </dl>
    </div>
  );
}

/** Who may approve, and who can't because they asked. */
export function EligibleApprovers({ request: r }: { request: Replay }) {
  if (r.status !== "AWAITING_APPROVAL") return null;
  const { requester, eligibleApprovers } = r.people;
  return (
    <div className="do">
      <h2>Who may approve</h2>
      <ul className="stack people">
        {eligibleApprovers.map((p) => (
          <li className="row between" key={p.personId}>
            <Who name={p.name} />
            <span className="m sm">{p.isYou ? "you" : ""}</span>
          </li>
        ))}
        <li className="row between m">
          <Who name={requester.name} />
          <span className="m sm">{requester.isYou ? "you asked, so you cannot" : "requester, cannot"}</span>
        </li>
      </ul>
    </div>
  );
}

/** What was planned and how: fixed for good. */
export function RequestFacts({ request: r }: { request: Replay }) {
  return (
    <div className="do">
      <h2>Plan</h2>
      <dl className="facts">
        <dt>Strategy</dt>
        <dd>{STRATEGY_WORDS[r.strategy]}</dd>
        <dt>Mode</dt>
        <dd>{MODE_WORDS[r.validationMode]}</dd>
        <dt>Registry</dt>
        <dd>{r.policyRegistryVersion}</dd>
        <dt>Repair</dt>
        <dd>{r.repairId ? <span className="mono">{r.repairId}</span> : "None bound"}</dd>
      </dl>
    </div>
  );
}

/** Who executes it now, and until when nobody else may. */
export function LeaseFacts({ request: r }: { request: Replay }) {
  if (!isWorking(r)) return null;
  return (
    <div className="do">
      <h2>Execution</h2>
      <dl className="facts">
        <dt>Executor</dt>
        <dd>{r.leaseOwner ? <span className="mono">{workerName(r.leaseOwner)}</span> : "nobody"}</dd>
        {r.leaseExpiresAt ? (
          <>
            <dt>Lease</dt>
            <dd>
              <Countdown until={r.leaseExpiresAt} /> left, renewed with each item
            </dd>
          </>
        ) : null}
        <dt>Read</dt>
        <dd>
          <Age at={r.asOf} suffix=" ago" />, every 3 s
        </dd>
      </dl>
    </div>
  );
}

const HISTORY_MAX = 200;

export function RequestHistory({ request: r }: { request: Replay }) {
  return (
    <div className="do">
      <h2>History</h2>
      <ol className="tl">
        {historyOf(r).map((h) => (
          <li key={h.key}>
            <StatusGlyph status={h.status} />
            <span>
              {h.words} {h.code ? <span className="code">{h.code}</span> : null}
            </span>
            <ExactTime at={h.at} plain />
            {h.reason ? <p className="m">“{h.reason}”</p> : null}
          </li>
        ))}
      </ol>
      {r.history.length >= HISTORY_MAX ? <p className="m sm">Older entries are not shown here.</p> : null}
    </div>
  );
}
