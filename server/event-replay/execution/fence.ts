import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";

/** Which execution of which request is meant. A later claim has a higher token; only the newest may write. */
export type Fence = { readonly hostId: string; readonly replayRequestId: string; readonly fencingToken: number };

/**
 * First statement of every transaction of an execution: locks the request row FOR SHARE, so that no takeover can claim it
 * until this transaction ends, and checks that its token is still ours (ER-ISO-11). An expired lease alone refuses nothing;
 * a newer claim does. Throws LEASE_LOST; the caller rolls back and has changed nothing.
 */
export async function assertFence(tx: Tx, fence: Fence): Promise<void> {
  tx.lock("REPLAY_REQUEST");
  const rows = await tx.query<{ fencing_token: number }>(
    `SELECT fencing_token FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2 FOR SHARE`,
    [fence.hostId, fence.replayRequestId],
    "assert_fence",
  );
  requireToken(rows, fence);
}

/** The locked request row still carries our token, or a newer claim has the execution. */
export function requireToken(rows: readonly { readonly fencing_token: number }[], fence: Fence): void {
  if (rows[0]?.fencing_token !== fence.fencingToken) throw new AppError("LEASE_LOST");
}

/** A guarded write of an execution hits exactly the rows it means, or the execution has lost them (ER-ISO-11). */
export function mustHit(rows: number, expected = 1): void {
  if (rows !== expected) throw new AppError("LEASE_LOST");
}
