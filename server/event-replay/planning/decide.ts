import type { ReplayContext } from "@/server/event-replay/replay-context";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { requirePerson } from "./person-rules";
import { expireIfOverdue, lockRequest, type RequestRow, readRequest } from "./request-repository";

type Decision = { readonly hostId: string; readonly replayRequestId: string; readonly planHash: string };

/**
 * The frame of every decision on a plan: a person, the request row locked, expiry written first where it is due (and kept
 * although the decision is refused), the exact hash. Two decisions at once run one after the other, so there is one outcome
 * (ER-APR-12). Throws AUTHORIZATION_DENIED, REQUEST_NOT_FOUND, STALE_PLAN (another hash: what was seen is not what is stored),
 * INVALID_REPLAY_STATE (expired meanwhile).
 */
export async function decide<T>(
  ctx: ReplayContext,
  name: string,
  decision: Decision,
  body: (tx: Tx, row: RequestRow) => Promise<T>,
): Promise<T> {
  requirePerson(ctx);
  const outcome = await inTransaction(ctx.pool, name, async (tx) => {
    const seen = await readRequest(tx, ctx.hostId, decision.replayRequestId);
    // A step of an execution may hold the row for long, and what executes never comes back to a state that is decided on.
    const executing = seen?.status === "INSTALLING_BARRIER" || seen?.status === "RUNNING";
    const row = executing ? seen : await lockRequest(tx, ctx.hostId, decision.replayRequestId);
    if (!row) throw new AppError("REQUEST_NOT_FOUND");
    if (row.planHash === null || toWireDigest(row.planHash) !== decision.planHash) throw new AppError("STALE_PLAN");
    if (await expireIfOverdue(tx, ctx.hostId, decision.replayRequestId)) return { expired: true as const };
    return { expired: false as const, value: await body(tx, row) };
  });
  if (outcome.expired) throw new AppError("INVALID_REPLAY_STATE");
  return outcome.value;
}
