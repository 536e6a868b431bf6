import { ERRORS, type ErrorCode, type ErrorDetails } from "@/server/contracts/errors";
import { safePgError } from "@/server/platform/db/pg-errors";
import { AppError } from "@/server/platform/errors";
import { errorKind } from "@/server/platform/guard-output";
import { log } from "@/server/platform/log";
import { MAX_FIELD_ERRORS } from "./field-errors";

/** What leaves with a refused request: a code of the catalog, its sentence, details of fixed shape. Nothing of the cause. */
export type Refusal = {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly sentence: string;
  readonly details: ErrorDetails;
  readonly requestId: string;
};

/** Thrown when a handler's answer doesn't fit its published response: a defect of ours, not of the caller. */
export class ResponseMismatch extends Error {}

/**
 * Any thrown value → refusal. What is not an AppError is INTERNAL and is logged with the request id and what is safe to know
 * of a database error; its text goes nowhere.
 */
export function toRefusal(error: unknown, requestId: string, operation: string, surface: string): Refusal {
  if (error instanceof AppError) return refusal(error.code, bounded(error.details), requestId);
  const pg = safePgError(error);
  log.error("operation failed", {
    requestId,
    operation,
    surface,
    code: "INTERNAL",
    errorKind: kindOf(error),
    sqlState: pg?.sqlState,
    constraint: pg?.constraint,
    table: pg?.table,
  });
  return refusal("INTERNAL", {}, requestId);
}

function refusal(code: ErrorCode, details: ErrorDetails, requestId: string): Refusal {
  const { status, retryable, sentence } = ERRORS[code];
  return { code, status, retryable, sentence, details, requestId };
}

function bounded(details: ErrorDetails): ErrorDetails {
  const { errors } = details;
  return errors && errors.length > MAX_FIELD_ERRORS
    ? { ...details, errors: errors.slice(0, MAX_FIELD_ERRORS) }
    : details;
}

function kindOf(error: unknown): string {
  return error instanceof ResponseMismatch ? "RESPONSE_MISMATCH" : errorKind(error);
}
