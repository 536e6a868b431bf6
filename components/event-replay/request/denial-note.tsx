"use client";
import { useEffect, useRef } from "react";
import { asProblem } from "@/components/api/problem";
import { Icon } from "@/components/ui/icon";
import { type Decision, denialOf } from "./decision-view";
import type { Replay } from "./request-view";

type Props = { decision: Decision; error: unknown; request: Replay };

/** A command that was refused or lost: our sentence, what follows from it, the code; scrolled to where it is read. Nothing when there was none. */
export function DenialNote({ decision, error, request }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!error) return;
    ref.current?.scrollIntoView({ block: "nearest" });
    ref.current?.focus({ preventScroll: true });
  }, [error]);
  if (!error) return null;
  const denial = denialOf(decision, asProblem(error), request);
  return (
    <div className="note failed denial" role="alert" tabIndex={-1} ref={ref}>
      <Icon name="warning" />
      <span>
        {denial.sentence} {denial.advice} <span className="code">{denial.code}</span>
        {denial.requestId ? (
          <>
            {" "}
            <span className="code">request {denial.requestId}</span>
          </>
        ) : null}
      </span>
    </div>
  );
}
