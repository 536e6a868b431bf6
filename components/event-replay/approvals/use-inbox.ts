"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { callOperation } from "@/components/api/call-operation";
import { useViewer } from "@/components/api/session";
import type { ListReplayResponse } from "@/server/contracts/replay-list";
import type { InboxView } from "./inbox-view";

const PAGE_SIZE = 25;
const REFRESH_MS = 15_000;

/**
 * One section of the inbox, soonest deadline first, page by page from the last deadline shown. A later plan has a later
 * deadline, so what arrives is added below and moves nothing.
 */
export function useInbox(view: InboxView) {
  const { hostId } = useViewer();
  return useInfiniteQuery({
    queryKey: ["listEventReplay", "inbox", hostId, view],
    queryFn: ({ pageParam, signal }) =>
      callOperation<ListReplayResponse>(
        "listEventReplay",
        { hostId, view, pageSize: PAGE_SIZE, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    refetchInterval: REFRESH_MS,
  });
}
