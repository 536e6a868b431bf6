"use client";
import Link from "next/link";
import { sentenceOf } from "@/components/api/problem";
import { count, many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Id } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import { ERRORS, type ErrorCode } from "@/server/contracts/errors";
import { ScopeLabel } from "../scope-label";
import { failureHref } from "../words";
import { PlanAgain } from "./plan-again";
import { REPLAY_STATUS_WORDS } from "./replay-words";
import { isUnstarted, isWorking, leadOf, quarantined, type Replay } from "./request-view";

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** A stored code as our sentence, the code after it, and the bounded text that was kept with it. */
export function StoredError({ code, message }: { code: string | null; message: string | null }) {
  if (code === null) return null;
  return (
    <>
      {isCode(code) ? sentenceOf(code) : "It was refused."}{" "}
      <span className="code">
        {code}
        {message ? `, ${message}` : ""}
      </span>
    </>
  );
}

/** It is not known what an execution came to: what is done about it, and the last durable status with its age. */
function UnknownOutcome({ request: r }: { request: Replay }) {
  return (
    <div className="note held" role="status">
      <Icon name="warning" />
      <span>
        <span className="b">What became of the execution is not known yet.</span> Nothing is sent again; the durable
        status is read every 3 s. Last read <Age at={r.asOf} suffix=" ago" />:{" "}
        {REPLAY_STATUS_WORDS[r.status].word.toLowerCase()}.
      </span>
    </div>
  );
}

const REASONS_SHOWN = 5;

function StaleNote({ request: r }: { request: Replay }) {
  const rest = r.staleReasons.length - REASONS_SHOWN;
  return (
    <div className="note held" role="status">
      <Icon name="warning" />
      <div className="stack">
        <p>
          <span className="b">What it was planned from has changed.</span> Nobody can approve or run it any more;
          nothing was changed.
        </p>
        <ul className="why-list">
          {r.staleReasons.slice(0, REASONS_SHOWN).map((s) => (
            <li key={`${s.code} ${s.failureId ?? ""} ${s.scopeKey ?? ""}`}>
              {s.message}{" "}
              {s.failureId ? (
                <Link className="link" href={failureHref(s.failureId)}>
                  <Id value={s.failureId} copy={false} />
                </Link>
              ) : null}
              {s.scopeType && s.scopeKey ? (
                <ScopeLabel scope={{ scopeType: s.scopeType, scopeKey: s.scopeKey }} />
              ) : null}
            </li>
          ))}
          {rest > 0 ? <li>And {count(rest)} more.</li> : null}
        </ul>
        <PlanAgain request={r} />
      </div>
    </div>
  );
}

/** Why it failed, what it left held, and the way on. */
function FailedNote({ request: r }: { request: Replay }) {
  const held = quarantined(r);
  const first = r.failureCode === "STALE_PLAN" ? undefined : r.items.find((i) => i.status === "FAILED");
  const parked = held.reduce((sum, b) => sum + b.parked, 0);
  return (
    <div className="note failed" role="status">
      <Icon name="warning" />
      <div className="stack">
        <p>
          <StoredError code={r.failureCode} message={r.failureMessage} />
        </p>
        {held.length > 0 ? (
          <p>
            {many(held.length, "scope")} {held.length === 1 ? "stays" : "stay"} quarantined until{" "}
            {held.length === 1 ? "its failure is" : "their failures are"} recovered; live work for{" "}
            {held.length === 1 ? "it" : "them"} is parked, not lost{parked > 0 ? ` (${count(parked)} now)` : ""}.
          </p>
        ) : null}
        {first ? (
          <p>
            The same bytes fail again until the cause is gone:{" "}
            <Link className="link" href={failureHref(first.failureId)}>
              why this one failed
            </Link>
            .
          </p>
        ) : null}
        <PlanAgain request={r} />
      </div>
    </div>
  );
}

/** Warnings of the plan that still hold: one about approvers is over as soon as somebody may. */
function Warnings({ request: r }: { request: Replay }) {
  const open = r.warnings.filter(
    (w) =>
      w.code === "NO_ELIGIBLE_APPROVER" && r.status === "AWAITING_APPROVAL" && r.people.eligibleApprovers.length === 0,
  );
  return open.map((w) => (
    <div className="note held" key={w.code}>
      <Icon name="warning" />
      <span>
        {w.message} <span className="code">{w.code}</span>
      </span>
    </div>
  ));
}

function Progress({ request: r }: { request: Replay }) {
  const { succeeded, running, failed } = r.totals;
  const parts = [
    { look: "ok", n: succeeded },
    { look: "bad", n: failed },
    { look: "run", n: running },
    { look: "todo", n: r.totals.pending },
  ];
  const one = r.transactionCount <= 60;
  return (
    <div
      className="prog"
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={r.transactionCount}
      aria-valuenow={succeeded}
      aria-label={`${succeeded} of ${r.transactionCount} succeeded`}
    >
      {one
        ? r.items.map((i) => <i key={i.ordinal} className={PROGRESS_LOOK[i.status]} />)
        : parts.filter((p) => p.n > 0).map((p) => <i key={p.look} className={p.look} style={{ flex: p.n }} />)}
    </div>
  );
}

const PROGRESS_LOOK: Record<Replay["items"][number]["status"], string> = {
  PENDING: "todo",
  RUNNING: "run",
  SUCCEEDED: "ok",
  FAILED: "bad",
};

type Props = { request: Replay /** What the last press came to is not known. */; unknown: boolean; starting: boolean };

const STARTING = { bold: "It is being started.", rest: " Its durable status is read every 3 s." };

/** The sentence the page turns on, the requester's reason, and what stands in the way. */
export function RequestLead({ request: r, unknown, starting }: Props) {
  const lead = starting && isUnstarted(r) ? STARTING : leadOf(r);
  return (
    <div className="rq-lead">
      {unknown ? <UnknownOutcome request={r} /> : null}
      {unknown && isUnstarted(r) ? null : (
        <p className="lead" aria-live="polite">
          <span className="b">{lead.bold}</span>
          {lead.rest}
        </p>
      )}
      {isUnstarted(r) && r.reason ? <blockquote>{r.reason}</blockquote> : null}
      {isWorking(r) ? <Progress request={r} /> : null}
      {r.stale ? <StaleNote request={r} /> : null}
      {r.status === "FAILED" ? <FailedNote request={r} /> : null}
      {r.status === "CANCELLED" || r.status === "EXPIRED" ? <PlanAgain request={r} /> : null}
      <Warnings request={r} />
      {r.status === "FAILED" && r.totals.succeeded > 0 ? (
        <p className="m">
          <Status status="done">{many(r.totals.succeeded, "transaction")} committed</Status> and{" "}
          {r.totals.succeeded === 1 ? "its failure is" : "their failures are"} resolved.
        </p>
      ) : null}
    </div>
  );
}
