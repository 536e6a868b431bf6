import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  approveEventReplayResponse,
  CreatePlanResponse,
  cancelEventReplayResponse,
  createEventReplayPlanRequest,
  ExecuteReplayResponse,
  GetReplayResponse,
  ReplayStatus,
} from "@/server/contracts/replay";
import type { ListReplayResponse, listEventReplayRequest } from "@/server/contracts/replay-list";
import { callOperation } from "./call-operation";
import { asProblem, type Problem } from "./problem";

/** Recovery by replay: reads of requests, and the commands on them. A command is sent once by whoever presses, never again by itself. */

export type ReplayFilter = z.input<typeof listEventReplayRequest>;
export type PlanInput = z.input<typeof createEventReplayPlanRequest>;
/** What a decision binds: the hash on the screen it was made on, and the person's reason. */
export type Decision = { hostId: string; replayRequestId: string; planHash: string; reason: string };

const POLL_MS = 3_000;
const IDLE_MS = 15_000;

const MOVING: readonly ReplayStatus[] = ["PLANNING", "INSTALLING_BARRIER", "RUNNING"];
const ENDED: readonly ReplayStatus[] = ["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"];

/** True once nothing more can happen to the request. */
export const isEnded = (status: ReplayStatus): boolean => ENDED.includes(status);

/**
 * Milliseconds until a request is read again: 3 s while the system works on it or while it is not known what an execution
 * came to (ER-UI-20), seldom while it waits for a person, never once it has ended and holds nothing.
 */
export function pollEvery(
  read: Pick<GetReplayResponse, "status" | "barriers"> | undefined,
  unknownOutcome: boolean,
): number | false {
  if (!read) return unknownOutcome ? POLL_MS : false;
  if (isEnded(read.status)) return read.barriers.some((b) => b.releasedTs === null) ? IDLE_MS : false;
  return unknownOutcome || MOVING.includes(read.status) ? POLL_MS : IDLE_MS;
}

/** The request as it durably is. `unknownOutcome`: an execution was sent and its answer did not come. */
export const getEventReplay = (hostId: string, replayRequestId: string, unknownOutcome = false) =>
  queryOptions({
    queryKey: ["getEventReplay", hostId, replayRequestId],
    queryFn: ({ signal }) => callOperation<GetReplayResponse>("getEventReplay", { hostId, replayRequestId }, signal),
    refetchInterval: ({ state }) => pollEvery(state.data, unknownOutcome),
  });

/** Requests of the host, or one view of the inbox. */
export const listEventReplay = (filter: ReplayFilter) =>
  queryOptions({
    queryKey: ["listEventReplay", filter],
    queryFn: ({ signal }) => callOperation<ListReplayResponse>("listEventReplay", filter, signal),
    refetchInterval: IDLE_MS,
  });

/** An execution whose end cannot be told from its answer: no answer, an unreadable one, or the server's own failure. */
export function isAmbiguous(problem: Problem): boolean {
  return ["OFFLINE", "UNREADABLE", "INTERNAL", "REPLAY_EXECUTION_UNAVAILABLE"].includes(problem.code);
}

const again = (client: QueryClient, names: readonly string[]) =>
  Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name] })));

const REQUEST_READS = ["getEventReplay", "listEventReplay"];

/** Approve, cancel, execute. None is held back offline and sent later: it fails at once (ER-API-26). Each reads the request again whatever came of it, so that a refusal also explains itself. */
export function useReplayDecisions() {
  const client = useQueryClient();
  const onSettled = () => again(client, REQUEST_READS);
  return {
    approve: useMutation({
      mutationFn: (decision: Decision) =>
        callOperation<z.output<typeof approveEventReplayResponse>>("approveEventReplay", decision),
      retry: false,
      networkMode: "always",
      onSettled,
    }),
    cancel: useMutation({
      mutationFn: (decision: Decision) =>
        callOperation<z.output<typeof cancelEventReplayResponse>>("cancelEventReplay", decision),
      retry: false,
      networkMode: "always",
      onSettled,
    }),
    execute: useMutation({
      mutationFn: (decision: Decision) => callOperation<ExecuteReplayResponse>("executeEventReplay", decision),
      retry: false,
      networkMode: "always",
      onSettled,
    }),
  };
}

/** Plans a replay. Used for the preview (VALIDATE_ONLY) and for the plan itself. */
export function useCreateReplayPlan() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (plan: PlanInput) => callOperation<CreatePlanResponse>("createEventReplayPlan", plan),
    retry: false,
    networkMode: "always",
    onSettled: () => again(client, [...REQUEST_READS, "checkEventReplaySelection", "getEventReplayFailure"]),
  });
}

/** Reads everything again that a committed replay changes: failures, causes, notifications, overview, selections (ER-UI-22). */
export const refreshAfterReplay = (client: QueryClient) =>
  again(client, [
    "listEventReplayCandidate",
    "listEventReplayCause",
    "getEventReplayFailure",
    "checkEventReplaySelection",
    "getEventReplayRepair",
    "getNotification",
    "getUnreadNotificationCount",
    "getEventReplayOverview",
    "listEventReplay",
  ]);

/** The problem of a mutation, if it has one. */
export const problemOf = (mutation: { error: unknown }): Problem | undefined =>
  mutation.error ? asProblem(mutation.error) : undefined;
