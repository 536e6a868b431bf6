import { CaptureError, captureFailure } from "@/server/event-replay/capture/capture-failure";
import type { FailureReason } from "@/server/event-replay/capture/domain/failure-record";
import { scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { type PreparedTransaction, prepareTransaction } from "@/server/event-replay/projection/domain/prepare";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, executePrepared, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { ScopeBoard } from "@/server/event-replay/projection/scope-board";
import type { LockMark } from "@/server/platform/db/lock-order";
import { isTransient, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";

/** PostgreSQL caches 64 subtransactions per backend; past that every snapshot of every session gets slower. */
const SUBTRANSACTIONS_MAX = 60;

/** Cancelled by a timeout: the transaction is to blame only when it happens to it alone, twice (design §3). */
const CANCELLED = "57014";

export type IsolationOptions = {
  /** Share of transactions expected to fail, from the batch before; decides how finely the list is cut at first. */
  readonly expectedFailures: number;
  /** Transactions that were cancelled alone once. Kept by the caller over batches; forgotten when their capture committed. */
  readonly cancelledBefore: Set<string>;
};

export type IsolationResult = {
  /** How many transactions from the front are settled: projected, already projected, or captured. */
  readonly settled: number;
  readonly captured: number;
};

/**
 * Finds the transactions of a failed batch that are to blame by halving it under savepoints, captures each whole, and
 * projects all others, in order, on the caller's transaction. Scopes are locked and read once, and moved once at the end.
 * Stops early (with `settled` below the length) at the limit of subtransactions, or in front of a transaction that was
 * cancelled for the first time, so that the caller commits what is settled and goes on. Deferred constraints are checked
 * before each RELEASE: a constraint that only speaks at commit must not stop the source for ever.
 *
 * Transient errors, errors of the archive and of the database's own guards are thrown: none is a failure of the transaction.
 */
export async function isolate(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
  options: IsolationOptions,
): Promise<IsolationResult> {
  const prepared = transactions.map((transaction) => prepareTransaction(definition, transaction));
  const board = await ScopeBoard.load(tx, definition, prepared, "LIVE");
  const run = new IsolationRun(tx, definition, board, options.cancelledBefore);
  const result = await run.all(prepared, options.expectedFailures);
  await board.save(tx);
  return result;
}

class IsolationRun {
  private subtransactions = 0;
  private captured = 0;
  private readonly locks: LockMark;

  constructor(
    private readonly tx: Tx,
    private readonly definition: ProjectionDefinition,
    private readonly board: ScopeBoard,
    private readonly cancelledBefore: Set<string>,
  ) {
    this.locks = tx.markLocks();
  }

  async all(prepared: readonly PreparedTransaction[], expectedFailures: number): Promise<IsolationResult> {
    // Left to right, so that every prefix that is settled can be committed as the lane's progress.
    const stack = initialParts(prepared, expectedFailures).reverse();
    let settled = 0;
    while (stack.length > 0 && this.subtransactions < SUBTRANSACTIONS_MAX) {
      const part = stack.pop() as readonly PreparedTransaction[];
      const error = await this.attempt(part);
      if (error === null) settled += part.length;
      else if (part.length > 1) stack.push(...halves(part).reverse());
      else {
        const item = part[0] as PreparedTransaction;
        if (this.isFirstCancel(item.transaction, error)) {
          if (settled === 0) throw error;
          break;
        }
        await this.captureFailed(item, error);
        settled += 1;
      }
    }
    return { settled, captured: this.captured };
  }

  /** Projects one part under a savepoint. Null on success, else the error that stands against it. */
  private async attempt(part: readonly PreparedTransaction[]): Promise<unknown | null> {
    // All parts lock scopes of one lane, which this transaction owns: each part starts from the locks held at the outset.
    this.tx.rewindLocks(this.locks);
    const mark = this.board.mark();
    await this.tx.execute("SAVEPOINT part");
    let outcomes: ExecutionOutcome[];
    try {
      outcomes = await executePrepared(this.tx, this.definition, part, this.board);
      await checkConstraints(this.tx);
    } catch (error) {
      if (!(error instanceof ProjectionWriteError) || isTransient(error)) throw error;
      await this.tx.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part");
      this.board.rewind(mark);
      return error;
    }
    await this.tx.execute("RELEASE SAVEPOINT part; SET CONSTRAINTS ALL DEFERRED");
    this.subtransactions += 1;
    for (let i = 0; i < part.length; i++) {
      const outcome = outcomes[i];
      if (outcome?.kind === "REFUSED") {
        await this.capture((part[i] as PreparedTransaction).transaction, refusalReason(outcome));
      }
    }
    return null;
  }

  private async captureFailed(item: PreparedTransaction, error: unknown): Promise<void> {
    const pg = safePgError(error);
    const ordinal = await this.findMember(item, pg?.table ?? null);
    this.board.hold(item);
    await this.capture(item.transaction, { code: "PROJECTION_FAILED", pg, ordinal, gap: null });
  }

  private async capture(transaction: ProjectionTransaction, reason: FailureReason): Promise<void> {
    await captureFailure(this.tx, this.definition, transaction, reason);
    this.captured += 1;
  }

  private isFirstCancel(transaction: ProjectionTransaction, error: unknown): boolean {
    if (safePgError(error)?.sqlState !== CANCELLED) return false;
    const id = cancelKey(transaction);
    const first = !this.cancelledBefore.has(id);
    this.cancelledBefore.add(id);
    return first;
  }

  /**
   * The member whose writes raise the error. Known at once when it is the only one, or the only one that writes the table the
   * database named; else the shortest failing prefix is found by halving. Null when only the whole fails.
   */
  private async findMember(item: PreparedTransaction, table: string | null): Promise<number | null> {
    if (item.members.length === 1) return 0;
    const writers = item.members.flatMap((member, i) => (writes(member, table) ? [i] : []));
    if (table !== null && writers.length === 1) return writers[0] as number;
    let passes = 0;
    let fails = item.members.length;
    while (fails - passes > 1) {
      const middle = Math.floor((passes + fails) / 2);
      if (await this.prefixFails(item, middle)) fails = middle;
      else passes = middle;
    }
    // The whole is known to fail; a last prefix of all members but one that passes leaves only the last to blame.
    return fails === item.members.length && passes === item.members.length - 1 && !(await this.prefixFails(item, fails))
      ? null
      : fails - 1;
  }

  private async prefixFails(item: PreparedTransaction, count: number): Promise<boolean> {
    const members = item.transaction.members.slice(0, count);
    const transaction = { ...item.transaction, declaredCount: count, members };
    const prefix = {
      transaction,
      runs: scopeRunsOf(transaction),
      members: item.members.slice(0, count),
      refusal: null,
    };
    this.tx.rewindLocks(this.locks);
    const mark = this.board.mark();
    await this.tx.execute("SAVEPOINT prefix");
    let failed = false;
    try {
      await executePrepared(this.tx, this.definition, [prefix], this.board);
    } catch (error) {
      if (!(error instanceof ProjectionWriteError) || isTransient(error)) throw error;
      failed = true;
    }
    await this.tx.execute("ROLLBACK TO SAVEPOINT prefix; RELEASE SAVEPOINT prefix");
    this.board.rewind(mark);
    return failed;
  }
}

/**
 * Lets deferred constraints speak now. Whatever they raise is the projection's (ProjectionWriteError), except the guards of our
 * own tables, which are thrown as they are.
 */
export async function checkConstraints(tx: Tx): Promise<void> {
  try {
    await tx.execute("SET CONSTRAINTS ALL IMMEDIATE");
  } catch (error) {
    throw isOwnGuard(error) ? error : new ProjectionWriteError(error);
  }
}

/** Errors that the database's guards of our own tables raise (class EA): the engine is wrong then, never an event. */
export function isOwnGuard(error: unknown): boolean {
  return error instanceof CaptureError || (safePgError(error)?.sqlState.startsWith("EA") ?? false);
}

export function refusalReason(outcome: Extract<ExecutionOutcome, { kind: "REFUSED" }>): FailureReason {
  return { code: outcome.code, pg: null, ordinal: outcome.ordinal, gap: outcome.gap };
}

export function cancelKey({ hostId, transactionId }: ProjectionTransaction): string {
  return `${hostId}\u0000${transactionId}`;
}

function writes(member: PreparedTransaction["members"][number], table: string | null): boolean {
  return member.kind === "statements" || member.changes.some((change) => change.table === table);
}

/** Parts so small that about every second one passes; halves when failures are rare. */
function initialParts(
  prepared: readonly PreparedTransaction[],
  expectedFailures: number,
): (readonly PreparedTransaction[])[] {
  const size = Math.max(
    1,
    Math.min(Math.ceil(prepared.length / 2), Math.floor(0.7 / Math.max(expectedFailures, 0.001))),
  );
  const parts: (readonly PreparedTransaction[])[] = [];
  for (let i = 0; i < prepared.length; i += size) parts.push(prepared.slice(i, i + size));
  return parts;
}

function halves<T>(list: readonly T[]): (readonly T[])[] {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}
