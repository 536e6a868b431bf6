import { type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";

/** What one OPEN failure writes in one scope, and where the scope stands. */
export type OpenWrite = Scope & {
  readonly failureId: string;
  readonly firstVersion: number;
  readonly lastVersion: number;
  readonly projected: number | null;
};

type Lane = { readonly writes: readonly OpenWrite[]; readonly owner: string | undefined };
type Placed = { readonly write: OpenWrite; readonly lane: number };

/** A projection's open work, by scope and by failure. */
export type OpenWork = { readonly lanes: readonly Lane[]; readonly byFailure: ReadonlyMap<string, readonly Placed[]> };

/** Indexes the rows of one snapshot, in any order. `owners`: the open failure that holds a scope in quarantine, by scopeId. */
export function indexOpenWork(rows: readonly OpenWrite[], owners: ReadonlyMap<string, string> = new Map()): OpenWork {
  const laneOf = { AGGREGATE: new Map<string, number>(), GRAPH_ROOT: new Map<string, number>() };
  const lanes: OpenWrite[][] = [];
  const byFailure = new Map<string, Placed[]>();
  for (const write of rows) {
    let lane = laneOf[write.type].get(write.key);
    if (lane === undefined) {
      lane = lanes.length;
      laneOf[write.type].set(write.key, lane);
      lanes.push([]);
    }
    (lanes[lane] as OpenWrite[]).push(write);
    const placed = byFailure.get(write.failureId);
    if (placed) placed.push({ write, lane });
    else byFailure.set(write.failureId, [{ write, lane }]);
  }
  for (const lane of lanes) lane.sort((a, b) => a.firstVersion - b.firstVersion);
  const ownerOf = (scope: Scope) => (owners.size === 0 ? undefined : owners.get(scopeId(scope)));
  return { lanes: lanes.map((writes) => ({ writes, owner: ownerOf(writes[0] as Scope) })), byFailure };
}

/**
 * The selected failures and every open one that has to run before them: all predecessors in every scope, and theirs, through
 * transactions of several scopes (ER-PLN-06). A predecessor writes an earlier version that isn't projected yet. A scope in
 * quarantine needs the failure that owns it as well, though that one may write other scopes only: nobody else may take the
 * quarantine over (ER-ISO-10). Semi-naive: per scope a high-water mark of what is already in, so each open write is looked at
 * once and the work is linear.
 */
export function closeOver(open: OpenWork, selected: Iterable<string>): ReadonlySet<string> {
  const closure = new Set(selected);
  const highWater = new Int32Array(open.lanes.length);
  // A set iterates what is added while it is iterated: it is its own work list.
  for (const failureId of closure) {
    for (const { write, lane } of open.byFailure.get(failureId) ?? []) {
      const { writes, owner } = open.lanes[lane] as Lane;
      if (owner !== undefined) closure.add(owner);
      let next = highWater[lane] as number;
      for (; next < writes.length; next++) {
        const earlier = writes[next] as OpenWrite;
        if (earlier.firstVersion >= write.firstVersion) break;
        if (earlier.projected === null || earlier.lastVersion > earlier.projected) closure.add(earlier.failureId);
      }
      highWater[lane] = next;
    }
  }
  return closure;
}
