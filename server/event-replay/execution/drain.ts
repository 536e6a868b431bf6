import type { ErrorCode } from "@/server/contracts/errors";
import { captureFailure } from "@/server/event-replay/capture/capture-failure";
import type { FailureReason } from "@/server/event-replay/capture/domain/failure-record";
import { checkConstraints } from "@/server/event-replay/live/isolate";
import type { ScopeStanding } from "@/server/event-replay/projection/domain/continuity";
import { type ScopeRun, scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { decodeParked } from "@/server/event-replay/projection/domain/parked-frame";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { compareHostScopes, hostScopeId, loadStandings } from "@/server/event-replay/projection/scope-repository";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { isTransient, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { type Projection, quarantineBarriers } from "./barrier-repository";
import { mustHit } from "./fence";
import {
  endParked,
  findDrainable,
  hasParkedWork,
  heldByFailure,
  lockBarriersOfParked,
  lockParked,
  type ParkedRow,
  startParked,
} from "./parked-repository";
import { sharePartition } from "./partition-lock";

/** Cancelled by a timeout: the parked transaction is to blame only when it happens twice (design §3). */
const CANCELLED = "57014";

export type DrainRequest = {
  readonly hostId: string;
  readonly requestId: string;
  readonly partitionId: number;
};

export type DrainResult =
  /** One parked transaction is settled. */
  | { readonly kind: "DRAINED" }
  /** Nothing is parked behind the request's draining barriers: try to release. */
  | { readonly kind: "EMPTY" }
  /** What is parked waits for somebody else's barrier: release hands over. */
  | { readonly kind: "NOT_YET" }
  /** It did not project; its scopes are quarantined under the new failure. */
  | {
      readonly kind: "FAILED";
      readonly failureId: string;
      readonly transactionId: string;
      readonly scopes: readonly Scope[];
    };

/**
 * Settles the next parked transaction in source order on the caller's transaction, through the shared executor in REPLAY mode,
 * from its own stored bytes (ER-ISO-07). One call is one transaction. It shares the partition lock with live work; what
 * arrives meanwhile is parked behind.
 *
 * A transaction that does not project is archived as a new failure, its row ends FAILED with that failure's id, and every
 * barrier it waited for becomes a quarantine of it in the same commit, so that nothing of its scopes jumps ahead
 * (ER-ISO-09); the caller adds the audit record.
 * One whose scope an OPEN failure holds is what live work calls a gap: it is archived as REPLAY_GAP, as live work would, and
 * the drain goes on. Transient errors are thrown: the step may run again.
 */
export async function drainNext(tx: Tx, definition: ProjectionDefinition, request: DrainRequest): Promise<DrainResult> {
  const { hostId } = request;
  await sharePartition(tx, definition, request.partitionId);
  const parked = await takeNext(tx, definition, request);
  if (parked === "EMPTY" || parked === "NOT_YET") return { kind: parked };
  const decoded = decodeParked(parked.payload, parked);
  if (!decoded.ok) throw new AppError(decoded.code);
  const current = definition.forBatch ? await definition.forBatch(tx) : definition;
  const { transaction } = decoded;
  const reason = await run(tx, current, transaction);
  if (reason === null) {
    mustHit(await endParked(tx, hostId, parked.deferredId, null));
    return { kind: "DRAINED" };
  }
  if (reason.code === "REPLAY_GAP") return archiveGap(tx, current, parked, transaction, reason);
  return fail(tx, current, parked, transaction, reason);
}

/** Locks the next one, or says why there is none. Somebody who drained it first makes us look again. */
async function takeNext(
  tx: Tx,
  projection: Projection,
  request: DrainRequest,
): Promise<ParkedRow | "EMPTY" | "NOT_YET"> {
  const holder = { hostId: request.hostId, requestId: request.requestId, projection };
  tx.lock("BARRIER");
  for (;;) {
    if (!(await hasParkedWork(tx, holder))) return "EMPTY";
    const deferredId = await findDrainable(tx, request.hostId, projection);
    if (deferredId === null) return "NOT_YET";
    const parked = await lockParked(tx, request.hostId, projection, deferredId);
    if (parked === null) continue;
    mustHit(await startParked(tx, request.hostId, deferredId));
    return parked;
  }
}

/** Null when it is projected; else why not, with nothing of it written. */
async function run(
  tx: Tx,
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
): Promise<FailureReason | null> {
  let reason = await attempt(tx, definition, transaction);
  if (reason?.pg?.sqlState === CANCELLED) reason = await attempt(tx, definition, transaction);
  return reason && asDrained(tx, definition, transaction, reason);
}

/** A gap behind an OPEN failure is the gap it would be for live work; every other refusal is a failed drain. */
async function asDrained(
  tx: Tx,
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
  reason: FailureReason,
): Promise<FailureReason> {
  if (reason.code !== "REPLAY_GAP") return reason;
  const known = await heldByFailure(tx, transaction.hostId, definition, scopeRunsOf(transaction));
  return known ? reason : { ...reason, code: "DEFERRED_PROJECTION_FAILED" };
}

async function attempt(
  tx: Tx,
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
): Promise<FailureReason | null> {
  const { hostId } = transaction;
  const runs = scopeRunsOf(transaction);
  const locks = tx.markLocks();
  const undo = async () => {
    await tx.execute("ROLLBACK TO SAVEPOINT drain_step; RELEASE SAVEPOINT drain_step");
    tx.rewindLocks(locks);
  };
  await tx.execute("SAVEPOINT drain_step");
  try {
    const scopes = runs.map(({ type, key }) => ({ hostId, type, key })).sort(compareHostScopes);
    const stands = await loadStandings(tx, definition, scopes);
    const jump = jumpPastFailure(runs, (scope) => stands.get(hostScopeId(hostId, scope)));
    const refused =
      jump ?? refusalOf((await execute(tx, definition, [transaction], "REPLAY", stands))[0] as ExecutionOutcome);
    if (refused) {
      await undo();
      return refused;
    }
    // A constraint that only speaks at commit would undo the step's own bookkeeping: it has to speak here.
    await checkConstraints(tx);
    await tx.execute("RELEASE SAVEPOINT drain_step");
    return null;
  } catch (error) {
    if (isTransient(error) || !(error instanceof ProjectionWriteError)) throw error;
    await undo();
    const ordinal = transaction.members.length === 1 ? 0 : null;
    return { code: "DEFERRED_PROJECTION_FAILED", pg: safePgError(error), ordinal, gap: null };
  }
}

/**
 * The gap of a run that would set a baseline in a scope held by an OPEN failure: REPLAY mode doesn't ask for holds, since an
 * item answers its own failure, but parked work is live work that waited, and the missing version is known to exist.
 */
function jumpPastFailure(
  runs: readonly ScopeRun[],
  standing: (scope: Scope) => ScopeStanding | undefined,
): FailureReason | null {
  for (const { type, key, versions, declaresBaseline } of runs) {
    const { projected, held } = standing({ type, key }) ?? { projected: null, held: false };
    const got = versions[0] as number;
    const expected = projected === null ? null : projected + 1;
    if (held && (expected === null || (declaresBaseline && got > expected))) {
      return { code: "REPLAY_GAP", pg: null, ordinal: null, gap: { scopeType: type, scopeKey: key, expected, got } };
    }
  }
  return null;
}

function refusalOf(outcome: ExecutionOutcome): FailureReason | null {
  if (outcome.kind !== "REFUSED") return null;
  const code: ErrorCode = outcome.code === "REPLAY_GAP" ? outcome.code : "DEFERRED_PROJECTION_FAILED";
  return { code, pg: null, ordinal: outcome.ordinal, gap: outcome.gap };
}

async function archiveGap(
  tx: Tx,
  definition: ProjectionDefinition,
  parked: ParkedRow,
  transaction: ProjectionTransaction,
  reason: FailureReason,
): Promise<DrainResult> {
  const { failureId } = await captureFailure(tx, definition, transaction, reason);
  mustHit(await endParked(tx, parked.hostId, parked.deferredId, { failureId, code: reason.code }));
  return { kind: "DRAINED" };
}

async function fail(
  tx: Tx,
  definition: ProjectionDefinition,
  parked: ParkedRow,
  transaction: ProjectionTransaction,
  reason: FailureReason,
): Promise<DrainResult> {
  const barriers = await lockBarriersOfParked(tx, parked.hostId, parked.deferredId);
  const { failureId } = await captureFailure(tx, definition, transaction, reason);
  mustHit(await endParked(tx, parked.hostId, parked.deferredId, { failureId, code: reason.code }));
  const owners = barriers.map(({ barrierId }) => ({ barrierId, failureId }));
  mustHit(await quarantineBarriers(tx, parked.hostId, owners), owners.length);
  return {
    kind: "FAILED",
    failureId,
    transactionId: transaction.transactionId,
    scopes: barriers.map((barrier) => barrier.scope),
  };
}
