import type { ErrorCode } from "@/server/contracts/errors";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { decideContinuity, type ScopeStanding } from "./domain/continuity";
import { type PreparedTransaction, prepareTransaction } from "./domain/prepare";
import type { ExecutionMode, ProjectionDefinition, ProjectionTransaction, RowChange } from "./domain/types";
import { planWaves } from "./domain/waves";
import { writeWaves } from "./row-writer";
import {
  advanceScopes,
  compareHostScopes,
  type HostScope,
  hostScopeId,
  insertProjectedTransactions,
  loadProjectedTransactions,
  loadStandings,
} from "./scope-repository";

/** What became of one transaction, in the order given. */
export type ExecutionOutcome =
  | {
      readonly kind: "PROJECTED";
      /** For each member: did its handler change at least one row? */
      readonly memberChanged: readonly boolean[];
    }
  | { readonly kind: "ALREADY_PROJECTED" }
  | {
      /** Nothing of it ran. Decided without an SQL error, so the rest of the list is unaffected. */
      readonly kind: "REFUSED";
      readonly code: ErrorCode;
      readonly ordinal: number | null;
      readonly gap: GapDetails | null;
    };

export type GapDetails = {
  readonly scopeType: string;
  readonly scopeKey: string;
  readonly expected: number | null;
  readonly got: number;
};

/** An error raised while projection writes ran: some handler or constraint is to blame, never the engine's bookkeeping. */
export class ProjectionWriteError extends Error {
  constructor(override readonly cause: unknown) {
    super("projection write failed");
    this.name = "ProjectionWriteError";
  }
}

/**
 * The shared projection transaction executor: PostgreSQL live, Kafka live, replay and drain all come through here (ER-EXE-01).
 * On the caller's transaction, for complete transactions in the order given, it validates membership, decides continuity
 * under locked scope rows, runs every member's handler in ordinal order, moves the scopes and records the notification
 * outcome. It neither commits nor rolls back, opens no connection and never edits an event. `mode` selects no handler
 * (ER-EXE-02). It decides two things around it: an OPEN failure holds its scopes against LIVE work, while REPLAY is the answer
 * to that failure and keeps to projected + 1 alone; and LIVE success is recorded by the caller's range, REPLAY's singly.
 *
 * Errors of projection writes are thrown as ProjectionWriteError and leave the transaction aborted: the caller rolls back (to
 * its savepoint) and isolates. Transactions that can't run for a reason known beforehand come back REFUSED.
 * `preparations` keeps the pure half for a caller that runs the same transactions again in smaller lists.
 */
export async function execute(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
  mode: ExecutionMode,
  preparations?: Map<ProjectionTransaction, PreparedTransaction>,
): Promise<ExecutionOutcome[]> {
  const prepared = transactions.map((transaction) => {
    const item = preparations?.get(transaction) ?? prepareTransaction(definition, transaction);
    preparations?.set(transaction, item);
    return item;
  });
  const board = await loadBoard(tx, definition, prepared, mode);
  const outcomes: ExecutionOutcome[] = [];
  const writer = new OrderedWriter(tx, definition);
  for (const item of prepared) outcomes.push(await settle(item, board, writer));
  await writer.flush();
  await advanceScopes(tx, definition, board.advances());
  await insertProjectedTransactions(tx, definition, board.unorderedDone);
  if (mode === "REPLAY") await markNotificationsSucceeded(tx, prepared, outcomes);
  return outcomes.map((outcome, i) => writer.withChanges(outcome, prepared[i] as PreparedTransaction));
}

async function settle(item: PreparedTransaction, board: Board, writer: OrderedWriter): Promise<ExecutionOutcome> {
  const { transaction, refusal } = item;
  if (refusal) {
    board.hold(item);
    return { kind: "REFUSED", code: refusal.code, ordinal: refusal.ordinal, gap: null };
  }
  if (item.runs.length === 0 && board.isProjected(transaction)) return { kind: "ALREADY_PROJECTED" };
  const decision = decideContinuity(item.runs, (scope) => board.standing(transaction.hostId, scope));
  if (decision.kind === "ALREADY_PROJECTED") return { kind: "ALREADY_PROJECTED" };
  if (decision.kind === "GAP") {
    board.hold(item);
    const gap = {
      scopeType: decision.scope.type,
      scopeKey: decision.scope.key,
      expected: decision.expected,
      got: decision.got,
    };
    return { kind: "REFUSED", code: "REPLAY_GAP", ordinal: null, gap };
  }
  await writer.add(item);
  board.advance(item);
  return { kind: "PROJECTED", memberChanged: [] };
}

/** The scopes of this list: what the database said, moved along by what the list itself does. */
class Board {
  private readonly moved = new Map<string, HostScope & { version: number }>();
  readonly unorderedDone: ProjectionTransaction[] = [];

  constructor(
    private readonly standings: Map<string, ScopeStanding>,
    private readonly projected: Set<string>,
    private readonly mode: ExecutionMode,
  ) {}

  standing(hostId: string, scope: { type: HostScope["type"]; key: string }): ScopeStanding {
    const standing = this.standings.get(hostScopeId(hostId, scope)) ?? { projected: null, held: false };
    return this.mode === "REPLAY" && standing.held ? { ...standing, held: false } : standing;
  }

  isProjected(transaction: ProjectionTransaction): boolean {
    return this.projected.has(`${transaction.hostId}\u0000${transaction.transactionId}`);
  }

  advance({ transaction, runs }: PreparedTransaction): void {
    const { hostId } = transaction;
    for (const run of runs) {
      const version = run.versions.at(-1) as number;
      const id = hostScopeId(hostId, run);
      this.standings.set(id, { projected: version, held: false });
      this.moved.set(id, { hostId, type: run.type, key: run.key, version });
    }
    if (runs.length === 0) {
      this.unorderedDone.push(transaction);
      this.projected.add(`${hostId}\u0000${transaction.transactionId}`);
    }
  }

  /** A refused transaction will be captured: from here on it holds its scopes. */
  hold({ transaction, runs }: PreparedTransaction): void {
    for (const run of runs) {
      const id = hostScopeId(transaction.hostId, run);
      this.standings.set(id, { ...this.standing(transaction.hostId, run), held: true });
    }
  }

  advances(): (HostScope & { version: number })[] {
    return [...this.moved.values()].sort(compareHostScopes);
  }
}

async function loadBoard(
  tx: Tx,
  definition: ProjectionDefinition,
  prepared: readonly PreparedTransaction[],
  mode: ExecutionMode,
): Promise<Board> {
  const scopes = new Map<string, HostScope>();
  const unordered: ProjectionTransaction[] = [];
  for (const { transaction, runs, refusal } of prepared) {
    for (const run of runs) {
      scopes.set(hostScopeId(transaction.hostId, run), { hostId: transaction.hostId, type: run.type, key: run.key });
    }
    if (runs.length === 0 && !refusal) unordered.push(transaction);
  }
  const standings = await loadStandings(tx, definition, [...scopes.values()].sort(compareHostScopes));
  return new Board(standings, new Set(await loadProjectedTransactions(tx, definition, unordered)), mode);
}

/** Collects consecutive row changes; a statements handler flushes what came before it. */
class OrderedWriter {
  private changes: RowChange[] = [];
  private owners: { item: PreparedTransaction; member: number }[] = [];
  /** Members that changed at least one row, by transaction. */
  private readonly changed = new Map<PreparedTransaction, boolean[]>();

  constructor(
    private readonly tx: Tx,
    private readonly definition: ProjectionDefinition,
  ) {}

  async add(item: PreparedTransaction): Promise<void> {
    this.changed.set(item, new Array(item.members.length).fill(false));
    for (let member = 0; member < item.members.length; member++) {
      const prepared = item.members[member] as PreparedTransaction["members"][number];
      if (prepared.kind === "rows") {
        for (const change of prepared.changes) {
          this.changes.push(change);
          this.owners.push({ item, member });
        }
      } else {
        await this.flush();
        this.tx.lock("PROJECTION_ROW");
        const rows = await blamed(() => prepared.handler.handle(this.tx, prepared.event));
        if (rows > 0) this.mark(item, member);
      }
    }
  }

  async flush(): Promise<void> {
    if (this.changes.length === 0) return;
    const { changes, owners } = this;
    this.changes = [];
    this.owners = [];
    const missed = await blamed(() => writeWaves(this.tx, planWaves(changes, this.definition.tables)));
    owners.forEach(({ item, member }, i) => {
      if (!missed.has(i)) this.mark(item, member);
    });
  }

  withChanges(outcome: ExecutionOutcome, item: PreparedTransaction): ExecutionOutcome {
    return outcome.kind === "PROJECTED" ? { kind: "PROJECTED", memberChanged: this.changed.get(item) ?? [] } : outcome;
  }

  private mark(item: PreparedTransaction, member: number): void {
    (this.changed.get(item) as boolean[])[member] = true;
  }
}

async function blamed<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw new ProjectionWriteError(error);
  }
}

/** LIVE success is a range of offsets that the caller records with its progress; a replayed transaction is marked singly. */
async function markNotificationsSucceeded(
  tx: Tx,
  prepared: readonly PreparedTransaction[],
  outcomes: readonly ExecutionOutcome[],
): Promise<void> {
  const done = prepared.filter((_, i) => outcomes[i]?.kind === "PROJECTED").map(({ transaction }) => transaction);
  const events = done.flatMap(({ hostId, members }) => members.map(({ eventId }) => ({ hostId, eventId })));
  if (events.length === 0) return;
  await tx.execute(
    `UPDATE notification_t n SET status = 'SUCCEEDED', error = NULL, process_ts = now()
       FROM unnest($1::uuid[], $2::uuid[]) AS e(host_id, id)
      WHERE n.host_id = e.host_id AND n.id = e.id`,
    [arrayLiteral(events.map((event) => event.hostId)), arrayLiteral(events.map((event) => event.eventId))],
  );
}
