"use client";
import { useRef, useState } from "react";
import { asProblem } from "@/components/api/problem";
import { isAmbiguous, isEnded } from "@/components/api/replay";
import type { Replay } from "./request-view";
import { type Reason, useReason } from "./use-reason";
import type { useRequest } from "./use-request";

const RAN: Partial<Record<Replay["status"], string>> = {
  SUCCEEDED: "It ran to its end.",
  INSTALLING_BARRIER: "It is started. Its durable status is read every 3 s.",
  RUNNING: "It is running. Its durable status is read every 3 s.",
  FAILED: "It ran and failed; the page says where.",
};

/**
 * The decisions of the viewer. Each sends the hash that is on the screen and the reason, once: a second press while the first
 * is under way does nothing, and the server counts a repeated decision once.
 */
export function useDecide({ request, decisions, execute, hostId, unknown }: ReturnType<typeof useRequest>) {
  const reason = useReason();
  const [outcome, setOutcome] = useState<{ status: Replay["status"]; words: string }>();
  const busy = useRef(false);
  const pending = decisions.approve.isPending
    ? ("approve" as const)
    : decisions.cancel.isPending
      ? ("cancel" as const)
      : decisions.execute.isPending
        ? ("execute" as const)
        : undefined;

  const decide = (from: Reason, send: (reason: string, planHash: string, settled: () => void) => void) => {
    const planHash = request?.planHash;
    if (busy.current || pending || !planHash) return;
    const text = from.take();
    if (text === undefined) return;
    busy.current = true;
    setOutcome(undefined);
    for (const mutation of [decisions.approve, decisions.cancel, decisions.execute]) mutation.reset();
    send(text, planHash, () => {
      busy.current = false;
    });
  };

  const target = { hostId, replayRequestId: request?.replayRequestId ?? "" };
  const cancelWith = (from: Reason) =>
    decide(from, (text, planHash, onSettled) =>
      decisions.cancel.mutate(
        { ...target, planHash, reason: text },
        {
          onSettled,
          onSuccess: () => setOutcome({ status: "CANCELLED", words: "You cancelled it. It never started." }),
        },
      ),
    );

  return {
    reason,
    /** What was done here last, while the request is still in the state that came of it. */
    outcome: outcome && outcome.status === request?.status ? outcome : undefined,
    pending,
    /** Nothing can be decided until the durable status says what became of the last press. */
    unknown,
    errors: {
      approve: decisions.approve.error,
      cancel: decisions.cancel.error,
      // What was not known is known once the request has ended.
      execute: request && isEnded(request.status) && isLost(decisions.execute.error) ? null : decisions.execute.error,
    },
    approve: () =>
      decide(reason, (text, planHash, onSettled) =>
        decisions.approve.mutate(
          { ...target, planHash, reason: text },
          {
            onSettled,
            onSuccess: () => {
              reason.change("");
              setOutcome({ status: "APPROVED", words: "You approved it. Nothing has started." });
            },
          },
        ),
      ),
    cancel: () => cancelWith(reason),
    cancelWith,
    execute: () =>
      decide(reason, (text, planHash, onSettled) =>
        execute(
          text,
          planHash,
          (status) => {
            reason.change("");
            setOutcome({ status, words: RAN[status] ?? "It ended; the page says how." });
          },
          onSettled,
        ),
      ),
  };
}

const isLost = (error: unknown): boolean => Boolean(error) && isAmbiguous(asProblem(error));

export type Decide = ReturnType<typeof useDecide>;
