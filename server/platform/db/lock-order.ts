/**
 * The only file that names the lock hierarchy (style §6). Within one transaction ranks never go down, and within a rank keys
 * are taken in ascending order: so no two transactions of ours can wait for each other. The ledger asserts it at run time:
 * it throws in development and tests, and counts in production.
 */
export const LOCK_RANKS = {
  /** Replay request row: FOR SHARE by every step of an execution. */
  REPLAY_REQUEST: 10,
  /** Transaction advisory lock on (projection, group, host partition): shared by live batches, exclusive by install/release. */
  PARTITION: 20,
  /** Progress row of a lane, claimed FOR UPDATE SKIP LOCKED for one batch. */
  SOURCE_CLAIM: 30,
  /** Append: instance_graph_revision_t rows of the roots. */
  GRAPH_ROOT: 32,
  /** Append: advisory locks on aggregates, so that two appenders of one aggregate queue instead of colliding. */
  APPEND_IDENTITY: 34,
  BARRIER: 40,
  /** projection_scope_t: where a scope's projection stands. */
  ORDERING_SCOPE: 50,
  FAILURE: 60,
  REPAIR: 70,
  ITEM: 80,
  PROJECTION_ROW: 90,
  /** instance_graph_revision_t as live projection moves it: after its rows. Append holds nothing between 50 and 94. */
  GRAPH_PROJECTED: 92,
  /** Counter row of a host partition: the last lock of every append. */
  OFFSET_COUNTER: 95,
} as const;

export type LockClass = keyof typeof LOCK_RANKS;

export class LockOrderViolation extends Error {
  constructor(held: LockClass, wanted: LockClass) {
    super(`lock order: ${wanted} may not be taken after ${held}`);
    this.name = "LockOrderViolation";
  }
}

export type LockMark = number;

/** What one transaction has locked so far. A savepoint rollback frees later locks: `rewind` pops them, as PostgreSQL does. */
export class LockLedger {
  private readonly taken: LockClass[] = [];

  constructor(private readonly onViolation: (violation: LockOrderViolation) => void) {}

  take(lockClass: LockClass): void {
    const held = this.taken.at(-1);
    if (held !== undefined && LOCK_RANKS[held] > LOCK_RANKS[lockClass]) {
      this.onViolation(new LockOrderViolation(held, lockClass));
      return;
    }
    if (held !== lockClass) this.taken.push(lockClass);
  }

  mark(): LockMark {
    return this.taken.length;
  }

  rewind(mark: LockMark): void {
    this.taken.length = Math.min(this.taken.length, mark);
  }
}
