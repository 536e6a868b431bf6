import type { ErrorCode, FieldError } from "@/server/contracts/errors";
import { isConnectionLoss, safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { partitionOfHost } from "@/server/platform/ids";
import {
  type AppendDecision,
  type DuplicateTransaction,
  decideAppend,
  type FreshTransaction,
  type HostScope,
  type StoredState,
  type VersionJump,
} from "./domain/decide";
import type { AppendTargets, PreparedTransaction } from "./domain/prepared";
import {
  type AppendRow,
  acceptRevisions,
  type HeldScope,
  insertOutbox,
  insertStore,
  isRepairUnderWay,
  loadHeldScopes,
  lockAggregates,
  lockRoots,
  lookUp,
} from "./repository";

export type AppendWork = {
  readonly targets: AppendTargets;
  /** Scopes the guard must find free, once it is known what is stored already. */
  guard(stored: StoredState): readonly HostScope[];
  /** Complete transactions, valid in themselves. Called after the locks: a command takes its versions from `stored`. */
  compose(stored: StoredState): readonly PreparedTransaction[];
  readonly allowVersionJump: boolean;
  /** Events written so far, out of all. */
  progress?(done: number, all: number): void;
};

export type AppendedTransaction = {
  readonly transaction: FreshTransaction["transaction"];
  readonly firstOffset: number;
};

export type AppendOutcome =
  | {
      readonly kind: "APPENDED";
      readonly appended: readonly AppendedTransaction[];
      readonly duplicates: readonly DuplicateTransaction[];
      readonly jumps: readonly VersionJump[];
    }
  | { readonly kind: "REFUSED"; readonly errors: readonly FieldError[] }
  | { readonly kind: "BLOCKED"; readonly code: ErrorCode; readonly held: readonly HeldScope[] };

/**
 * The one way into the three append tables, for every producer (ER-APP-18). Order: graph roots, aggregate locks, what is
 * stored, command guard, decision, then store, outbox and notifications, with the offsets last. Refused or blocked: nothing
 * is written, the caller rolls back. Guard unreadable: ORDERED_SCOPE_GUARD_UNAVAILABLE (ER-CAP-35).
 */
export async function appendPrepared(tx: Tx, work: AppendWork): Promise<AppendOutcome> {
  const { targets } = work;
  const revisions = await lockRoots(tx, targets.roots);
  await lockAggregates(tx, targets.aggregates);
  const stored: StoredState = { ...(await lookUp(tx, targets)), revisions };
  const guarded = await readGuard(tx, work.guard(stored));
  if (guarded) return { kind: "BLOCKED", ...guarded };
  const decision = decideAppend(work.compose(stored), targets, stored, work.allowVersionJump);
  if (decision.refusals.length > 0) return { kind: "REFUSED", errors: decision.refusals };
  const appended = await write(tx, decision, targets, work.progress);
  return { kind: "APPENDED", appended, duplicates: decision.duplicates, jumps: decision.jumps };
}

async function readGuard(tx: Tx, scopes: readonly HostScope[]): Promise<{ code: ErrorCode; held: HeldScope[] } | null> {
  try {
    const held = await loadHeldScopes(tx, scopes);
    if (held.length === 0) return null;
    const code = (await isRepairUnderWay(tx, held)) ? "AGGREGATE_REPAIR_REQUIRED" : "AGGREGATE_PROJECTION_BLOCKED";
    return { code, held };
  } catch (error) {
    // Of the cause only its code goes on: enough to retry a deadlock or to drop a dead connection.
    const code = safePgError(error)?.sqlState ?? (isConnectionLoss(error) ? "ECONNRESET" : undefined);
    throw Object.assign(new AppError("ORDERED_SCOPE_GUARD_UNAVAILABLE"), { cause: { code } });
  }
}

/** Bounds of one multi-row statement. */
const CHUNK_EVENTS = 1_000;
const CHUNK_BYTES = 8 * 1024 * 1024;

async function write(
  tx: Tx,
  decision: AppendDecision,
  targets: AppendTargets,
  progress: AppendWork["progress"],
): Promise<AppendedTransaction[]> {
  const rows = decision.fresh.flatMap(rowsOf);
  if (rows.length === 0) return [];
  const moves = targets.roots.flatMap((root, n) => {
    const revision = decision.revisions.get(`${root.hostId} ${root.rootInstanceId}`);
    return revision === undefined ? [] : [{ ...root, revision, n }];
  });
  await acceptRevisions(tx, moves);
  let done = 0;
  for (const chunk of chunksOf(rows)) {
    await insertStore(tx, chunk);
    done += chunk.length;
    progress?.(done, rows.length * 2);
  }
  const firstOffsets = new Map<string, number>();
  for (const ofPartition of byPartition(rows)) {
    for (const chunk of chunksOf(ofPartition)) {
      const first = await insertOutbox(tx, chunk);
      for (const [i, row] of chunk.entries()) {
        if (row.ordinal === 0) firstOffsets.set(`${row.hostId} ${row.transactionId}`, first + i);
      }
      done += chunk.length;
      progress?.(done, rows.length * 2);
    }
  }
  return decision.fresh.map(({ transaction }) => ({
    transaction,
    firstOffset: firstOffsets.get(`${transaction.hostId} ${transaction.transactionId}`) as number,
  }));
}

function rowsOf({ transaction, events }: FreshTransaction): AppendRow[] {
  const { transactionId } = transaction;
  return events.map((event, ordinal) => ({ ...event, transactionId, ordinal, count: events.length }));
}

/** Ascending, so that two appends over several partitions take the counter rows in one order. Order within stays. */
function byPartition(rows: readonly AppendRow[]): AppendRow[][] {
  const groups = new Map<number, AppendRow[]>();
  for (const row of rows) {
    const partition = partitionOfHost(row.hostId);
    const group = groups.get(partition);
    if (group) group.push(row);
    else groups.set(partition, [row]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

function* chunksOf(rows: readonly AppendRow[]): Generator<AppendRow[]> {
  let chunk: AppendRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (chunk.length > 0 && (chunk.length >= CHUNK_EVENTS || bytes + row.bytes.length > CHUNK_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(row);
    bytes += row.bytes.length;
  }
  if (chunk.length > 0) yield chunk;
}
