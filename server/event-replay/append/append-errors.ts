import type { FieldError } from "@/server/contracts/errors";
import { safePgError } from "@/server/platform/db/pg-errors";
import { AppError } from "@/server/platform/errors";
import type { AppendOutcome } from "./append-prepared";

/** A race that only the database could see ends in the same refusal as the one seen before (design §3 Versions). */
const BY_CONSTRAINT: Readonly<Record<string, { readonly field: string; readonly rule: string }>> = {
  event_store_pk: { field: "/id", rule: "DUPLICATE_EVENT_ID" },
  outbox_message_pk: { field: "/id", rule: "DUPLICATE_EVENT_ID" },
  notification_pk: { field: "/id", rule: "DUPLICATE_EVENT_ID" },
  event_store_aggregate_version_uk: { field: "/aggregateversion", rule: "VERSION_CONFLICT" },
  outbox_message_transaction_uk: { field: "/transactionid", rule: "TRANSACTION_ID_REUSED" },
};

/**
 * What a failed append tells its caller. A value the database refuses (class 22 or 23) is the caller's; everything else stays
 * what it is. No database text passes.
 */
export function appendError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const pg = safePgError(error);
  if (!pg) return error;
  if (pg.sqlState === "23505") {
    const known = pg.constraint === null ? undefined : BY_CONSTRAINT[pg.constraint];
    if (known) return new AppError("INVALID_REQUEST", { errors: [known] });
    return error;
  }
  // A lock that isn't free in time: whether the append may happen can't be judged now. Nothing was written.
  if (pg.sqlState === "55P03") return new AppError("ORDERED_SCOPE_GUARD_UNAVAILABLE");
  if (pg.sqlState.startsWith("22") || pg.sqlState === "23514") {
    return new AppError("INVALID_REQUEST", { errors: [{ field: "", rule: "REFUSED_BY_DATABASE" }] });
  }
  return error;
}

/** Ids named in one answer; the failures list shows the rest. */
const MAX_NAMED = 20;

/** The outcome of an append that wrote, or the coded refusal thrown: inside a transaction, so that it rolls back. */
export function requireAppended(outcome: AppendOutcome): Extract<AppendOutcome, { kind: "APPENDED" }> {
  if (outcome.kind === "APPENDED") return outcome;
  if (outcome.kind === "REFUSED") throw refusal("INVALID_REQUEST", outcome.errors);
  const failureIds = [...new Set(outcome.held.flatMap((scope) => scope.failureIds))].sort().slice(0, MAX_NAMED);
  throw new AppError(outcome.code, { failureIds });
}

const MAX_REPORTED = 50;

export function refusal(code: ConstructorParameters<typeof AppError>[0], errors: readonly FieldError[]): AppError {
  return new AppError(code, { errors: errors.slice(0, MAX_REPORTED) });
}
