"use client";
import { useRef, useState } from "react";
import { reasonProblem } from "./decision-view";

/** The reason of a decision while it is typed. `take` gives it, trimmed, or shows what is missing and moves there. */
export function useReason() {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const change = (next: string) => {
    setText(next);
    if (problem) setProblem(reasonProblem(next));
  };
  const take = (): string | undefined => {
    const wrong = reasonProblem(text);
    setProblem(wrong);
    if (!wrong) return text.trim();
    field.current?.focus();
    return undefined;
  };
  return { text, change, problem, field, take };
}

export type Reason = ReturnType<typeof useReason>;
