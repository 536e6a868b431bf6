import type { z } from "zod";
import type { ApproveReplayRequest, approveEventReplayResponse } from "@/server/contracts/replay";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { audit } from "@/server/governance/audit";
import { loadIdentities } from "@/server/governance/people";
import { safePgError } from "@/server/platform/db/pg-errors";
import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { decide } from "./decide";
import { approveRequest, type RequestRow } from "./request-repository";
import { loadStaleReasons } from "./staleness";

type Response = z.output<typeof approveEventReplayResponse>;

/**
 * A second person binds themselves to this request and this very hash (ER-APR-04, ER-APR-06). Never its requester, by no
 * account that is linked to theirs: 403 AUTHORIZATION_DENIED by every route, and the database refuses it too (ER-APR-05). A plan whose ground has moved is
 * STALE_PLAN and stays as it is. The same person asking again gets the first answer.
 */
export async function approveEventReplay(ctx: ReplayContext, request: ApproveReplayRequest): Promise<Response> {
  return await decide(ctx, "approveEventReplay", request, (tx, row) => approve(tx, ctx, request, row));
}

async function approve(
  tx: Tx,
  ctx: ReplayContext,
  { replayRequestId, planHash, reason }: ApproveReplayRequest,
  row: RequestRow,
): Promise<Response> {
  const { hostId, actor } = ctx;
  const own = await loadIdentities(tx, actor.personId);
  if (own.has(row.requestedBy)) throw new AppError("AUTHORIZATION_DENIED");
  if (row.status === "APPROVED" && row.approvedBy === actor.personId && row.approvedTs !== null) {
    return { replayRequestId, status: row.status, approvedBy: row.approvedBy, approvedTs: toIso(row.approvedTs) };
  }
  if (row.status !== "AWAITING_APPROVAL") throw new AppError("INVALID_REPLAY_STATE");
  const registryVersion = ctx.projection.registries.current.version;
  const stale = await loadStaleReasons(tx, hostId, [replayRequestId], registryVersion, 20);
  if (stale.length > 0) {
    throw new AppError("STALE_PLAN", {
      failureIds: stale.flatMap(({ failureId }) => failureId ?? []),
      scopes: stale.flatMap(({ scopeKey }) => scopeKey ?? []),
    });
  }
  const approved = await approveRequest(tx, hostId, replayRequestId, row.planHash as string, actor.personId).catch(
    denied,
  );
  if (!approved) throw new AppError("INVALID_REPLAY_STATE");
  await audit(tx, {
    hostId,
    event: "EVENT_REPLAY_PLAN_APPROVED",
    actor: { type: "USER", personId: actor.personId },
    replayRequestId,
    reason,
    details: { planHash },
  });
  return {
    replayRequestId,
    status: "APPROVED",
    approvedBy: actor.personId,
    approvedTs: toIso(approved.approvedTs),
  };
}

/** Accounts may have been linked since they were asked for; the database's word is the last. */
function denied(error: unknown): never {
  throw safePgError(error)?.constraint === "event_replay_request_two_persons"
    ? new AppError("AUTHORIZATION_DENIED")
    : error;
}
