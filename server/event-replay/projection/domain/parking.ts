import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { isComplete, scopeRunsOf } from "./membership";
import type { ProjectionTransaction } from "./types";

/** A live transaction that waits, with every barrier it waits for, in ascending order. */
export type ToPark = {
  readonly transaction: ProjectionTransaction;
  readonly scopes: readonly Scope[];
  readonly barrierIds: readonly string[];
};

/**
 * Decides, in source order, which transactions of a batch are parked: those that touch a held scope. A parked one holds all
 * its other scopes behind the same barriers, so that nothing later of those scopes runs before it (ER-ISO-04). A transaction
 * without scopes waits for nobody. Pure; `held` is what the database said, by scope of one host, and is not changed.
 */
export function chooseParked(
  transactions: readonly ProjectionTransaction[],
  held: ReadonlyMap<string, readonly string[]>,
  idOf: (hostId: string, scope: Scope) => string,
): { readonly parked: readonly ToPark[]; readonly rest: readonly ProjectionTransaction[] } {
  const board = new Map<string, ReadonlySet<string>>([...held].map(([id, barriers]) => [id, new Set(barriers)]));
  const parked: ToPark[] = [];
  const rest: ProjectionTransaction[] = [];
  for (const transaction of transactions) {
    const scopes = isComplete(transaction) ? scopeRunsOf(transaction).map(({ type, key }) => ({ type, key })) : [];
    const ids = scopes.map((scope) => idOf(transaction.hostId, scope));
    const barriers = new Set(ids.flatMap((id) => [...(board.get(id) ?? [])]));
    if (barriers.size === 0) {
      rest.push(transaction);
      continue;
    }
    for (const id of ids) board.set(id, barriers);
    parked.push({ transaction, scopes, barrierIds: [...barriers].sort() });
  }
  return { parked, rest };
}

/**
 * Position of a transaction in its source, as text that sorts as the numbers do: a host's transactions come from one partition,
 * in offset order. It is the order in which parked work drains.
 */
export function sourceOrderKey(transaction: ProjectionTransaction): string {
  const source = transaction.members[0]?.source;
  if (!source) throw new Error("a transaction without members has no position");
  return `${String(source.partition).padStart(5, "0")}:${String(source.offset).padStart(20, "0")}`;
}
