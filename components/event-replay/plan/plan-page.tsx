"use client";
import { useEffect, useRef } from "react";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { useNow, useZone } from "@/components/ui/clock";
import { count, exactTime } from "@/components/ui/format";
import { Empty, Failed, LinesLoading, TableLoading } from "@/components/ui/states";
import { Age } from "@/components/ui/time";
import { requestHref } from "../request/replay-words";
import type { Replay } from "../request/request-view";
import { nothingLeft } from "./plan-batch";
import { PlanDifference } from "./plan-difference";
import { PlanPreview } from "./plan-preview";
import { PlanRefusal } from "./plan-refusal";
import { PlanSettings } from "./plan-settings";
import { planTitle } from "./plan-words";
import { refusalOf } from "./refusal";
import { useCreatePlan } from "./use-create-plan";
import { usePlanPreview } from "./use-plan-preview";
import { type PlanSource, usePlanSource } from "./use-plan-source";

const FAILURES = "/event-replay/failures";

function Head({ source, preview }: { source: PlanSource; preview: Replay | undefined }) {
  const now = useNow();
  const { zone } = useZone();
  const gone = source.check.data?.notOpen ?? 0;
  const planned = source.source.planned.size;
  const notes = [
    gone > 0 ? `${count(gone)} no longer open` : "",
    planned > 0 ? `${count(planned)} planned already` : "",
    source.leftOut.size > 0 ? `${count(source.leftOut.size)} left out` : "",
  ].filter(Boolean);
  return (
    <div className="ph">
      <div>
        <h1>{planTitle(preview)}</h1>
        <div className="sub">
          {source.failureId ? (
            <span>1 failure</span>
          ) : source.source.ids.size > 0 ? (
            <span>
              {count(source.source.ids.size)} selected, frozen at {exactTime(source.source.frozenAtMs, now, zone)}
              {notes.length > 0 ? `, ${notes.join(", ")}` : ""}
            </span>
          ) : null}
          {source.leftOut.size > 0 ? (
            <button className="plain link" type="button" onClick={source.takeBack}>
              Take back what was left out
            </button>
          ) : null}
          {preview ? (
            <>
              <span>
                {preview.projectionName}, {preview.consumerGroup}
              </span>
              <span>
                Preview computed <Age at={preview.requestedTs} units={1} suffix=" ago" />
              </span>
            </>
          ) : null}
          {source.otherSelection ? <span>The selection was changed since this address was made</span> : null}
        </div>
      </div>
    </div>
  );
}

/** Requests that hold what was planned from this selection. */
function PlannedIn({ source }: { source: PlanSource }) {
  const requests = [...new Set(source.source.planned.values())];
  if (requests.length === 0) return <ButtonLink href={FAILURES}>All failures</ButtonLink>;
  return (
    <>
      {requests.slice(-3).map((id, i, shown) => (
        <ButtonLink key={id} href={requestHref(id)}>
          {shown.length === 1 ? "Open the plan" : `Open plan ${requests.length - shown.length + i + 1}`}
        </ButtonLink>
      ))}
      <Button onClick={source.unmark}>Plan them again</Button>
      <ButtonLink href={FAILURES}>All failures</ButtonLink>
    </>
  );
}

function NothingToPlan({ source }: { source: PlanSource }) {
  const { ids, planned } = source.source;
  if (ids.size === 0) {
    return (
      <Empty title="Nothing is selected in this tab" actions={<ButtonLink href={FAILURES}>Select failures</ButtonLink>}>
        A plan is made from failures you select, or from one failure's page. A selection is kept by the tab it was made
        in.
      </Empty>
    );
  }
  const gone = source.check.data?.notOpen ?? 0;
  return (
    <Empty title="Nothing is left to plan" actions={<PlannedIn source={source} />}>
      {source.leftOut.size > 0
        ? "Everything that is left was left out here. Take it back, or select other failures."
        : nothingLeft(ids.size, planned.size, gone)}
    </Empty>
  );
}

function Waiting() {
  return (
    <>
      <div className="waiting-lines">
        <LinesLoading />
      </div>
      <TableLoading heads={["#", "Transaction", "Failure", "Moves", "Why it is in"]} />
    </>
  );
}

/** From named failures to a plan: what would run and why, what it would hold, and one button that asks for approval. */
export function PlanPage() {
  const { hostId, personKey } = useViewer();
  const source = usePlanSource(hostId, personKey);
  const { projection, preview, problem, again } = usePlanPreview(hostId, source);
  const batch = source.batch.join(" ");

  // The last preview with predecessors of the same failures stays known while the other strategy is looked at.
  const kept = useRef<{ batch: string; preview: Replay }>(undefined);
  useEffect(() => {
    if (preview?.strategy === "DEPENDENCY_CLOSURE") kept.current = { batch, preview };
  }, [preview, batch]);
  const closure =
    preview?.strategy === "DEPENDENCY_CLOSURE"
      ? preview
      : kept.current?.batch === batch
        ? kept.current.preview
        : undefined;

  const plan = useCreatePlan({ hostId, projection, preview, onPlanned: source.markPlanned });
  // What was shown when the button was pressed stays until the page is left: the marked selection gives another batch.
  const last = useRef<Replay>(undefined);
  useEffect(() => {
    if (preview && !plan.leaving) last.current = preview;
  }, [preview, plan.leaving]);
  const shown = plan.leaving ? last.current : preview;

  const checkProblem = source.check.error && !source.check.data ? asProblem(source.check.error) : undefined;
  const may = source.check.data?.permissions.plan;
  const nothing = source.mounted && (source.source.ids.size === 0 || (source.check.data && source.batch.length === 0));
  const refusal = problem ? refusalOf(problem, { ids: source.batch, strategy: source.strategy }) : undefined;

  if (plan.created) {
    return (
      <>
        <div className="ph">
          <h1>The plan differs from the preview</h1>
        </div>
        <PlanDifference created={plan.created} />
      </>
    );
  }
  if (!plan.leaving && (nothing || checkProblem)) {
    return (
      <>
        <Head source={source} preview={undefined} />
        {checkProblem ? (
          <Failed
            title="The selection could not be checked"
            sentence={checkProblem.message}
            kept="Nothing was changed and the selection is kept."
            requestId={checkProblem.requestId}
            onRetry={() => void source.check.refetch()}
          />
        ) : (
          <NothingToPlan source={source} />
        )}
      </>
    );
  }
  const blocked =
    may && !may.allowed
      ? (may.reason ?? "You may not plan a replay on this host.")
      : refusal
        ? "The preview was refused, so there is nothing to create."
        : shown
          ? shown.stale && !plan.leaving
            ? "What the preview was computed from has moved. Preview again first."
            : undefined
          : "The preview is being computed.";
  return (
    <div className="cols plan">
      <div>
        <Head source={source} preview={shown} />
        {may && !may.allowed ? (
          <Empty title="You may not plan a replay" actions={<ButtonLink href={FAILURES}>All failures</ButtonLink>}>
            {may.reason} Hand the link of the {source.failureId ? "failure" : "failures"} to an operator.
          </Empty>
        ) : refusal ? (
          <PlanRefusal refusal={refusal} source={source} again={() => void again()} />
        ) : shown ? (
          <PlanPreview preview={shown} again={() => void again()} />
        ) : (
          <Waiting />
        )}
      </div>
      <aside className="aside" aria-label="Plan settings">
        <PlanSettings source={source} preview={shown} closure={closure} plan={plan} blocked={blocked} />
      </aside>
    </div>
  );
}
