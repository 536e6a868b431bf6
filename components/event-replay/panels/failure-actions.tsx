import Link from "next/link";
import { isEnded } from "@/components/api/replay";
import { Button, ButtonLink } from "@/components/ui/button";
import { bytes, count, many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Digest, Id } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { ExactTime, TimeAgo } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { planFailureHref } from "../plan/plan-batch";
import { REPLAY_STATUS_WORDS, requestHref } from "../request/replay-words";
import { POLICY_WORDS, STATUS_WORDS } from "../words";

const reasonOf = (permission: { reason: string | null }): string =>
  permission.reason ?? "You may not do this on this host.";

/** How many transactions the plan of this failure will hold; over several scopes it may follow predecessors further. */
function planLabel(failure: GetFailureResponse): string {
  const n = failure.openPredecessorCount + 1;
  return n > 1 && failure.laneCount > 1 ? `Plan replay of at least ${count(n)}` : `Plan replay of ${count(n)}`;
}

/** The requests that hold this failure: the one that matters now, and all of them. */
function HeldByRequests({ failure }: { failure: GetFailureResponse }) {
  const { count: n, first } = failure.requests;
  if (!first) return null;
  const { status, word } = REPLAY_STATUS_WORDS[first.status];
  return (
    <div className="held-by">
      <p>
        <Link className="link" href={requestHref(first.replayRequestId)}>
          Request <Id value={first.replayRequestId} copy={false} />
        </Link>{" "}
        {isEnded(first.status) ? "held it." : "holds it."}
      </p>
      <Status status={status}>{word}</Status>
      {n > 1 ? (
        <p className="m sm">
          <Link className="link" href={`/event-replay/requests?failureId=${failure.failureId}`}>
            All {count(n)} requests that named it
          </Link>
        </p>
      ) : null}
    </div>
  );
}

/** Two ways out, apart on purpose: the archived bytes as they are, or corrected data. Each says why it is not open. */
export function FailureActions({ failure }: { failure: GetFailureResponse }) {
  const { replayOriginal, repair } = failure.permissions;
  return (
    <>
      <div className="do">
        <h2>
          <Icon name="replay" />
          Replay original
        </h2>
        <p className="m">
          Runs the archived bytes unchanged, after the cause is fixed.
          {failure.openPredecessorCount > 0 ? " Predecessors come along." : ""}
        </p>
        {replayOriginal.allowed ? (
          <ButtonLink look="primary" wide href={planFailureHref(failure.failureId)}>
            {planLabel(failure)}
          </ButtonLink>
        ) : (
          <Button wide disabledReason={reasonOf(replayOriginal)}>
            {planLabel(failure)}
          </Button>
        )}
        <HeldByRequests failure={failure} />
      </div>
      <div className="do">
        <h2>
          <Icon name="repair" />
          Repair
        </h2>
        <p className="m">
          Corrects wrong data of the whole transaction of {many(failure.eventCount, "member")} through a typed form. The
          original stays as evidence.
        </p>
        <Button wide disabledReason={reasonOf(repair)}>
          Propose repair
        </Button>
      </div>
    </>
  );
}

/** Facts in one column: state, rule, times, attempts, fingerprint, archive. */
export function FailureFacts({ failure }: { failure: GetFailureResponse }) {
  const status = STATUS_WORDS[failure.status].word;
  const blocks = failure.blockedScopes > 0 ? `, blocks ${many(failure.blockedScopes, "scope")}` : "";
  return (
    <div className="do">
      <h2>Facts</h2>
      <dl className="facts">
        <dt>Status</dt>
        <dd>
          {status}
          {blocks}
        </dd>
        <dt>Policy</dt>
        <dd>{POLICY_WORDS[failure.replayPolicy]}</dd>
        <dt>First failed</dt>
        <dd>
          <TimeAgo at={failure.firstFailedTs} />
        </dd>
        <dt>Last failed</dt>
        <dd>
          <TimeAgo at={failure.lastFailedTs} />
        </dd>
        <dt>Attempts</dt>
        <dd>{count(failure.failureCount)} live</dd>
        <dt>Fingerprint</dt>
        <dd>
          <Digest value={failure.contentFingerprint} />
        </dd>
        <dt>Registry</dt>
        <dd>{failure.policyRegistryVersion}</dd>
        <dt>Payload</dt>
        <dd>{failure.payloadAvailable ? `${bytes(failure.decryptedPayloadBytes)}, kept` : "no longer kept"}</dd>
        <dt>Legal hold</dt>
        <dd>{failure.legalHold ? "Yes" : "No"}</dd>
        {failure.resolvedTs ? (
          <>
            <dt>{status}</dt>
            <dd>
              <TimeAgo at={failure.resolvedTs} />
            </dd>
          </>
        ) : null}
      </dl>
    </div>
  );
}

/** The notification page tells of the same transaction; that row is for reading only. */
export function FailureNotification({ failure }: { failure: GetFailureResponse }) {
  const newest = failure.notifications.newest;
  if (!newest) return null;
  const href = `/notifications?transaction=${encodeURIComponent(failure.originalTransactionId)}`;
  return (
    <div className="do">
      <div className="note">
        <Icon name="bell" />
        <span>
          The notification page lists this transaction too, as {newest.status} at{" "}
          <ExactTime at={newest.processTs} plain />. That row is for reading only; replay happens here.{" "}
          <Link className="link" href={href}>
            Open it
          </Link>
        </span>
      </div>
    </div>
  );
}
