"use client";
import type { Problem } from "@/components/api/problem";
import { asProblem } from "@/components/api/problem";
import { ButtonLink } from "@/components/ui/button";
import { usePageKeys } from "@/components/ui/keyboard";
import { Empty, Failed, LinesLoading, Stale, TableLoading } from "@/components/ui/states";
import { Age } from "@/components/ui/time";
import { AttemptTable } from "./attempt-table";
import { DecisionPanel, StickyActions } from "./decision-panel";
import { BarrierTable, WillHold } from "./hold-table";
import { ItemTable } from "./item-table";
import { ProofTable } from "./proof-table";
import { EligibleApprovers, LeaseFacts, RequestFacts, RequestHistory, RequestPersons } from "./request-facts";
import { RequestHead } from "./request-head";
import { RequestLead } from "./request-lead";
import { RequestNumbers } from "./request-numbers";
import { RequestOrder } from "./request-order";
import { RequestSteps } from "./request-steps";
import { isWorking, type Replay } from "./request-view";
import { useDecide } from "./use-decide";
import { useRequest } from "./use-request";

/** The id belongs to no request of this host, or the request could not be read. */
function Absent({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  if (problem.code === "REQUEST_NOT_FOUND" || problem.code === "INVALID_REQUEST") {
    return (
      <Empty
        title="There is no such request on this host"
        actions={<ButtonLink href="/event-replay/requests">All requests</ButtonLink>}
      >
        The id in the address belongs to no replay request of this host. If someone handed you the link, make sure that
        you are signed in to their host.
      </Empty>
    );
  }
  return (
    <Failed
      title="The request could not be read"
      sentence={problem.message}
      kept="Nothing was changed."
      requestId={problem.requestId}
      onRetry={onRetry}
    />
  );
}

function Waiting() {
  return (
    <>
      <div className="waiting-lines">
        <LinesLoading />
      </div>
      <TableLoading heads={["#", "Transaction", "Failure", "Moves", "Why it is in", "Events"]} />
    </>
  );
}

/** What stands below the sentence: the plan before it runs, the progress while it does, the proof when it has ended. */
function Body({ request: r }: { request: Replay }) {
  if (r.startedTs === null) {
    return (
      <>
        <RequestOrder request={r} />
        <ItemTable request={r} />
        <WillHold request={r} />
      </>
    );
  }
  if (isWorking(r)) {
    return (
      <>
        <RequestOrder request={r} />
        <ItemTable request={r} />
        <BarrierTable request={r} />
        <ProofTable request={r} />
        <AttemptTable request={r} />
      </>
    );
  }
  return (
    <>
      <ProofTable request={r} />
      <RequestOrder request={r} />
      <ItemTable request={r} />
      <AttemptTable request={r} />
      <BarrierTable request={r} />
    </>
  );
}

/** One replay request: what will run, who decides, how far it is, and the proof that it moved as planned. */
export function RequestPage({ replayRequestId }: { replayRequestId: string }) {
  const read = useRequest(replayRequestId);
  const decide = useDecide(read);
  const { query, request, unknown } = read;
  const problem = query.error ? asProblem(query.error) : undefined;
  usePageKeys((key) => {
    if (key !== "c") return false;
    void navigator.clipboard?.writeText(replayRequestId);
    return true;
  });
  if (!request) {
    return (
      <>
        <h1 className="vh">Replay request</h1>
        {problem ? <Absent problem={problem} onRetry={() => void query.refetch()} /> : <Waiting />}
      </>
    );
  }
  return (
    <>
      <div className="cols rq">
        <div>
          <RequestHead request={request} />
          {problem ? (
            <Stale onRetry={() => void query.refetch()}>
              {problem.message} What you see is the last durable status, read <Age at={request.asOf} suffix=" ago." />
            </Stale>
          ) : null}
          {request.validationMode === "VALIDATE_ONLY" ? null : <RequestSteps request={request} />}
          <RequestLead request={request} unknown={unknown} starting={decide.pending === "execute"} />
          {request.planHash ? (
            <>
              <RequestNumbers request={request} />
              <div className="rq-body">
                <Body request={request} />
              </div>
            </>
          ) : null}
        </div>
        <aside className="aside" aria-label="What you can do">
          <DecisionPanel request={request} decide={decide} />
          <LeaseFacts request={request} />
          <EligibleApprovers request={request} />
          <RequestPersons request={request} />
          <RequestFacts request={request} />
          <RequestHistory request={request} />
        </aside>
      </div>
      <StickyActions request={request} decide={decide} />
    </>
  );
}
