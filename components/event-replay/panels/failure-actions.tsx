import Link from "next/link";
import { Button } from "@/components/ui/button";
import { bytes, count, many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Digest } from "@/components/ui/id-text";
import { ExactTime, TimeAgo } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { POLICY_WORDS, STATUS_WORDS } from "../words";

const reasonOf = (permission: { reason: string | null }): string =>
  permission.reason ?? "You may not do this on this host.";

/** Two ways out, apart on purpose: the archived bytes as they are, or corrected data. Each says why it is not open. */
export function FailureActions({ failure }: { failure: GetFailureResponse }) {
  const n = failure.openPredecessorCount + 1;
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
        <Button wide disabledReason={reasonOf(failure.permissions.replayOriginal)}>
          Plan replay of {count(n)}
        </Button>
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
        <Button wide disabledReason={reasonOf(failure.permissions.repair)}>
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
