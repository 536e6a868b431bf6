"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { previewPlan } from "@/components/api/plan-preview";
import { asProblem } from "@/components/api/problem";
import { getEventReplay } from "@/components/api/replay";
import type { PlanSource } from "./use-plan-source";

/**
 * The preview of what the source gives: a plan that only validates, then read back with its items, scopes and persons. It is
 * read again while it is looked at, so that it says itself when what it was made from has moved. Another strategy or another
 * set is another preview.
 */
export function usePlanPreview(hostId: string, source: PlanSource) {
  const [opened, setOpened] = useState(0);
  const projection = source.check.data?.projections[0];
  const made = useQuery({
    ...previewPlan(
      {
        hostId,
        projectionName: projection?.projectionName ?? "",
        consumerGroup: projection?.consumerGroup ?? "",
        failureIds: source.batch,
        strategy: source.strategy,
      },
      opened,
    ),
    enabled:
      projection !== undefined && source.batch.length > 0 && source.check.data?.permissions.plan.allowed === true,
  });
  const id = made.data?.replayRequestId;
  const read = useQuery({ ...getEventReplay(hostId, id ?? ""), enabled: id !== undefined });
  const error = made.error ?? (id === undefined || read.data ? null : read.error);
  return {
    projection,
    preview: id === undefined ? undefined : read.data,
    problem: error ? asProblem(error) : undefined,
    /** Looks at the failures again, and at the plan they make. */
    again: async () => {
      await source.check.refetch();
      setOpened((n) => n + 1);
    },
  };
}
