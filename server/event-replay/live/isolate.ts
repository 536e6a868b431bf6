import { captureFailure } from "@/server/event-replay/capture/capture-failure";
import type { FailureReason } from "@/server/event-replay/capture/domain/failure-record";
import type { PreparedTransaction } from "@/server/event-replay/projection/domain/prepare";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import type { LockMark } from "@/server/platform/db/lock-order";
import { isTransient, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";

/** PostgreSQL caches 64 subtransactions per backend; past that every snapshot of every session gets slower. */
const SUBTRANSACTIONS_MAX = 60;

/** Cancelled by a timeout: the transaction is to blame only when it happens to it alone, twice (design §3). */
const CANCELLED = "57014";

export type IsolationResult = {
  /** How many transactions from the front are settled: projected, already projected, or captured. */
  readonly settled: number;
  readonly captured: number;
};

/**
 * Finds the transactions of a failed batch that are to blame by halving it under savepoints, captures each whole, and
 * projects all others, in order, on the caller's transaction. Stops early (with `settled` below the length) at the limit of
 * subtransactions, so that the caller commits and goes on. Deferred constraints are checked before each RELEASE: a constraint
 * that only speaks at commit must not stop the source for ever.
 *
 * Transient errors and errors of the archive are thrown: neither is a failure of the transaction.
 */
export async function isolate(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
  cancelledBefore: Set<string>,
): Promise<IsolationResult> {
  const run = new IsolationRun(tx, definition, cancelledBefore);
  return run.all(transactions);
}

class IsolationRun {
  private subtransactions = 0;
  private captured = 0;
  private readonly preparations = new Map<ProjectionTransaction, PreparedTransaction>();
  private readonly locks: LockMark;

  constructor(
    private readonly tx: Tx,
    private readonly definition: ProjectionDefinition,
    private readonly cancelledBefore: Set<string>,
  ) {
    this.locks = tx.markLocks();
  }

  async all(transactions: readonly ProjectionTransaction[]): Promise<IsolationResult> {
    // Left to right, so that every prefix that is settled can be committed as the lane's progress.
    const stack: (readonly ProjectionTransaction[])[] = halves(transactions).reverse();
    let settled = 0;
    while (stack.length > 0 && this.subtransactions < SUBTRANSACTIONS_MAX) {
      const part = stack.pop() as readonly ProjectionTransaction[];
      const error = await this.attempt(part);
      if (error === null) settled += part.length;
      else if (part.length > 1) stack.push(...halves(part).reverse());
      else {
        await this.capture(part[0] as ProjectionTransaction, await this.blame(part[0] as ProjectionTransaction, error));
        settled += 1;
      }
    }
    return { settled, captured: this.captured };
  }

  /** Projects one part under a savepoint. Null on success, else the error that stands against it. */
  private async attempt(part: readonly ProjectionTransaction[]): Promise<unknown | null> {
    // All parts lock scopes of one lane, which this transaction owns: each part starts from the locks held at the outset.
    this.tx.rewindLocks(this.locks);
    await this.tx.execute("SAVEPOINT part");
    try {
      const outcomes = await execute(this.tx, this.definition, part, "LIVE", this.preparations);
      await this.tx.execute("SET CONSTRAINTS ALL IMMEDIATE");
      await this.tx.execute("RELEASE SAVEPOINT part; SET CONSTRAINTS ALL DEFERRED");
      this.subtransactions += 1;
      await this.captureRefused(part, outcomes);
      return null;
    } catch (error) {
      if (isTransient(error)) throw error;
      const blamable = error instanceof ProjectionWriteError || isIntegrityViolation(error);
      if (!blamable) throw error;
      await this.tx.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part");
      return error;
    }
  }

  private async captureRefused(
    part: readonly ProjectionTransaction[],
    outcomes: readonly ExecutionOutcome[],
  ): Promise<void> {
    for (let i = 0; i < part.length; i++) {
      const outcome = outcomes[i];
      if (outcome?.kind === "REFUSED") await this.capture(part[i] as ProjectionTransaction, refusalReason(outcome));
    }
  }

  private async capture(transaction: ProjectionTransaction, reason: FailureReason): Promise<void> {
    await captureFailure(this.tx, this.definition, transaction, reason);
    this.captured += 1;
  }

  /** What stands against a single transaction, and which of its members raised it. */
  private async blame(transaction: ProjectionTransaction, error: unknown): Promise<FailureReason> {
    const pg = safePgError(error);
    const id = `${transaction.hostId}\u0000${transaction.transactionId}`;
    if (pg?.sqlState === CANCELLED && !this.cancelledBefore.has(id)) {
      this.cancelledBefore.add(id);
      throw error;
    }
    this.cancelledBefore.delete(id);
    return { code: "PROJECTION_FAILED", pg, ordinal: await this.findMember(transaction), gap: null };
  }

  /** Grows the transaction member by member under one savepoint until the error shows again; null when it needs the whole. */
  private async findMember(transaction: ProjectionTransaction): Promise<number | null> {
    const { members } = transaction;
    if (members.length === 1) return 0;
    for (let count = 1; count <= members.length; count++) {
      const prefix = { ...transaction, declaredCount: count, members: members.slice(0, count) };
      this.tx.rewindLocks(this.locks);
      await this.tx.execute("SAVEPOINT member");
      try {
        await execute(this.tx, this.definition, [prefix], "LIVE");
      } catch (error) {
        if (isTransient(error)) throw error;
        return count - 1;
      } finally {
        await this.tx.execute("ROLLBACK TO SAVEPOINT member; RELEASE SAVEPOINT member");
      }
    }
    return null;
  }
}

export function refusalReason(outcome: Extract<ExecutionOutcome, { kind: "REFUSED" }>): FailureReason {
  return { code: outcome.code, pg: null, ordinal: outcome.ordinal, gap: outcome.gap };
}

export function isIntegrityViolation(error: unknown): boolean {
  return safePgError(error)?.sqlState.startsWith("23") ?? false;
}

function halves<T>(list: readonly T[]): (readonly T[])[] {
  if (list.length <= 1) return [list];
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
}
