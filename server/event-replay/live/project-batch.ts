import type pg from "pg";
import { captureFailure } from "@/server/event-replay/capture/capture-failure";
import type {
  ProjectionDefinition,
  ProjectionTransaction,
  SourceEvent,
} from "@/server/event-replay/projection/domain/types";
import { execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { insertParked } from "@/server/event-replay/projection/parking-repository";
import { isConnectionLoss, isTransient, safePgError } from "@/server/platform/db/pg-errors";
import { beginStatement, commit, openTx, type Tx } from "@/server/platform/db/transaction";
import { cancelKey, type IsolationResult, isOwnGuard, isolate, refusalReason } from "./isolate";
import { advanceLane, type ClaimedBatch, claimBatch, partitionLockKey } from "./outbox-lane";
import { divideByBarriers } from "./park";

/** Events of a batch. Past some hundreds a larger batch gains little and holds its locks longer. */
export const BATCH_EVENTS_MAX = 500;

export type BatchResult =
  /** Another projector holds the lane, a barrier installer waits, or there is nothing to read. */
  | { readonly kind: "IDLE" }
  | {
      readonly kind: "DONE";
      readonly transactions: number;
      readonly events: number;
      readonly captured: number;
      /** Stored whole behind a barrier. They count as settled: draining them is the barrier's business. */
      readonly parked: number;
    };

/** What a lane remembers between batches. Only speed and the "cancelled twice" rule depend on it. */
export class LaneMemory {
  limit = BATCH_EVENTS_MAX;
  /** Share of transactions that failed in the last batch; above zero the next one is isolated from the start. */
  failing = 0;
  readonly cancelledBefore = new Set<string>();
}

/**
 * Projects the next complete transactions of one lane in one database transaction: shared partition lock, claim, execute,
 * capture of what is refused, progress, commit. The happy path has no savepoint, no hash and no canonical JSON. When a write
 * fails, everything is rolled back and the same transactions are isolated under savepoints in a second database transaction.
 * Transactions that touch a scope under a barrier are parked whole in the same commit, everything else goes on (ER-ISO-04).
 * Progress moves only in a commit that projected, captured or parked everything below it (ER-CAP-02, ER-CAP-03, ER-EXE-15).
 *
 * Throws on transient errors and when the archive refuses a failure: nothing of the batch is committed then.
 */
export async function projectBatch(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  partitionId: number,
  memory: LaneMemory = new LaneMemory(),
): Promise<BatchResult> {
  if (memory.failing === 0) {
    try {
      return await inBatch(pool, definition, partitionId, memory.limit, projectAll);
    } catch (error) {
      // Only what the projection's own writes raised is worth looking into; COMMIT speaks for its deferred constraints.
      if (isTransient(error) || !(error instanceof ProjectionWriteError)) throw error;
    }
  }
  const settled: ProjectionTransaction[] = [];
  const result = await inBatch(pool, definition, partitionId, memory.limit, async (tx, live, transactions) => {
    const isolation = await isolate(tx, live, transactions, {
      expectedFailures: memory.failing,
      cancelledBefore: memory.cancelledBefore,
    });
    settled.push(...transactions.slice(0, isolation.settled));
    return isolation;
  });
  for (const transaction of settled) memory.cancelledBefore.delete(cancelKey(transaction));
  memory.failing = result.kind === "DONE" ? result.captured / result.transactions : 0;
  return result;
}

/** Settles the transactions given, in order, as far as it gets. */
type BatchBody = (
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
) => Promise<IsolationResult>;

/** Optimistic form: everything at once, then what could not run is captured in the same commit. */
async function projectAll(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
): Promise<IsolationResult> {
  const outcomes = await execute(tx, definition, transactions, "LIVE");
  let captured = 0;
  for (let i = 0; i < outcomes.length; i++) {
    const outcome = outcomes[i];
    if (outcome?.kind !== "REFUSED") continue;
    await captureFailure(tx, definition, transactions[i] as ProjectionTransaction, refusalReason(outcome));
    captured += 1;
  }
  return { settled: transactions.length, captured };
}

type Settled = { readonly done: readonly ProjectionTransaction[]; readonly captured: number; readonly parked: number };

/** Parks what waits behind a barrier and settles the rest, up to the first transaction that is left for the next batch. */
async function settle(
  tx: Tx,
  definition: ProjectionDefinition,
  batch: ClaimedBatch,
  body: BatchBody,
): Promise<Settled> {
  const { parked, rest } = await divideByBarriers(tx, definition, batch.transactions);
  const { settled, captured } = await body(tx, definition, rest);
  const firstLeft = rest[settled];
  const done = firstLeft ? batch.transactions.slice(0, batch.transactions.indexOf(firstLeft)) : batch.transactions;
  const reached = new Set(done);
  const waiting = parked.filter(({ transaction }) => reached.has(transaction));
  await insertParked(tx, definition, waiting);
  return { done, captured, parked: waiting.length };
}

async function inBatch(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  partitionId: number,
  limit: number,
  body: BatchBody,
): Promise<BatchResult> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const lockKey = partitionLockKey(definition, partitionId);
    // One round trip. The shared lock precedes every row lock; false means an installer is waiting: leave the lane to it.
    const results = (await client.query(
      `${beginStatement("live")}; ${POINT_LOOKUPS}; SELECT pg_try_advisory_xact_lock_shared(${lockKey}) AS ok`,
    )) as unknown as pg.QueryResult<{ ok: boolean }>[];
    const locked = results.at(-1);
    const tx = openTx(client);
    tx.lock("PARTITION");
    const batch = locked?.rows[0]?.ok ? await claimBatch(tx, definition, partitionId, limit) : null;
    if (!batch) {
      await client.query("ROLLBACK");
      return { kind: "IDLE" };
    }
    const live = definition.forBatch ? await definition.forBatch(tx) : definition;
    const { done, captured, parked } = await settle(tx, live, batch, body);
    await advanceLane(tx, definition, batch, nextOffsetAfter(done, batch));
    await commitBatch(client);
    return { kind: "DONE", transactions: done.length, events: countEvents(done), captured, parked };
  } catch (error) {
    if (isConnectionLoss(error)) broken = new Error("connection lost");
    await client.query("ROLLBACK").catch(() => {
      broken = new Error("connection lost");
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Live statements look rows up by key, whatever a table that was empty a moment ago makes the planner believe: a plan with a
 * scan, once cached, would make a burst of failures quadratic.
 */
const POINT_LOOKUPS = "SET LOCAL enable_seqscan = off";

/** A deferred constraint of the projection may speak only now; its error is the batch's, and isolation will find whose. */
async function commitBatch(client: pg.PoolClient): Promise<void> {
  try {
    await commit(client);
  } catch (error) {
    throw safePgError(error) && !isTransient(error) && !isOwnGuard(error) ? new ProjectionWriteError(error) : error;
  }
}

function nextOffsetAfter(done: readonly ProjectionTransaction[], batch: ClaimedBatch): number {
  const last = done.at(-1);
  if (!last) throw new Error("a batch settled nothing");
  const offset = (last.members.at(-1) as SourceEvent).source.offset;
  if (offset < batch.nextOffset) throw new Error("a batch went backwards");
  return offset + 1;
}

function countEvents(transactions: readonly ProjectionTransaction[]): number {
  return transactions.reduce((sum, transaction) => sum + transaction.members.length, 0);
}

/** Safe name of an error for health and logs: its SQLSTATE, or our own class. */
export function safeErrorName(error: unknown): string {
  const pgError = safePgError(error);
  if (pgError) return `SQLSTATE_${pgError.sqlState}`;
  return isConnectionLoss(error) ? "CONNECTION_LOST" : "ENGINE_ERROR";
}
