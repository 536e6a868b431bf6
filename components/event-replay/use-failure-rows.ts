"use client";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type FailureFilter, listCandidates, listCauses } from "@/components/api/failures";
import type { CauseGroup } from "@/server/contracts/failures";
import type { FailureView } from "./failure-view";

export const PAGE_SIZE = 25;
/** Rows of a group before "show more", and after it. */
const GROUP_PREVIEW = 8;
/** A group this small is shown whole: a "show 2 more" would take as much room. */
const GROUP_WHOLE = 12;
export const GROUP_LIMIT = 200;
const OPEN_AT_FIRST = 2;
const NEWER_MS = 10_000;

/**
 * The list as it was when the page was opened: later failures stay out, so nothing moves under the pointer; they are
 * counted, and `refresh` takes them in. `epoch` counts these openings.
 */
export function useFailureRows(view: FailureView, filter: FailureFilter) {
  const [epoch, setEpoch] = useState(0);
  const flat = view.layout === "flat";

  const causes = useQuery({
    ...listCauses(filter, { opened: epoch }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: (q) => (q.state.data?.total === 0 ? NEWER_MS / 2 : false),
  });
  const asOf = causes.data && !causes.isPlaceholderData ? causes.data.asOf : undefined;

  const list = useQuery({
    queryKey: ["listEventReplayCandidate", filter, view.sort, view.cursor, view.direction, asOf],
    queryFn: ({ signal }) =>
      listCandidates(
        filter,
        { pageSize: PAGE_SIZE, cursor: view.cursor, direction: view.direction ?? "older", sort: view.sort, asOf },
        signal,
      ),
    enabled: flat && asOf !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

  const newer = useQuery({
    queryKey: ["listEventReplayCandidate", "newer", filter, asOf],
    queryFn: ({ signal }) => listCandidates(filter, { pageSize: 1, asOf }, signal),
    enabled: asOf !== undefined,
    refetchInterval: NEWER_MS,
  });

  const [shown, setShown] = useState<Record<string, number>>({});
  const groups = causes.data?.groups ?? [];
  const preview = (n: number) => (n <= GROUP_WHOLE ? GROUP_WHOLE : GROUP_PREVIEW);
  const sizeOf = (g: CauseGroup, i: number) => shown[g.cause.key] ?? (i < OPEN_AT_FIRST ? preview(g.count) : 0);
  const rows = useQueries({
    queries: groups.map((g, i) => {
      const pageSize = sizeOf(g, i);
      return {
        queryKey: ["listEventReplayCandidate", "group", filter, g.cause.key, view.sort, pageSize, asOf],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          listCandidates({ ...filter, causeKey: g.cause.key }, { pageSize, sort: view.sort, asOf }, signal),
        enabled: !flat && pageSize > 0 && asOf !== undefined,
        placeholderData: keepPreviousData,
        refetchInterval: 15_000,
      };
    }),
  });

  const total = causes.data?.total ?? 0;
  return {
    causes,
    list,
    asOf,
    groups: groups.map((group, i) => ({
      group,
      open: sizeOf(group, i) > 0,
      items: rows[i]?.data?.items,
      failed: rows[i]?.isError ?? false,
    })),
    openGroup: (key: string, open: boolean) => {
      const n = groups.find((g) => g.cause.key === key)?.count ?? 0;
      setShown((s) => ({ ...s, [key]: open ? preview(n) : 0 }));
    },
    showMore: (key: string) => setShown((s) => ({ ...s, [key]: GROUP_LIMIT })),
    /** Failures that arrived after the page was opened. */
    newerCount: newer.data?.newerCount ?? 0,
    /** Others of them that left the list since. */
    goneCount: newer.data ? Math.max(0, total - (newer.data.total - newer.data.newerCount)) : 0,
    refresh: () => setEpoch((n) => n + 1),
  };
}
