import type { z } from "zod";
import type { CancelReplayRequest, cancelEventReplayResponse } from "@/server/contracts/replay";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { audit } from "@/server/governance/audit";
import { AppError } from "@/server/platform/errors";
import { decide } from "./decide";
import { cancelRequest, whoCancelled } from "./request-repository";

type Response = z.output<typeof cancelEventReplayResponse>;

/**
 * Ends a plan that hasn't started: READY, AWAITING_APPROVAL or APPROVED, stale or not; anything else is INVALID_REPLAY_STATE
 * (ER-API-10). Its requester may, and whoever the endpoint rules let cancel. The same person asking again gets the first
 * answer.
 */
export async function cancelEventReplay(ctx: ReplayContext, request: CancelReplayRequest): Promise<Response> {
  const { hostId, actor } = ctx;
  const { replayRequestId, planHash, reason } = request;
  return await decide(ctx, "cancelEventReplay", request, async (tx, row) => {
    if (row.status === "CANCELLED" && (await whoCancelled(tx, hostId, replayRequestId)) === actor.personId) {
      return { replayRequestId, status: row.status };
    }
    if (!(await cancelRequest(tx, hostId, replayRequestId, row.planHash as string))) {
      throw new AppError("INVALID_REPLAY_STATE");
    }
    await audit(tx, {
      hostId,
      event: "EVENT_REPLAY_REQUEST_CANCELLED",
      actor: { type: "USER", personId: actor.personId },
      replayRequestId,
      reason,
      details: { planHash },
    });
    return { replayRequestId, status: "CANCELLED" };
  });
}
