import { queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  CheckSelectionResponse,
  GetFailureResponse,
  ListCandidateIdsResponse,
  ListCandidateResponse,
  ListCauseResponse,
  listEventReplayCandidateRequest,
} from "@/server/contracts/failures";
import { callOperation } from "./call-operation";

/** Reads of failures, one function an operation, named as it is published. */

type CandidateRequest = z.input<typeof listEventReplayCandidateRequest>;
/** What narrows every list of failures; `hostId` included, so that one host's rows never answer for another's. */
export type FailureFilter = Omit<CandidateRequest, "page" | "pageSize" | "cursor" | "direction" | "sort" | "asOf">;
export type CandidatePage = Pick<CandidateRequest, "pageSize" | "cursor" | "direction" | "sort" | "asOf">;

export const listCandidates = (filter: FailureFilter, page: CandidatePage, signal?: AbortSignal) =>
  callOperation<ListCandidateResponse>("listEventReplayCandidate", { ...filter, ...page }, signal);

/** Groups by cause. `opened` counts how often the page was opened anew, `limit` cuts the groups off. */
export const listCauses = (filter: FailureFilter, page: { opened?: number; limit?: number } = {}) =>
  queryOptions({
    queryKey: ["listEventReplayCause", filter, page],
    queryFn: ({ signal }) =>
      callOperation<ListCauseResponse>("listEventReplayCause", { ...filter, limit: page.limit }, signal),
  });

/** Every id that matches now: what "select all" freezes. Not cached: each press asks again. */
export const listCandidateIds = (filter: FailureFilter & { asOf?: string | undefined }) =>
  callOperation<ListCandidateIdsResponse>("listEventReplayCandidateIds", filter);

/** How a frozen selection stands now. */
export const checkSelection = (hostId: string, failureIds: readonly string[]) =>
  queryOptions({
    queryKey: ["checkEventReplaySelection", hostId, failureIds],
    queryFn: ({ signal }) =>
      callOperation<CheckSelectionResponse>("checkEventReplaySelection", { hostId, failureIds }, signal),
    enabled: failureIds.length > 0,
    refetchInterval: 15_000,
  });

export const getFailure = (hostId: string, failureId: string) =>
  queryOptions({
    queryKey: ["getEventReplayFailure", hostId, failureId],
    queryFn: ({ signal }) => callOperation<GetFailureResponse>("getEventReplayFailure", { hostId, failureId }, signal),
    refetchInterval: 15_000,
  });
