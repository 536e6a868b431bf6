"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import { useEffect, useMemo, useState } from "react";
import { checkSelection } from "@/components/api/failures";
import type { CheckSelectionResponse } from "@/server/contracts/failures";
import type { SelectionStrategy } from "@/server/contracts/replay";
import { type Selection, standing, useSelection, withPlan } from "../selection";
import { nextBatch, plannable, readFirst } from "./plan-batch";

/** The selection lives in the browser: until it is read there, nothing is known of it. */
function useMounted(): boolean {
  const [mounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return mounted;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * What the page plans: one failure of the address, or the frozen selection of this tab; which of it is still open, which the
 * viewer left out, how many at first. The state of the failures is read once and again only when asked, so that nothing of a
 * plan changes under the eyes of whoever reads it.
 */
export function usePlanSource(hostId: string, personKey: string) {
  const params = useSearchParams();
  const mounted = useMounted();
  const stored = useSelection(hostId, personKey);
  const named = params.get("failureId");
  const failureId = named !== null && UUID.test(named) ? named : undefined;
  const kept = useMemo(
    (): Selection => (failureId ? { ids: new Set([failureId]), frozenAtMs: 0, planned: new Map() } : stored.selection),
    [failureId, stored.selection],
  );
  const check = useQuery({
    ...checkSelection(hostId, mounted ? [...kept.ids] : []),
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const source = useMemo(() => standing(kept, check.data), [kept, check.data]);
  const client = useQueryClient();
  const markPlanned = (ids: readonly string[], replayRequestId: string) => {
    client.setQueriesData<CheckSelectionResponse>({ queryKey: ["checkEventReplaySelection", hostId] }, (known) =>
      known ? withPlan(known, ids, replayRequestId) : known,
    );
    stored.markPlanned(ids, replayRequestId);
  };
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [first, setFirst] = useState(readFirst(params.get("first")));
  const [strategy, setStrategy] = useState<SelectionStrategy>(
    params.get("strategy") === "EXACT" ? "EXACT" : "DEPENDENCY_CLOSURE",
  );

  // The address keeps what was chosen, so that a reload or a link shows the same preview.
  useEffect(() => {
    const url = new URL(window.location.href);
    const put = (key: string, value: string | undefined) =>
      value === undefined ? url.searchParams.delete(key) : url.searchParams.set(key, value);
    put("first", first === undefined ? undefined : String(first));
    put("strategy", strategy === "EXACT" ? "EXACT" : undefined);
    if (url.href !== window.location.href) window.history.replaceState(null, "", url);
  }, [first, strategy]);

  const gone = useMemo(() => new Set(check.data?.notOpenIds ?? []), [check.data]);
  const left = useMemo(() => plannable(source, gone).filter((id) => !leftOut.has(id)), [source, gone, leftOut]);
  const batch = useMemo(() => (check.data ? nextBatch(left, first) : []), [check.data, left, first]);
  const frozenAt = params.get("selection");
  return {
    mounted,
    failureId,
    source,
    check,
    left,
    batch,
    leftOut,
    leaveOut: (ids: readonly string[]) => setLeftOut((out) => new Set([...out, ...ids])),
    takeBack: () => setLeftOut(new Set()),
    first,
    setFirst,
    strategy,
    setStrategy,
    /** The address was made for a selection that is not the one kept now. */
    otherSelection: !failureId && frozenAt !== null && frozenAt !== String(source.frozenAtMs),
    markPlanned,
    unmark: stored.unmark,
  };
}

export type PlanSource = ReturnType<typeof usePlanSource>;
