import { queryOptions } from "@tanstack/react-query";
import type { CreatePlanResponse, SelectionStrategy } from "@/server/contracts/replay";
import { callOperation } from "./call-operation";

export type PreviewInput = {
  hostId: string;
  projectionName: string;
  consumerGroup: string;
  failureIds: readonly string[];
  strategy: SelectionStrategy;
};

/** Nobody decides about a preview, so nobody is asked for a reason; the record says what it was. */
const PREVIEW_REASON = "Preview in the console: nothing runs and nobody approves it.";

/**
 * Computes a preview: a plan that only validates, seen by no inbox. Asked once for what is shown; `opened` counts how often
 * it was asked for anew. It is never repeated by itself, since each one is written down.
 */
export const previewPlan = (input: PreviewInput, opened: number) =>
  queryOptions({
    queryKey: ["previewEventReplayPlan", input, opened],
    queryFn: ({ signal }) =>
      callOperation<CreatePlanResponse>(
        "createEventReplayPlan",
        { ...input, validationMode: "VALIDATE_ONLY", reason: PREVIEW_REASON },
        signal,
      ),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    refetchOnMount: false,
  });
