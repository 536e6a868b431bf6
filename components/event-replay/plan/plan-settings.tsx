"use client";
import { useId } from "react";
import { Button } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import type { SelectionStrategy } from "@/server/contracts/replay";
import { ReasonField } from "../request/reason-field";
import type { Replay } from "../request/request-view";
import { useReason } from "../request/use-reason";
import { firstOptions, restSentence } from "./plan-batch";
import { afterCreating, closureHint, exactHint, nobodyCanApprove } from "./plan-words";
import type { CreatePlan } from "./use-create-plan";
import type { PlanSource } from "./use-plan-source";

type Option = { value: SelectionStrategy; name: string; hint: string };

function Strategy({ source, preview, closure }: { source: PlanSource; preview?: Replay; closure?: Replay }) {
  const options: Option[] = [
    { value: "DEPENDENCY_CLOSURE", name: "With predecessors", hint: closureHint(closure ?? preview) },
    { value: "EXACT", name: "Only the selected", hint: exactHint(closure) },
  ];
  return (
    <fieldset className="field">
      <legend className="label">Strategy</legend>
      <div className="opts">
        {options.map((o) => (
          <label className="opt" key={o.value}>
            <input
              type="radio"
              name="strategy"
              value={o.value}
              checked={source.strategy === o.value}
              onChange={() => source.setStrategy(o.value)}
            />
            <span>
              <span className="md">{o.name}</span> <span className="code">{o.value}</span>
              <span className="hint line">{o.hint}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** A few first, to see that they run; the rest is planned later from the same frozen selection. */
function HowMany({ source }: { source: PlanSource }) {
  const id = useId();
  const options = firstOptions(source.left.length);
  const taken = source.batch.length;
  const known = options.some((o) => o.value === taken);
  const rest = restSentence(source.left.length, taken);
  return (
    <div className="field">
      <label htmlFor={id}>How many at first</label>
      <span className="pick">
        <select
          className="in"
          id={id}
          value={taken}
          onChange={(event) => {
            const n = Number(event.target.value);
            source.setFirst(n >= source.left.length ? undefined : n);
          }}
        >
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
          {known ? null : <option value={taken}>First {count(taken)}, then the rest</option>}
        </select>
        <Icon name="down" />
      </span>
      {rest ? <span className="hint">{rest}</span> : null}
    </div>
  );
}

/** What became of a press that did not lead to the plan: refused, or not known. */
function CreateProblem({ plan }: { plan: CreatePlan }) {
  const { problem } = plan;
  if (!problem || plan.busy) return null;
  const advice = plan.unknown
    ? "It is not known whether the plan was created. Press again: if it was, you get that plan and no second one."
    : problem.code === "UNAUTHENTICATED"
      ? "Sign in in another tab; what you typed stays here."
      : "No plan was created. Preview again to see what stands in the way.";
  return (
    <div className="note failed" role="alert">
      <Icon name="warning" />
      <span>
        {problem.message} {advice} <span className="code">{problem.code}</span>
      </span>
    </div>
  );
}

type Props = {
  source: PlanSource;
  preview: Replay | undefined;
  /** The last preview with predecessors of the same failures: it tells what EXACT would lack. */
  closure: Replay | undefined;
  plan: CreatePlan;
  /** Why no plan can be created from what is shown; undefined when one can. */
  blocked: string | undefined;
};

/** The action column: strategy, how many, reason, and the one button that creates the plan. */
export function PlanSettings({ source, preview, closure, plan, blocked }: Props) {
  const reason = useReason();
  const n = preview?.transactionCount ?? source.batch.length;
  const submit = () => {
    const text = reason.take();
    if (text) void plan.create({ failureIds: source.batch, strategy: source.strategy, reason: text });
  };
  const label = plan.unknown ? "Ask for the plan again" : `Create plan of ${count(n)}`;
  return (
    <div className="settings">
      <Strategy source={source} {...(preview && { preview })} {...(closure && { closure })} />
      {source.left.length > 1 ? <HowMany source={source} /> : null}
      {preview && nobodyCanApprove(preview) ? (
        <div className="note held">
          <Icon name="warning" />
          <span>
            Nobody else seen on this host may approve it. A second person has to sign in first.{" "}
            <span className="code">NO_ELIGIBLE_APPROVER</span>
          </span>
        </div>
      ) : null}
      <ReasonField
        reason={reason}
        placeholder="What was wrong, what was fixed, a ticket"
        hint="The approver and the audit log read it. No personal data."
      />
      <CreateProblem plan={plan} />
      <div>
        <Button
          look="primary"
          wide
          disabledReason={blocked}
          aria-disabled={plan.busy || undefined}
          aria-busy={plan.busy || undefined}
          onClick={submit}
        >
          {plan.leaving ? "Opening the plan" : plan.busy ? "Creating the plan" : label}
        </Button>
        {preview && !blocked ? <p className="hint after">{afterCreating(preview)}</p> : null}
      </div>
    </div>
  );
}
