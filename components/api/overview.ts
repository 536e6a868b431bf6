import { queryOptions } from "@tanstack/react-query";
import type { GetOverviewResponse } from "@/server/contracts/overview";
import { callOperation } from "./call-operation";

const REFRESH_MS = 5_000;
/** While appended work waits for its projection the next answer will differ: look again at once. */
const BUSY_MS = 1_000;

/** Health, causes and blocked scopes of the host; read again every five seconds while the page is visible, sooner when busy. */
export const getOverview = (hostId: string) =>
  queryOptions({
    queryKey: ["getEventReplayOverview", hostId],
    queryFn: ({ signal }) => callOperation<GetOverviewResponse>("getEventReplayOverview", { hostId }, signal),
    refetchInterval: ({ state }) => ((state.data?.capture.outboxPending ?? 0) > 0 ? BUSY_MS : REFRESH_MS),
  });
