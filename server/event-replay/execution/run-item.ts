import type { ErrorCode } from "@/server/contracts/errors";
import { loadFailureTransaction } from "@/server/event-replay/capture/load-failure";
import { checkConstraints } from "@/server/event-replay/live/isolate";
import type { ScopeStanding } from "@/server/event-replay/projection/domain/continuity";
import { pinnedEntry } from "@/server/event-replay/projection/domain/prepare";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { compareHostScopes, hostScopeId, loadStandings } from "@/server/event-replay/projection/scope-repository";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { isTransient, type SafePgError, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { auditExecution } from "./audit";
import type { Projection } from "./barrier-repository";
import type { ScopeExpectation } from "./domain/expectations";
import { movedScope, staleItem } from "./domain/staleness";
import { assertFence, type Fence } from "./fence";
import { endItem, type NextAttempt } from "./item-end";
import type { Attempt, ReplayItem } from "./item-repository";

/** The item itself is to blame, or the plan no longer fits: the plan stops here. `message` is our own words. */
export class ItemFailure extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly reason: string,
  ) {
    super(code);
    this.name = "ItemFailure";
  }
}

export type ItemRun = {
  readonly definition: ProjectionDefinition;
  readonly fence: Fence;
  readonly item: ReplayItem;
  readonly attempt: Attempt;
  readonly expected: readonly ScopeExpectation[];
  readonly excludedEventTypes: readonly string[];
  readonly leaseSeconds: number;
  /** Asked right before the item's last write: which attempt may begin with its commit, if any. */
  readonly next: () => NextItem | null;
};

export type NextItem = NextAttempt & { readonly failureId: string };

/**
 * One item on the caller's transaction: fence, its scopes and its failure locked, everything checked again, the archived bytes
 * through the shared executor, deferred constraints, proof that it moved, then failure RESOLVED, item and attempt SUCCEEDED.
 * One commit holds all of it or nothing (ER-EXE-06, ER-ISO-22); with it the next attempt begins, so that a crash in the middle
 * of that one leaves its trace. Returns the next attempt. Throws ItemFailure when the item can't succeed.
 */
export async function runItem(tx: Tx, run: ItemRun): Promise<Attempt | null> {
  const { fence, expected } = run;
  await assertFence(tx, fence);
  const definition = run.definition.forBatch ? await run.definition.forBatch(tx) : run.definition;
  const scopes = expected.map(({ type, key }) => ({ hostId: fence.hostId, type, key })).sort(compareHostScopes);
  const before = await loadStandings(tx, definition, scopes);
  const transaction = await lockTransaction(tx, fence.hostId, run, before);
  const locked = tx.markLocks();
  const outcome = (await execute(tx, definition, [transaction], "REPLAY", before))[0] as ExecutionOutcome;
  await checkConstraints(tx);
  const moved = refuseUnmoved(definition, transaction, outcome);
  // What is left to write is ours alone already, by the failure's lock and the fence: it waits for nobody in the wrong order.
  tx.rewindLocks(locked);
  return endSuccess(tx, run, definition, moved);
}

async function endSuccess(tx: Tx, run: ItemRun, projection: Projection, moved: number): Promise<Attempt | null> {
  const { fence, item, attempt, expected } = run;
  const next = run.next();
  const ended = await endItem(tx, fence, {
    projection,
    failureId: item.failureId,
    attempt,
    scopes: expected,
    post: {
      scopes: expected.map(({ type, key, after: version }) => ({ scopeType: type, scopeKey: key, version })),
      moved,
    },
    leaseSeconds: run.leaseSeconds,
    next,
  });
  if (!ended.resolved) throw new ItemFailure("STALE_PLAN", "REPAIR_UNDER_WAY");
  if (ended.moved !== expected.length) throw new ItemFailure("PROJECTION_FAILED", "A scope did not move as planned.");
  await auditExecution(tx, fence, "EVENT_REPLAY_ATTEMPT_SUCCEEDED", {
    failureId: item.failureId,
    details: { itemOrdinal: item.ordinal, attemptNumber: attempt.number },
  });
  if (next && ended.next) await auditStarted(tx, fence, next.failureId, ended.next);
  return ended.next;
}

/** The record that an attempt began, in the commit that began it. */
export async function auditStarted(tx: Tx, fence: Fence, failureId: string, attempt: Attempt): Promise<void> {
  await auditExecution(tx, fence, "EVENT_REPLAY_ATTEMPT_STARTED", {
    failureId,
    details: { itemOrdinal: attempt.ordinal, attemptNumber: attempt.number },
  });
}

/** What an error of an item's transaction means; null: nothing is known of the item, and the same work may succeed later. */
export function blameItem(error: unknown): ItemFailure | null {
  if (error instanceof ItemFailure) return error;
  const pg = safePgError(error);
  if (isTransient(error) || pg?.sqlState === "57014") return null;
  if (error instanceof ProjectionWriteError || pg?.sqlState.startsWith("23")) {
    return new ItemFailure("PROJECTION_FAILED", pg ? wordsOf(pg) : "A handler failed.");
  }
  return null;
}

function wordsOf(pg: SafePgError): string {
  return `SQLSTATE ${pg.sqlState}${pg.constraint ? `, constraint ${pg.constraint}` : ""}`;
}

/**
 * The failure's row locked, then everything of the plan checked against it, and its exact bytes with their digests recomputed
 * now (ER-PAY-02, ER-PAY-07).
 */
async function lockTransaction(
  tx: Tx,
  hostId: string,
  { item, expected, excludedEventTypes }: ItemRun,
  before: ReadonlyMap<string, ScopeStanding>,
): Promise<ProjectionTransaction> {
  const loaded = await loadFailureTransaction(tx, hostId, item.failureId, { lock: true });
  const stored = loaded.ok ? loaded.contentFingerprint : item.storedFingerprint;
  const now = {
    ...item,
    failureStatus: loaded.status ?? item.failureStatus,
    storedFingerprint: stored,
    computedFingerprint: stored,
  };
  const stands = new Map(
    expected.map((scope) => [scopeId(scope), before.get(hostScopeId(hostId, scope))?.projected ?? null]),
  );
  const stale = staleItem(now) ?? (movedScope(expected, stands) ? "SCOPE_MOVED" : null);
  if (stale !== null) throw new ItemFailure("STALE_PLAN", stale);
  refuseExcluded(item, excludedEventTypes);
  if (!loaded.ok) throw new ItemFailure(loaded.code, "The archived transaction can't be used.");
  return loaded.transaction;
}

/** An exclusion added after planning counts (decision D-27). */
function refuseExcluded(item: ReplayItem, excluded: readonly string[]): void {
  if (item.members.some((member) => excluded.includes(member.eventType))) {
    throw new ItemFailure("EVENT_NOT_REPLAYABLE", "The event type is excluded from replay.");
  }
}

/** "Green means moved": every member changed a row, unless its registry entry allows otherwise. Returns the members that did. */
function refuseUnmoved(
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
  outcome: ExecutionOutcome,
): number {
  if (outcome.kind === "REFUSED") throw new ItemFailure(outcome.code, "The executor refused the transaction.");
  if (outcome.kind === "ALREADY_PROJECTED") throw new ItemFailure("STALE_PLAN", "ALREADY_PROJECTED");
  transaction.members.forEach((member, i) => {
    if (!outcome.memberChanged[i] && !pinnedEntry(definition, member)?.mayChangeNothing) {
      throw new ItemFailure("PROJECTION_FAILED", "A handler changed no row.");
    }
  });
  return outcome.memberChanged.filter(Boolean).length;
}
