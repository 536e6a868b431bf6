import type pg from "pg";
import { countLockOrderViolation, countTransactionRetry } from "@/server/platform/metrics";
import { type LockClass, LockLedger, type LockMark } from "./lock-order";
import { callDriver, isConnectionLoss, safePgError } from "./pg-errors";

export type Row = Record<string, unknown>;

/**
 * One open transaction: the only handle through which SQL reaches the database inside an operation. It cannot commit, roll
 * back or open another connection; whoever called `inTransaction` owns that.
 */
export type Tx = {
  /** `name` makes it a prepared statement of that name; the same name must always carry the same text. */
  query<R extends Row = Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]>;
  /** Rows affected, for guarded writes that must hit an exact number. */
  execute(text: string, values?: readonly unknown[], name?: string): Promise<number>;
  /** Declares a lock about to be taken; throws on a breach of the order (see lock-order.ts). */
  lock(lockClass: LockClass): void;
  markLocks(): LockMark;
  rewindLocks(mark: LockMark): void;
};

export type TransactionOptions = {
  /** Milliseconds; 0 = none. A statement that runs longer is cancelled (57014). */
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  /** The server ends the session when the client stays silent this long inside the transaction (design §3 Lease and crash). */
  readonly idleTimeoutMs?: number;
  /** Whole-body attempts on serialization failure and deadlock. 1 = never again. */
  readonly attempts?: number;
  readonly readOnly?: boolean;
  /** All statements see one moment (REPEATABLE READ): for answers whose numbers have to add up. */
  readonly snapshot?: boolean;
  /**
   * Rows are looked up by key and prepared statements keep one plan, whatever a table that was empty a moment ago makes the
   * planner believe: for short transactions that come by the hundred.
   */
  readonly pointLookups?: boolean;
};

const DEFAULTS = { statementTimeoutMs: 30_000, lockTimeoutMs: 10_000, idleTimeoutMs: 45_000, attempts: 3 } as const;

/** The whole body may run again only for these: nothing of it happened. A lost connection is not among them. */
const RETRYABLE = new Set(["40001", "40P01"]);

/**
 * Opens a transaction, READ COMMITTED unless `snapshot` asks for one moment, runs `body`, commits. Any throw rolls everything back. The body may run again (see
 * RETRYABLE), so it holds no network call and no effect outside the database. `name` shows in pg_stat_activity and metrics.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  name: string,
  body: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const attempts = options.attempts ?? DEFAULTS.attempts;
  for (let attempt = 1; ; attempt++) {
    const client = await callDriver(() => pool.connect());
    let broken: Error | undefined;
    try {
      return await runOnce(client, name, body, options);
    } catch (error) {
      if (isConnectionLoss(error)) broken = new Error("connection lost");
      const state = safePgError(error)?.sqlState;
      if (state === undefined || !RETRYABLE.has(state) || attempt >= attempts) throw error;
      countTransactionRetry(name, state);
    } finally {
      client.release(broken);
    }
  }
}

async function runOnce<T>(
  client: pg.PoolClient,
  name: string,
  body: (tx: Tx) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  await callDriver(() => client.query(beginStatement(name, options)));
  try {
    const result = await body(openTx(client));
    await commit(client);
    return result;
  } catch (error) {
    // A failed ROLLBACK means a dead connection: the server has rolled back or will.
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** In an aborted transaction COMMIT answers ROLLBACK without an error; that must never look like success. */
export async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await callDriver(() => client.query("COMMIT"));
  if (command !== "COMMIT") throw new Error("the transaction was rolled back at commit");
}

const POINT_LOOKUPS = ["SET LOCAL enable_seqscan = off", "SET LOCAL plan_cache_mode = force_generic_plan"];

/** One round trip: BEGIN and the transaction's settings. Values are numbers and a checked name, never caller text. */
export function beginStatement(name: string, options: TransactionOptions = {}): string {
  if (!/^[A-Za-z][A-Za-z0-9._-]{0,50}$/.test(name)) throw new Error("transaction name is not an identifier");
  const statement = options.statementTimeoutMs ?? DEFAULTS.statementTimeoutMs;
  const lock = options.lockTimeoutMs ?? DEFAULTS.lockTimeoutMs;
  const idle = options.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs;
  return [
    `BEGIN ISOLATION LEVEL ${options.snapshot ? "REPEATABLE READ" : "READ COMMITTED"}${options.readOnly ? " READ ONLY" : ""}`,
    `SET LOCAL application_name = 'event-admin:${name}'`,
    `SET LOCAL statement_timeout = ${statement}`,
    `SET LOCAL lock_timeout = ${lock}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${idle}`,
    // What a text means as a time must not depend on who connects from where.
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO'",
    ...(options.pointLookups ? POINT_LOOKUPS : []),
  ].join("; ");
}

/** Wraps a client on which BEGIN has run. Only inTransaction and the live batch runner call it. */
export function openTx(client: pg.PoolClient | pg.Client): Tx {
  const ledger = new LockLedger((violation) => {
    countLockOrderViolation();
    if (process.env.NODE_ENV !== "production") throw violation;
  });
  const run = (text: string, values?: readonly unknown[], name?: string) =>
    callDriver(() =>
      client.query(
        name === undefined ? { text, values: values as unknown[] } : { name, text, values: values as unknown[] },
      ),
    );
  return {
    async query<R extends Row>(text: string, values?: readonly unknown[], name?: string) {
      return (await run(text, values, name)).rows as R[];
    },
    async execute(text, values, name) {
      return (await run(text, values, name)).rowCount ?? 0;
    },
    lock: (lockClass) => ledger.take(lockClass),
    markLocks: () => ledger.mark(),
    rewindLocks: (mark) => ledger.rewind(mark),
  };
}
