"use client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Digest } from "@/components/ui/id-text";
import { StatusGlyph } from "@/components/ui/status";
import { Deadline } from "./countdown";
import { checksOf, decisionHead, offersRetry, readersOf, retryLabel, whyNotApprove } from "./decision-view";
import { DenialNote } from "./denial-note";
import { ReasonField } from "./reason-field";
import { isUnstarted, isWorking, type Replay } from "./request-view";
import type { Decide } from "./use-decide";
import { useReason } from "./use-reason";

type Props = { request: Replay; decide: Decide };

const UNKNOWN = "What the last press came to is not known yet; the durable status is read every 3 s.";

const reasonOf = (permission: { reason: string | null }): string => permission.reason ?? "You may not do this.";

function Checks({ request }: { request: Replay }) {
  return (
    <ul className="checks" aria-label="Checked just now">
      {checksOf(request).map((c) => (
        <li key={c.words}>
          <span className={`st ${c.ok ? "done" : "held"}`}>
            <StatusGlyph status={c.ok ? "done" : "held"} />
          </span>
          <span>
            {c.words}
            <span className="vh">{c.ok ? "" : ", not met"}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Copies the address to hand over to whoever decides next. */
export function CopyLink() {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <>
      <Button
        wide
        icon={done ? "check" : "copy"}
        onClick={() => void navigator.clipboard?.writeText(location.href).then(() => setDone(true))}
      >
        {done ? "Link copied" : "Copy link for the approver"}
      </Button>
      <span className="vh" role="status">
        {done ? "Copied" : ""}
      </span>
    </>
  );
}

function Approve({ request: r, decide }: Props) {
  const { reason, approve, cancel, pending } = decide;
  const mayCancel = r.permissions.cancel.allowed;
  return (
    <>
      <Checks request={r} />
      <ReasonField
        reason={reason}
        placeholder="What convinced you, or what is missing"
        hint={`${mayCancel ? "Needed for both. " : ""}${readersOf(r)}`}
      />
      <div className="row acts-row">
        <Button look="primary" aria-disabled={pending !== undefined} onClick={approve}>
          {pending === "approve" ? "Approving" : "Approve this plan"}
        </Button>
        {mayCancel ? (
          <Button look="danger" aria-disabled={pending !== undefined} onClick={cancel}>
            {pending === "cancel" ? "Cancelling" : "Cancel it"}
          </Button>
        ) : null}
      </div>
      <p className="hint">
        Approving binds you to {r.planHash ? <Digest value={r.planHash} copy={false} /> : "this plan"}. If a scope moves
        first, the plan goes stale and runs nothing. Approving does not start it. Cancelling ends it; the failures stay
        open.
      </p>
    </>
  );
}

function Decision({ request: r, decide }: Props) {
  if (r.status !== "AWAITING_APPROVAL") return null;
  const may = r.permissions.approve.allowed;
  return (
    <div className="do" id="decision">
      <h2>{decisionHead(r)}</h2>
      <Deadline until={r.expiresAt} />
      {may ? (
        <Approve request={r} decide={decide} />
      ) : (
        <>
          <Button wide disabledReason={whyNotApprove(r)}>
            Approve this plan
          </Button>
          {r.stale ? null : (
            <div className="gap">
              <CopyLink />
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Run({ request: r, decide }: Props) {
  const { reason, execute, pending } = decide;
  const retry = offersRetry(r);
  if (!isUnstarted(r) && !retry) return null;
  if (r.status === "READY" || (r.status === "AWAITING_APPROVAL" && r.permissions.approve.allowed)) return null;
  const allowed = r.permissions.execute.allowed && !decide.unknown;
  const label = retry ? retryLabel(r) : `Run ${count(r.transactionCount)} now`;
  return (
    <div className="do">
      <h2>
        <Icon name="play" />
        {retry ? "Retry" : "Run"}
      </h2>
      {r.status === "APPROVED" ? <Deadline until={r.expiresAt} /> : null}
      {retry ? (
        <p className="m">What is committed stays. The same plan goes on where it stopped, under a new lease.</p>
      ) : null}
      {allowed ? (
        <>
          {retry ? null : <Checks request={r} />}
          <ReasonField
            reason={reason}
            placeholder={retry ? "Why it is safe to go on" : "Why now"}
            hint={readersOf(r)}
          />
          <div className="row acts-row">
            <Button look="primary" wide aria-disabled={pending !== undefined} onClick={execute}>
              {pending === "execute" ? "Starting" : label}
            </Button>
          </div>
          <p className="hint">
            Holds {count(r.lanes.length)} {r.lanes.length === 1 ? "scope" : "scopes"} while it runs, stops at the first
            failure, and has no stop of its own.
          </p>
        </>
      ) : (
        <Button wide disabledReason={decide.unknown ? UNKNOWN : reasonOf(r.permissions.execute)}>
          {label}
        </Button>
      )}
    </div>
  );
}

/** Ending it without running. The reason is asked here, once it is wanted. */
function Withdraw({ request: r, decide }: Props) {
  const [open, setOpen] = useState(false);
  const reason = useReason();
  const field = reason.field;
  useEffect(() => {
    if (open) field.current?.focus();
  }, [open, field]);
  if (!isUnstarted(r) || (r.status === "AWAITING_APPROVAL" && r.permissions.approve.allowed)) return null;
  const { cancelWith, pending } = decide;
  const preview = r.status === "READY";
  return (
    <div className="do">
      <h2>Withdraw</h2>
      <p className="m">{preview ? "Ends the preview." : "Ends the request. The failures stay open."}</p>
      {!r.permissions.cancel.allowed || decide.unknown ? (
        <Button wide disabledReason={decide.unknown ? UNKNOWN : reasonOf(r.permissions.cancel)}>
          Cancel request
        </Button>
      ) : open ? (
        <>
          <ReasonField reason={reason} placeholder="Why it should not run" hint={readersOf(r)} />
          <div className="row acts-row">
            <Button look="danger" aria-disabled={pending !== undefined} onClick={() => cancelWith(reason)}>
              {pending === "cancel" ? "Cancelling" : "Cancel request"}
            </Button>
            <Button look="ghost" onClick={() => setOpen(false)}>
              Keep it
            </Button>
          </div>
        </>
      ) : (
        <Button look="danger" wide onClick={() => setOpen(true)}>
          Cancel request…
        </Button>
      )}
    </div>
  );
}

function Working({ request: r }: { request: Replay }) {
  if (!isWorking(r) || offersRetry(r)) return null;
  return (
    <div className="do">
      <h2>While it runs</h2>
      <p className="m">
        It has no stop of its own. Each item commits alone, so what is done stays done; at the first failure it ends,
        and the scopes of what is left are quarantined.
      </p>
    </div>
  );
}

/** What was just done here, said where it was done; focus comes here because its button is gone. */
function Outcome({ failed, children }: { failed: boolean; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <div className={`note ${failed ? "failed" : "done"} outcome`} role="status" tabIndex={-1} ref={ref}>
      <Icon name={failed ? "warning" : "check"} />
      <span>{children}</span>
    </div>
  );
}

/**
 * What was refused or lost stays said, over whatever can be done now: the state may have moved on, and with it gone the button
 * that was pressed.
 */
function Refusals({ request, errors }: { request: Replay; errors: Decide["errors"] }) {
  return DECISIONS.map((decision) => (
    <DenialNote key={decision} decision={decision} error={errors[decision]} request={request} />
  ));
}

const DECISIONS = ["approve", "cancel", "execute"] as const;

/** Everything the viewer can do about the request now, and why not; by what the server permits, never by a role's name. */
export function DecisionPanel({ request, decide }: Props) {
  return (
    <>
      {decide.outcome ? (
        <Outcome key={decide.outcome.words} failed={decide.outcome.status === "FAILED"}>
          {decide.outcome.words}
        </Outcome>
      ) : null}
      <Refusals request={request} errors={decide.errors} />
      <Decision request={request} decide={decide} />
      <Run request={request} decide={decide} />
      <Withdraw request={request} decide={decide} />
      <Working request={request} />
    </>
  );
}

/** On a phone the action that waits for the viewer stays at the bottom edge; its reason is asked in its own place. */
export function StickyActions({ request: r, decide }: Props) {
  const approve = r.status === "AWAITING_APPROVAL" && r.permissions.approve.allowed;
  const run = r.permissions.execute.allowed && !decide.unknown;
  if (!approve && !run) return null;
  const { pending } = decide;
  return (
    <div className="stickyact only-s">
      {approve ? (
        <>
          <Button look="primary" aria-disabled={pending !== undefined} onClick={decide.approve}>
            Approve
          </Button>
          {r.permissions.cancel.allowed ? (
            <Button look="danger" aria-disabled={pending !== undefined} onClick={decide.cancel}>
              Cancel it
            </Button>
          ) : null}
        </>
      ) : (
        <Button look="primary" wide aria-disabled={pending !== undefined} onClick={decide.execute}>
          {offersRetry(r) ? retryLabel(r) : `Run ${count(r.transactionCount)} now`}
        </Button>
      )}
    </div>
  );
}
