import { useId } from "react";
import { count } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { REASON_MAX } from "./decision-view";
import type { Reason } from "./use-reason";

const NEAR = REASON_MAX - 200;

/** Where a reason is asked, in the place of its action. The hint says who will read it; what is wrong stands below. */
export function ReasonField(props: { reason: Reason; label?: string; placeholder: string; hint: string }) {
  const { text, change, problem, field } = props.reason;
  const id = useId();
  const n = text.trim().length;
  return (
    <div className="field">
      <label htmlFor={id}>{props.label ?? "Reason"}</label>
      <textarea
        ref={field}
        id={id}
        className={problem ? "in bad" : "in"}
        rows={3}
        value={text}
        placeholder={props.placeholder}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => change(event.target.value)}
      />
      <span id={`${id}-hint`} className="stack tight-s">
        {problem ? (
          <span className="err" role="alert">
            <Icon name="warning" small />
            {problem}
          </span>
        ) : null}
        <span className="hint">
          {props.hint}
          {n > NEAR ? ` ${count(n)} of ${count(REASON_MAX)} characters.` : ""}
        </span>
      </span>
    </div>
  );
}
