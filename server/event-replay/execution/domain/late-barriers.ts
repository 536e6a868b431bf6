import { type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";

export type NewBarrier = { readonly barrierId: string; readonly scope: Scope };
export type Waiting = { readonly deferredId: string; readonly scopes: readonly Scope[] };

/**
 * Parked work that a newly installed barrier reaches: what touches its scope, and what comes after that in any shared scope,
 * in source order. With these links a parked transaction waits for all that its predecessors in a scope wait for, which is
 * what keeps the drain from overtaking (ER-ISO-07). Pure; `waiting` in source order.
 */
export function linksOfNewBarriers(
  barriers: readonly NewBarrier[],
  waiting: readonly Waiting[],
): { readonly deferredId: string; readonly barrierId: string }[] {
  const board = new Map<string, ReadonlySet<string>>();
  for (const { barrierId, scope } of barriers) board.set(scopeId(scope), new Set([barrierId]));
  const links: { deferredId: string; barrierId: string }[] = [];
  for (const { deferredId, scopes } of waiting) {
    const reached = new Set(scopes.flatMap((scope) => [...(board.get(scopeId(scope)) ?? [])]));
    if (reached.size === 0) continue;
    for (const scope of scopes) board.set(scopeId(scope), reached);
    for (const barrierId of reached) links.push({ deferredId, barrierId });
  }
  return links;
}
