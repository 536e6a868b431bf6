import type { ErrorDetails } from "@/server/contracts/errors";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction, type TransactionOptions } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { appendError, requireAppended } from "./append-errors";
import { type AppendOutcome, type AppendWork, appendPrepared } from "./append-prepared";
import { scopesToGuard } from "./domain/decide";
import { type Proposal, prepareTransaction } from "./domain/prepare";
import { targetsOf } from "./domain/prepared";

export type AppendDeps = { readonly pool: Pool; readonly projection: Pick<ProjectionDefinition, "registries"> };

export type AppendResult = {
  readonly transactionId: string;
  readonly eventIds: readonly string[];
  readonly firstOffset: number;
  /** The very same transaction was stored before; nothing was appended now. */
  readonly duplicate: boolean;
};

/**
 * Appends one complete transaction of events whose versions are set: direct append, external producers, graph and scheduler
 * commands. Validated whole first; then store, outbox and notification in one commit or nothing at all, without a consumed
 * offset (ER-APP-06, 16, 17). Throws AppError: INVALID_REQUEST, UNSUPPORTED_EVENT_TYPE, TRANSACTION_INCOMPLETE,
 * REPLAY_LIMIT_EXCEEDED, AGGREGATE_PROJECTION_BLOCKED, AGGREGATE_REPAIR_REQUIRED, ORDERED_SCOPE_GUARD_UNAVAILABLE.
 */
export async function appendTransaction(deps: AppendDeps, proposal: Proposal): Promise<AppendResult> {
  const preparation = prepareTransaction(deps.projection.registries, proposal);
  if (!preparation.ok) throw refused(preparation.code, { errors: preparation.errors });
  const transactions = [preparation.transaction];
  const targets = targetsOf(transactions);
  const outcome = requireAppended(
    await runAppend(deps, "append", {
      targets,
      guard: (stored) => scopesToGuard(transactions, targets, stored),
      compose: () => transactions,
      allowVersionJump: false,
    }),
  );
  const eventIds = preparation.transaction.members.map(({ event }) => event.eventId);
  const duplicate = outcome.duplicates[0];
  if (duplicate) {
    return {
      transactionId: duplicate.storedTransactionId,
      eventIds,
      firstOffset: duplicate.firstOffset,
      duplicate: true,
    };
  }
  const appended = outcome.appended[0];
  if (!appended) throw new Error("an append ended without an outcome");
  return {
    transactionId: preparation.transaction.transactionId,
    eventIds,
    firstOffset: appended.firstOffset,
    duplicate: false,
  };
}

class RolledBack extends Error {
  constructor(readonly outcome: AppendOutcome) {
    super("the append was refused");
  }
}

/** One database transaction around the boundary; anything but APPENDED is rolled back. `name` shows in pg_stat_activity. */
export async function runAppend(
  deps: AppendDeps,
  name: string,
  work: AppendWork,
  options?: TransactionOptions,
): Promise<AppendOutcome> {
  try {
    return await inTransaction(
      deps.pool,
      name,
      async (tx) => {
        const outcome = await appendPrepared(tx, work);
        if (outcome.kind !== "APPENDED") throw new RolledBack(outcome);
        return outcome;
      },
      options,
    );
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome;
    throw appendError(error);
  }
}

export function refused(code: ConstructorParameters<typeof AppError>[0], details: ErrorDetails): AppError {
  return new AppError(code, details);
}
