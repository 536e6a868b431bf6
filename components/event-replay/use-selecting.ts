"use client";
import { useRef, useState } from "react";
import { type FailureFilter, listCandidateIds } from "@/components/api/failures";
import { asProblem } from "@/components/api/problem";
import { useNow } from "@/components/ui/clock";
import type { CandidateItem } from "@/server/contracts/failures";
import { notSelectable } from "./tables/failure-row";

type Given = {
  /** Rows on the page, in their order. */
  items: readonly CandidateItem[];
  filter: FailureFilter;
  /** When the page was opened. */
  asOf: string | undefined;
  set: (ids: readonly string[], on: boolean, nowMs: number) => void;
};

/** The ways to select: one row, a range of rows on the page, everything that matches. Only what can be replayed. */
export function useSelecting({ items, filter, asOf, set }: Given) {
  const now = useNow();
  const [selectProblem, setSelectProblem] = useState<string>();
  const lastToggled = useRef<string>(undefined);
  const ids = items.map((i) => i.failureId);
  const byId = new Map(items.map((i) => [i.failureId, i]));

  const toggle = (id: string, on: boolean, range: boolean) => {
    const from = range && lastToggled.current ? ids.indexOf(lastToggled.current) : -1;
    const to = ids.indexOf(id);
    const span = from >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
    const able = span.filter((s) => {
      const item = byId.get(s);
      return item !== undefined && notSelectable(item) === undefined;
    });
    set(able, on, now);
    lastToggled.current = id;
  };

  /** Freezes what matches at the time the page was opened: ids, not positions, and nothing that came later. */
  const selectMatching = async (causeKey: string | undefined, on: boolean) => {
    setSelectProblem(undefined);
    try {
      const request = { ...filter, includeDiagnostic: false, asOf };
      const answer = await listCandidateIds(causeKey ? { ...request, causeKey } : request);
      set(answer.failureIds, on, now);
      if (on && answer.truncated)
        setSelectProblem("More match than a selection holds: the newest 10,000 are selected.");
    } catch (error) {
      setSelectProblem(`The selection was not changed. ${asProblem(error).message}`);
    }
  };

  return { toggle, selectMatching, selectProblem };
}
