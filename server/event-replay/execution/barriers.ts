import { compareScopes, type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import {
  type BarrierHolder,
  drainBarriers,
  handBarriers,
  insertBarriers,
  type LiveBarrier,
  loadLiveBarriers,
  quarantineBarriers,
  releaseBarriers,
  takeBarriers,
} from "./barrier-repository";
import { linksOfNewBarriers } from "./domain/late-barriers";
import { anyParkedOn, linkParked, loadWaiting, lockDrainingBarriers } from "./parked-repository";
import { pausePartition } from "./partition-lock";
import { workerId } from "./worker-id";

export type { BarrierHolder } from "./barrier-repository";

/** Who holds a scope that a request wants: another execution, or a quarantine whose failure the request doesn't replay. */
export type Held =
  | { readonly kind: "HELD"; readonly requestId: string; readonly failureId: null }
  | { readonly kind: "HELD"; readonly requestId: null; readonly failureId: string };

export type InstallRequest = BarrierHolder & {
  readonly partitionId: number;
  readonly scopes: readonly Scope[];
  readonly fencingToken: number;
  /** Milliseconds to wait for live batches of the partition. */
  readonly waitMs?: number;
};

/**
 * Puts the request's scopes under barriers, all or none, on the caller's transaction (ER-ISO-02, ER-ISO-03). The partition
 * lock is taken exclusively first: every live batch that began before has committed, every later one sees the barriers
 * (ER-ISO-25). A quarantine whose owner failure is an item of the request is taken over wherever it stands, under a higher
 * epoch; barriers the request already has learn the newer fencing token, so a takeover may call this again. Work that is
 * parked already and touches a new barrier waits for it, too.
 *
 * HELD changes nothing: another execution has one of the scopes, or a quarantine of a failure outside the plan that is still
 * OPEN. Throws PAUSE_TIMEOUT when live work doesn't let the partition go. A request without scopes installs nothing.
 */
export async function installBarriers(
  tx: Tx,
  request: InstallRequest,
): Promise<{ readonly kind: "INSTALLED"; readonly epoch: number } | Held> {
  await pausePartition(tx, request.projection, request.partitionId, request.waitMs);
  const scopes = distinct(request.scopes);
  const barriers = await loadLiveBarriers(tx, request, scopes, true);
  const held = holderAmong(barriers, request.requestId);
  if (held) return held;
  const epoch = epochOf(barriers);
  const mine = barriers.map((barrier) => barrier.barrierId);
  const taken = await takeBarriers(tx, request, mine, epoch, request.fencingToken);
  if (taken !== mine.length) throw new Error("a locked barrier moved");
  const covered = new Set(barriers.map((barrier) => scopeId(barrier.scope)));
  const open = scopes.filter((scope) => !covered.has(scopeId(scope)));
  const added = await insertBarriers(tx, request, open, epoch, request.fencingToken);
  if (await anyParkedOn(tx, request.hostId, open)) {
    const waiting = await loadWaiting(tx, request.hostId, request.projection);
    await linkParked(tx, request.hostId, linksOfNewBarriers(added, waiting));
  }
  return { kind: "INSTALLED", epoch };
}

/**
 * Who holds one of the scopes now, or null. For the command that commits an intent: an unlocked look that saves a pointless
 * one; `installBarriers` decides.
 */
export async function findHolder(tx: Tx, holder: BarrierHolder, scopes: readonly Scope[]): Promise<Held | null> {
  return holderAmong(await loadLiveBarriers(tx, holder, distinct(scopes), false), holder.requestId);
}

/** The request's items are done in these scopes (all its ACTIVE barriers without `scopes`): parked work may run now. */
export async function startDraining(tx: Tx, holder: BarrierHolder, scopes?: readonly Scope[]): Promise<number> {
  return drainBarriers(tx, holder, scopes ?? null);
}

/**
 * Scopes stay closed to live work until a later plan answers the failure that owns each (`ownerByScope`, keys by scopeId).
 * Barriers of the request on other scopes are left as they are. Returns how many are quarantined now.
 */
export async function quarantine(
  tx: Tx,
  request: BarrierHolder & { readonly ownerByScope: ReadonlyMap<string, string> },
): Promise<number> {
  const own = (await loadLiveBarriers(tx, request, [], true)).filter(
    (barrier) => barrier.requestId === request.requestId,
  );
  const owners = own.flatMap(({ barrierId, scope }) => {
    const failureId = request.ownerByScope.get(scopeId(scope));
    return failureId === undefined ? [] : [{ barrierId, failureId }];
  });
  return quarantineBarriers(tx, request.hostId, owners);
}

/**
 * Ends the request's draining barriers, on the caller's transaction and under the exclusive partition lock, so that no live
 * batch can park behind a barrier that goes (ER-ISO-07). MORE: something may still be drained; nothing changes. RELEASED: the
 * request owns no draining barrier any more. A barrier whose parked work waits for a barrier of another execution, or for a
 * quarantine, passes to that owner under a higher epoch and is drained by the last to reach DRAINING.
 */
export async function releaseIfDrained(
  tx: Tx,
  request: BarrierHolder & { readonly partitionId: number; readonly waitMs?: number },
): Promise<"RELEASED" | "MORE"> {
  await pausePartition(tx, request.projection, request.partitionId, request.waitMs);
  const barriers = await lockDrainingBarriers(tx, request);
  if (barriers.some((barrier) => barrier.mayDrain)) return "MORE";
  if (barriers.some((barrier) => barrier.heirRequestId === request.requestId)) {
    throw new Error("a barrier of the request does not drain yet");
  }
  const { hostId } = request;
  const done = barriers.filter((barrier) => !barrier.parked).map((barrier) => barrier.barrierId);
  const toFailures = barriers.flatMap(({ barrierId, heirFailureId }) =>
    heirFailureId === null ? [] : [{ barrierId, failureId: heirFailureId }],
  );
  const toRequests = barriers.flatMap(({ barrierId, heirRequestId }) =>
    heirRequestId === null ? [] : [{ barrierId, requestId: heirRequestId }],
  );
  const ended =
    (await releaseBarriers(tx, hostId, done, workerId())) +
    (await quarantineBarriers(tx, hostId, toFailures)) +
    (await handBarriers(tx, hostId, toRequests));
  if (ended !== barriers.length) throw new AppError("LEASE_LOST");
  return "RELEASED";
}

function holderAmong(barriers: readonly LiveBarrier[], requestId: string): Held | null {
  for (const barrier of barriers) {
    if (barrier.requestId !== null && barrier.requestId !== requestId) {
      return { kind: "HELD", requestId: barrier.requestId, failureId: null };
    }
    if (barrier.failureId !== null && barrier.ownerOpen && !barrier.ownerInPlan) {
      return { kind: "HELD", requestId: null, failureId: barrier.failureId };
    }
  }
  return null;
}

/** One epoch for all barriers of an install: past every one that is taken over. */
function epochOf(barriers: readonly LiveBarrier[]): number {
  const own = barriers.filter((barrier) => barrier.failureId === null).map((barrier) => barrier.epoch);
  const taken = barriers.filter((barrier) => barrier.failureId !== null).map((barrier) => barrier.epoch + 1);
  return Math.max(1, ...own, ...taken);
}

function distinct(scopes: readonly Scope[]): Scope[] {
  return [...new Map(scopes.map((scope) => [scopeId(scope), scope])).values()].sort(compareScopes);
}
