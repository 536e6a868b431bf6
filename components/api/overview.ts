import { queryOptions } from "@tanstack/react-query";
import type { GetOverviewResponse } from "@/server/contracts/overview";
import { callOperation } from "./call-operation";

const REFRESH_MS = 5_000;

/** Health, causes and blocked scopes of the host; read again every five seconds while the page is visible. */
export const getOverview = (hostId: string) =>
  queryOptions({
    queryKey: ["getEventReplayOverview", hostId],
    queryFn: ({ signal }) => callOperation<GetOverviewResponse>("getEventReplayOverview", { hostId }, signal),
    refetchInterval: REFRESH_MS,
  });
