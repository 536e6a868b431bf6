"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { asProblem } from "@/components/api/problem";
import { getEventReplay, isAmbiguous, isEnded, refreshAfterReplay, useReplayDecisions } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { useNow } from "@/components/ui/clock";
import { makeAnnouncer } from "./applied-event";
import { isUnstarted, type Replay } from "./request-view";

const announce = typeof window === "undefined" ? undefined : makeAnnouncer(window);

/**
 * One request as it durably is, and the commands on it. While it is not known what an execution came to, it is read every
 * 3 s until it has ended (ER-UI-20); nothing is ever sent again by itself. Its commit is told to the page once.
 */
export function useRequest(replayRequestId: string) {
  const { hostId } = useViewer();
  const client = useQueryClient();
  const decisions = useReplayDecisions();
  const [lostAnswer, setLostAnswer] = useState(false);
  const query = useQuery(getEventReplay(hostId, replayRequestId, lostAnswer || decisions.execute.isPending));
  const request = query.data;
  const unknown = lostAnswer && request !== undefined && !isEnded(request.status);

  useEffect(() => {
    if (request && announce?.(request)) void refreshAfterReplay(client);
  }, [request, client]);

  useExpiry(request, query.refetch);

  const execute = (reason: string, planHash: string, done: (status: Replay["status"]) => void, onSettled: () => void) =>
    decisions.execute.mutate(
      { hostId, replayRequestId, planHash, reason },
      {
        onSettled,
        onSuccess: (answer) => {
          setLostAnswer(false);
          done(answer.status);
        },
        onError: (error) => {
          if (isAmbiguous(asProblem(error))) setLostAnswer(true);
        },
      },
    );

  return { query, request, unknown, decisions, execute, hostId };
}

/** Reads the request again in the second its time is over: the server then says what became of it. */
function useExpiry(request: Replay | undefined, refetch: () => unknown): void {
  const now = useNow();
  const over = request !== undefined && isUnstarted(request) && Date.parse(request.expiresAt) <= now;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it turns over
  useEffect(() => {
    if (over) void refetch();
  }, [over]);
}
