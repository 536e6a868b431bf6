import type { ErrorCode } from "@/server/contracts/errors";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { decideContinuity, type ScopeStanding } from "./domain/continuity";
import { type PreparedTransaction, prepareTransaction } from "./domain/prepare";
import type { ExecutionMode, ProjectionDefinition, ProjectionTransaction, RowChange } from "./domain/types";
import { planWaves } from "./domain/waves";
import { writeWaves } from "./row-writer";
import { ScopeBoard } from "./scope-board";

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
 * `locked`: standings of all scopes, when this very transaction has locked and read them already.
 *
 * Errors of projection writes are thrown as ProjectionWriteError and leave the transaction aborted: the caller rolls back (to
 * its savepoint) and isolates. Transactions that can't run for a reason known beforehand come back REFUSED.
 */
export async function execute(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
  mode: ExecutionMode,
  locked: ReadonlyMap<string, ScopeStanding> | null = null,
): Promise<ExecutionOutcome[]> {
  const prepared = transactions.map((transaction) => prepareTransaction(definition, transaction));
  const board = await ScopeBoard.load(tx, definition, prepared, mode, locked);
  const outcomes = await executePrepared(tx, definition, prepared, board);
  await board.save(tx);
  if (mode === "REPLAY") await markNotificationsSucceeded(tx, prepared, outcomes);
  return outcomes;
}

/**
 * The executor's middle: continuity against the board, handlers, row changes. For a caller that tries the same list in parts
 * under savepoints: it prepares and loads once, rewinds the board with each rollback, and saves it once at the end.
 */
export async function executePrepared(
  tx: Tx,
  definition: ProjectionDefinition,
  prepared: readonly PreparedTransaction[],
  board: ScopeBoard,
): Promise<ExecutionOutcome[]> {
  const outcomes: ExecutionOutcome[] = [];
  const writer = new OrderedWriter(tx, definition);
  for (const item of prepared) outcomes.push(await settle(item, board, writer));
  await writer.flush();
  return outcomes.map((outcome, i) => writer.withChanges(outcome, prepared[i] as PreparedTransaction));
}

async function settle(item: PreparedTransaction, board: ScopeBoard, writer: OrderedWriter): Promise<ExecutionOutcome> {
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
        const rows = await blamed(async () => {
          const changed = await prepared.handler.handle(this.tx, prepared.event);
          // A handler that swallowed an SQL error left the transaction aborted; that is its own failure, said here.
          await this.tx.query("SELECT");
          return changed;
        });
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
    "mark_notifications_succeeded",
  );
}
