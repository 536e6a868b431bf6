"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useRef, useState } from "react";
import { getEventReplay, isAmbiguous, problemOf, useCreateReplayPlan } from "@/components/api/replay";
import { requestHref } from "../request/replay-words";
import type { Replay } from "../request/request-view";
import { type Attempt, attemptFor, type PlanContents } from "./attempt";
import { type Difference, differences } from "./difference";

export type Created = { plan: Replay; differences: readonly Difference[] };

type Given = {
  hostId: string;
  projection: { projectionName: string; consumerGroup: string } | undefined;
  preview: Replay | undefined;
  /** Marks what the plan holds in the selection. */
  onPlanned: (failureIds: readonly string[], replayRequestId: string) => void;
};

/**
 * Creates the plan that was previewed, once whatever is pressed how often, compares it with the preview, and leads to it;
 * where they differ the page stays and shows how.
 */
export function useCreatePlan({ hostId, projection, preview, onPlanned }: Given) {
  const client = useQueryClient();
  const router = useRouter();
  const mutation = useCreateReplayPlan();
  const attempt = useRef<Attempt>(undefined);
  // Set before anything is rendered again: the second click of a double click finds it.
  const sending = useRef(false);
  const [created, setCreated] = useState<Created>();
  const [leaving, setLeaving] = useState(false);
  const problem = problemOf(mutation);

  const create = async (contents: PlanContents) => {
    if (!projection || !preview || sending.current) return;
    sending.current = true;
    attempt.current = attemptFor(attempt.current, contents, () => crypto.randomUUID());
    const answer = await mutation
      .mutateAsync({
        hostId,
        projectionName: projection.projectionName,
        consumerGroup: projection.consumerGroup,
        failureIds: [...contents.failureIds],
        strategy: contents.strategy,
        validationMode: "EXECUTE",
        reason: contents.reason,
        idempotencyKey: attempt.current.idempotencyKey,
      })
      .catch(() => undefined);
    if (!answer) {
      sending.current = false;
      return;
    }
    setLeaving(true);
    const { replayRequestId } = answer;
    const plan = await client.fetchQuery(getEventReplay(hostId, replayRequestId)).catch(() => undefined);
    const found = plan ? differences(preview, plan) : [];
    if (plan && found.length > 0) setCreated({ plan, differences: found });
    onPlanned(plan ? plan.items.map((i) => i.failureId) : contents.failureIds, replayRequestId);
    if (found.length === 0) router.push(requestHref(replayRequestId));
  };

  return {
    create,
    busy: mutation.isPending || leaving,
    /** From the answer on: the page holds still until it is left. */
    leaving,
    created,
    problem,
    /** No answer came: the plan may be there, and the same press again gets it. */
    unknown: problem !== undefined && isAmbiguous(problem),
  };
}

export type CreatePlan = ReturnType<typeof useCreatePlan>;
