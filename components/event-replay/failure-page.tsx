"use client";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { getFailure } from "@/components/api/failures";
import { asProblem, type Problem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { ButtonLink } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { usePageKeys } from "@/components/ui/keyboard";
import { Empty, Failed, LinesLoading, Stale, TableLoading } from "@/components/ui/states";
import { Status } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { FailureActions, FailureFacts, FailureNotification } from "./panels/failure-actions";
import { FailureOrder } from "./panels/failure-order";
import { FailureTimeline } from "./panels/failure-timeline";
import { FailureWhy } from "./panels/failure-why";
import { planFailureHref } from "./plan/plan-batch";
import { DeliveryTable, FailureScopeTable } from "./tables/delivery-table";
import { MemberTable } from "./tables/member-table";
import { STATUS_WORDS } from "./words";

const title = (f: GetFailureResponse): string => {
  const more = f.eventCount > 1 ? ` and ${count(f.eventCount - 1)} more` : "";
  const what = f.status === "OPEN" ? "did not project" : f.status === "RESOLVED" ? "is resolved" : "was waived";
  return `${f.eventTypes.first}${more} ${what}`;
};

function FailureHead({ failure }: { failure: GetFailureResponse }) {
  const { status, word } = STATUS_WORDS[failure.status];
  return (
    <div className="ph">
      <div>
        <h1>{title(failure)}</h1>
        <div className="sub">
          <Status status={status} pill>
            {word}
          </Status>
          <span className="row tie">
            Failure <Id value={failure.failureId} />
          </span>
          <span className="row tie">
            Transaction <Id value={failure.originalTransactionId} />
          </span>
          <span>
            {failure.projectionName}, {failure.consumerGroup}
          </span>
        </div>
      </div>
    </div>
  );
}

/** The id belongs to no failure of this host, or the failure could not be read. */
function Absent({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  if (problem.code === "FAILURE_NOT_FOUND" || problem.code === "INVALID_REQUEST") {
    return (
      <Empty
        title="There is no such failure on this host"
        actions={<ButtonLink href="/event-replay/failures">All failures</ButtonLink>}
      >
        The id in the address belongs to no failure of this host. It may be the id of a transaction or an event: search
        for it in the list.
      </Empty>
    );
  }
  return (
    <Failed
      title="The failure could not be read"
      sentence={problem.message}
      kept="Nothing was changed."
      requestId={problem.requestId}
      onRetry={onRetry}
    />
  );
}

function FailureWaiting() {
  return (
    <>
      <div className="waiting-lines">
        <LinesLoading />
      </div>
      <TableLoading heads={["#", "Event type", "Aggregate", "Digest"]} />
    </>
  );
}

/** One failure: why, what must run first, what it holds, where it was seen, what happened, and what can be done. */
export function FailurePage({ failureId }: { failureId: string }) {
  const { hostId } = useViewer();
  const router = useRouter();
  const query = useQuery(getFailure(hostId, failureId));
  const failure = query.data;
  const problem = query.error ? asProblem(query.error) : undefined;
  usePageKeys((key) => {
    if (key === "p" && failure?.permissions.replayOriginal.allowed) {
      router.push(planFailureHref(failureId));
      return true;
    }
    if (key !== "c") return false;
    void navigator.clipboard?.writeText(failureId);
    return true;
  });
  if (!failure) {
    return (
      <>
        <h1 className="vh">Failure</h1>
        {problem ? <Absent problem={problem} onRetry={() => void query.refetch()} /> : <FailureWaiting />}
      </>
    );
  }
  return (
    <div className="cols">
      <div>
        <FailureHead failure={failure} />
        {problem ? (
          <Stale onRetry={() => void query.refetch()}>
            The failure could not be read again. {problem.message} What you see is as of{" "}
            <Age at={failure.asOf} suffix=" ago." />
          </Stale>
        ) : null}
        <FailureWhy failure={failure} />
        <FailureOrder failure={failure} />
        <MemberTable failure={failure} />
        <section className="two">
          <DeliveryTable failure={failure} />
          <FailureScopeTable failure={failure} />
        </section>
        <FailureTimeline failure={failure} />
      </div>
      <aside className="aside" aria-label="What you can do">
        <FailureActions failure={failure} />
        <FailureFacts failure={failure} />
        <FailureNotification failure={failure} />
      </aside>
    </div>
  );
}
