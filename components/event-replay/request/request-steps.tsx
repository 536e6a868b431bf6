"use client";
import { isEnded } from "@/components/api/replay";
import { useNow, useZone } from "@/components/ui/clock";
import { exactTime } from "@/components/ui/format";
import { StatusGlyph } from "@/components/ui/status";
import type { Replay } from "./request-view";
import { type Step, stepSentence, stepsOf } from "./steps-view";

function StepGlyph({ step }: { step: Step }) {
  if (step.state === "now" && step.status) {
    return (
      <span className={`st glyph ${step.status}`}>
        <StatusGlyph status={step.status} />
      </span>
    );
  }
  return (
    <svg className={step.state === "ok" ? "i" : "i k-todo"} viewBox="0 0 16 16" aria-hidden="true">
      {step.state === "ok" ? (
        <>
          <circle cx="8" cy="8" r="7" fill="currentColor" stroke="none" />
          <path d="m5 8.2 2.1 2.1L11 6" stroke="var(--background)" />
        </>
      ) : (
        <circle cx="8" cy="8" r="6" />
      )}
    </svg>
  );
}

const STATE_WORDS: Record<Step["state"], string> = { ok: "done", now: "now", next: "still to come" };

/** The way of the request in six steps; six bars and one sentence where there is no room. */
export function RequestSteps({ request }: { request: Replay }) {
  const now = useNow();
  const { zone } = useZone();
  const steps = stepsOf(request);
  return (
    <>
      <ol className="steps" aria-label="Progress of the request">
        {steps.map((step) => {
          const at = step.at ? exactTime(Date.parse(step.at), now, zone) : undefined;
          return (
            <li
              key={step.key}
              className={step.state === "now" ? `now ${step.status ?? ""}` : step.state}
              aria-current={step.state === "now" ? "step" : undefined}
            >
              <StepGlyph step={step} />
              <span>
                {step.word}
                <span className="vh">
                  , {step.state === "next" && isEnded(request.status) ? "not reached" : STATE_WORDS[step.state]}
                </span>
              </span>
              <span className="m">{[at, step.note].filter(Boolean).join(", ")}</span>
            </li>
          );
        })}
      </ol>
      <p className="only-s m sm step-line">{stepSentence(steps)}</p>
    </>
  );
}
