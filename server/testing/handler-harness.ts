import dgram from "node:dgram";
import net from "node:net";
import type pg from "pg";
import type {
  ExecutionMode,
  ProjectionDefinition,
  ProjectionTransaction,
} from "@/server/event-replay/projection/domain/types";
import { type ExecutionOutcome, execute } from "@/server/event-replay/projection/execute";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";

/** Rows of every projection table and the ordering rows, as text, in a stable order. The harness compares these. */
export type Snapshot = Readonly<Record<string, readonly string[]>>;

/**
 * The proof every handler passes before it may be registered (ER-EXE-12): the same transactions, once as one batch LIVE, once
 * one by one LIVE, once one by one REPLAY, and once applied twice, leave the same rows in every projection table and the same
 * scope versions. Each variant runs in a database transaction of its own that is rolled back. While handlers run, opening
 * any socket throws (ER-EXE-10).
 */
export async function compareVariants(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
): Promise<{ batch: Snapshot; oneByOne: Snapshot; replay: Snapshot; twice: Snapshot; outcomes: ExecutionOutcome[] }> {
  let outcomes: ExecutionOutcome[] = [];
  const batch = await rolledBack(pool, definition, async (tx) => {
    outcomes = await execute(tx, definition, transactions, "LIVE");
  });
  const single = (mode: ExecutionMode, times: number) =>
    rolledBack(pool, definition, async (tx) => {
      for (const transaction of transactions) {
        // One by one = each in its own transaction as far as locks go: the ledger starts afresh.
        for (let i = 0; i < times; i++) {
          tx.rewindLocks(0);
          await execute(tx, definition, [transaction], mode);
        }
      }
    });
  return {
    batch,
    oneByOne: await single("LIVE", 1),
    replay: await single("REPLAY", 1),
    twice: await single("LIVE", 2),
    outcomes,
  };
}

async function rolledBack(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  work: (tx: Tx) => Promise<void>,
): Promise<Snapshot> {
  const rollback = new Error("harness rollback");
  let snapshot: Snapshot = {};
  await inTransaction(
    pool,
    "harness",
    async (tx) => {
      await withoutSockets(() => work(tx));
      await tx.execute("SET CONSTRAINTS ALL IMMEDIATE");
      snapshot = await takeSnapshot(tx, definition);
      throw rollback;
    },
    { statementTimeoutMs: 120_000 },
  ).catch((error) => {
    if (error !== rollback) throw error;
  });
  return snapshot;
}

export async function takeSnapshot(tx: Pick<Tx, "query">, definition: ProjectionDefinition): Promise<Snapshot> {
  const snapshot: Record<string, readonly string[]> = {};
  for (const { name } of definition.tables.values()) {
    const rows = await tx.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t ORDER BY 1`);
    snapshot[name] = rows.map(({ row }) => row);
  }
  const scopes = await tx.query<{ row: string }>(
    `SELECT concat_ws(' ', host_id, scope_type, scope_key, projected_version) AS row FROM projection_scope_t
      WHERE projection_name = $1 AND consumer_group = $2 ORDER BY 1`,
    [definition.projectionName, definition.consumerGroup],
  );
  snapshot.projection_scope_t = scopes.map(({ row }) => row);
  const unordered = await tx.query<{ row: string }>(
    `SELECT concat_ws(' ', host_id, transaction_id) AS row FROM projected_transaction_t
      WHERE projection_name = $1 AND consumer_group = $2 ORDER BY 1`,
    [definition.projectionName, definition.consumerGroup],
  );
  snapshot.projected_transaction_t = unordered.map(({ row }) => row);
  return snapshot;
}

/** Runs `work` with every way of opening a socket turned into an error. Connections that are open stay usable. */
export async function withoutSockets<T>(work: () => Promise<T>): Promise<T> {
  const connect = net.Socket.prototype.connect;
  const createSocket = dgram.createSocket;
  const originalFetch = globalThis.fetch;
  const refuse = () => {
    throw new Error("a handler may not open a socket");
  };
  net.Socket.prototype.connect = refuse as typeof connect;
  dgram.createSocket = refuse as typeof createSocket;
  globalThis.fetch = refuse as typeof fetch;
  try {
    return await work();
  } finally {
    net.Socket.prototype.connect = connect;
    dgram.createSocket = createSocket;
    globalThis.fetch = originalFetch;
  }
}
