import { scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { chooseParked, type ToPark } from "@/server/event-replay/projection/domain/parking";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { anyLiveBarrier, loadHeldScopes } from "@/server/event-replay/projection/parking-repository";
import { compareHostScopes, type HostScope, hostScopeId } from "@/server/event-replay/projection/scope-repository";
import type { Tx } from "@/server/platform/db/transaction";

export type Divided = { readonly parked: readonly ToPark[]; readonly rest: readonly ProjectionTransaction[] };

/**
 * Which transactions of a claimed batch wait behind a barrier, and which project now. Without a barrier on any of the batch's
 * hosts this is one EXISTS and nothing else. Call it on the batch's transaction, after its partition lock: no barrier of
 * these hosts can come or go until it commits.
 */
export async function divideByBarriers(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
): Promise<Divided> {
  if (!(await anyLiveBarrier(tx, definition, transactions))) return { parked: [], rest: transactions };
  const scopes = new Map<string, HostScope>();
  for (const transaction of transactions) {
    const { hostId } = transaction;
    for (const { type, key } of scopeRunsOf(transaction))
      scopes.set(hostScopeId(hostId, { type, key }), { hostId, type, key });
  }
  const held = await loadHeldScopes(tx, definition, [...scopes.values()].sort(compareHostScopes));
  return chooseParked(transactions, held, hostScopeId);
}
