import type { ErrorCode } from "@/server/contracts/errors";
import { loadFailureTransaction } from "@/server/event-replay/capture/load-failure";
import { pinnedEntry } from "@/server/event-replay/projection/domain/prepare";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { compareHostScopes, hostScopeId, loadStandings } from "@/server/event-replay/projection/scope-repository";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { isTransient, type SafePgError, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { auditExecution } from "./audit";
import type { ScopeExpectation } from "./domain/expectations";
import { movedScope, staleItem } from "./domain/staleness";
import { assertFence, type Fence, mustHit } from "./fence";
import { type Attempt, endAttempt, loadItems, type ReplayItem } from "./item-repository";

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
};

/**
 * One item on the caller's transaction: fence, its scopes and its failure locked, everything checked again, the archived bytes
 * through the shared executor, deferred constraints, proof that it moved, then failure RESOLVED, item and attempt SUCCEEDED.
 * One commit holds all of it or nothing (ER-EXE-06, ER-ISO-22). Throws ItemFailure when the item can't succeed.
 */
export async function runItem(tx: Tx, run: ItemRun): Promise<void> {
  const { fence, item, expected } = run;
  await assertFence(tx, fence);
  const definition = run.definition.forBatch ? await run.definition.forBatch(tx) : run.definition;
  const before = await standings(tx, definition, fence.hostId, expected);
  const scopesLocked = tx.markLocks();
  await lockFailure(tx, fence.hostId, item.failureId);
  const current = (await loadItems(tx, fence.hostId, fence.replayRequestId, item.ordinal))[0];
  refuseStale(current ?? item, expected, before);
  refuseExcluded(item, run.excludedEventTypes);
  const transaction = await loadTransaction(tx, fence.hostId, item);
  // The executor locks the same scope rows again; they are ours, so it waits for nobody in the wrong order.
  tx.rewindLocks(scopesLocked);
  const outcome = (await execute(tx, definition, [transaction], "REPLAY"))[0] as ExecutionOutcome;
  await tx.execute("SET CONSTRAINTS ALL IMMEDIATE");
  const moved = refuseUnmoved(definition, transaction, outcome);
  tx.rewindLocks(scopesLocked);
  const after = await standings(tx, definition, fence.hostId, expected);
  for (const scope of expected) {
    if (after.get(scopeId(scope)) !== scope.after)
      throw new ItemFailure("PROJECTION_FAILED", "A scope did not move as planned.");
  }
  await resolveFailure(tx, fence, item.failureId);
  await endAttempt(tx, fence, run.attempt, {
    status: "SUCCEEDED",
    post: {
      scopes: expected.map(({ type, key, after: version }) => ({ scopeType: type, scopeKey: key, version })),
      moved,
    },
    errorCode: null,
    errorMessage: null,
  });
  await auditExecution(tx, fence, "EVENT_REPLAY_ATTEMPT_SUCCEEDED", {
    failureId: item.failureId,
    details: { itemOrdinal: item.ordinal, attemptNumber: run.attempt.number },
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

async function standings(
  tx: Tx,
  definition: ProjectionDefinition,
  hostId: string,
  expected: readonly ScopeExpectation[],
): Promise<Map<string, number | null>> {
  const scopes = expected.map(({ type, key }) => ({ hostId, type, key })).sort(compareHostScopes);
  const found = await loadStandings(tx, definition, scopes);
  return new Map(scopes.map((scope) => [scopeId(scope), found.get(hostScopeId(hostId, scope))?.projected ?? null]));
}

async function lockFailure(tx: Tx, hostId: string, failureId: string): Promise<void> {
  tx.lock("FAILURE");
  await tx.query(
    "SELECT 1 FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $2 FOR UPDATE",
    [hostId, failureId],
    "lock_failure",
  );
}

function refuseStale(
  item: ReplayItem,
  expected: readonly ScopeExpectation[],
  before: ReadonlyMap<string, number | null>,
): void {
  const stale = staleItem(item) ?? (movedScope(expected, before) ? "SCOPE_MOVED" : null);
  if (stale !== null) throw new ItemFailure("STALE_PLAN", stale);
}

/** An exclusion added after planning counts (decision D-27). */
function refuseExcluded(item: ReplayItem, excluded: readonly string[]): void {
  if (item.members.some((member) => excluded.includes(member.eventType))) {
    throw new ItemFailure("EVENT_NOT_REPLAYABLE", "The event type is excluded from replay.");
  }
}

/** The exact bytes, their digests recomputed now (ER-PAY-02, ER-PAY-07). */
async function loadTransaction(tx: Tx, hostId: string, item: ReplayItem): Promise<ProjectionTransaction> {
  const loaded = await loadFailureTransaction(tx, hostId, item.failureId);
  if (!loaded.ok) throw new ItemFailure(loaded.code, "The archived transaction can't be used.");
  return loaded.transaction;
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

async function resolveFailure(tx: Tx, fence: Fence, failureId: string): Promise<void> {
  tx.lock("FAILURE");
  mustHit(
    await tx.execute(
      `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = clock_timestamp(), resolved_by_request_id = $3,
              resolution_code = 'RESOLVED_BY_EXACT_REPLAY', updated_ts = clock_timestamp()
        WHERE host_id = $1 AND failure_id = $2 AND status = 'OPEN'`,
      [fence.hostId, failureId, fence.replayRequestId],
      "resolve_failure",
    ),
  );
}
