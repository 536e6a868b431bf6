import type { ErrorCode, ErrorDetails } from "@/server/contracts/errors";

/**
 * A coded refusal on its way to the one place that renders errors (platform/http). Thrown by operations; domain and
 * repositories return outcome unions instead. `details` has a fixed shape without room for payload values.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(code);
    this.name = "AppError";
    this.code = code;
    this.details = details;
  }
}
