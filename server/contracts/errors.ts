/**
 * The one error catalog. A code that is not here cannot be thrown or answered: `ErrorCode` is the key type, so a code
 * without a status does not compile. Codes, statuses and `retryable` are the published contract of event replay
 * (reference §6); the last four are the additions of the design. `retryBy` says who may try again: nothing in this
 * product repeats an execution by itself. `sentence` is the only text that leaves with a code.
 */
export type ErrorSpec = {
  readonly status: number;
  readonly retryable: boolean;
  readonly retryBy: "nobody" | "caller" | "operator";
  readonly sentence: string;
};

const never = (status: number, sentence: string): ErrorSpec => ({
  status,
  retryable: false,
  retryBy: "nobody",
  sentence,
});
const caller = (status: number, sentence: string): ErrorSpec => ({
  status,
  retryable: true,
  retryBy: "caller",
  sentence,
});
const operator = (status: number, sentence: string): ErrorSpec => ({
  status,
  retryable: true,
  retryBy: "operator",
  sentence,
});

export const ERRORS = {
  INVALID_REQUEST: never(400, "The request is not valid. Nothing was changed."),
  AUTHORIZATION_DENIED: never(403, "You may not do this. Nothing was changed."),
  FAILURE_NOT_FOUND: never(404, "There is no such failure on this host."),
  REPAIR_NOT_FOUND: never(404, "There is no such repair on this host."),
  PAYLOAD_DIGEST_MISMATCH: never(409, "The archived bytes do not match their digest. Nothing was projected."),
  REPLAY_EXECUTION_IN_PROGRESS: never(409, "Another execution holds this request or one of its scopes."),
  INVALID_REPLAY_STATE: never(409, "The current state does not allow this."),
  REPAIR_APPROVER_MUST_DIFFER: never(409, "A repair is decided by someone other than its requester."),
  REPLAY_LIMIT_EXCEEDED: never(413, "The request is larger than the limit."),
  TRANSACTION_INCOMPLETE: never(422, "Members of the transaction are missing or out of order."),
  REPLAY_GAP: never(422, "An earlier version or revision of the scope has not been projected."),
  PAYLOAD_UNAVAILABLE: never(422, "The archived bytes are no longer available."),
  UNSUPPORTED_EVENT_TYPE: never(422, "The event type and schema version are not registered."),
  UNSUPPORTED_PAYLOAD_VERSION: never(422, "The archived format is not supported."),
  ARCHIVE_CAPACITY_EXCEEDED: caller(503, "The failure archive is full. The source waits; nothing is lost."),
  ORDERED_SCOPE_GUARD_UNAVAILABLE: caller(503, "Whether the scope is blocked cannot be read. Nothing was appended."),
  STALE_PLAN: operator(409, "What the plan was made from has changed. Make a new plan."),
  LEASE_LOST: operator(409, "The execution lost its lease. It changed nothing more."),
  PAUSE_TIMEOUT: operator(409, "Work in progress on the scope did not end in time."),
  REPLAY_EXECUTION_PAUSED: operator(409, "Replay execution is paused."),
  AGGREGATE_PROJECTION_BLOCKED: caller(
    409,
    "An earlier change of this aggregate has not been projected. Nothing was appended.",
  ),
  AGGREGATE_REPAIR_REQUIRED: caller(409, "A repair of this aggregate is under way. Nothing was appended."),
  REPAIR_NOT_APPROVED: operator(409, "The repair is not approved."),
  REPAIR_FINGERPRINT_MISMATCH: operator(409, "The fingerprint is not the one of this repair."),
  EVENT_REPAIR_REQUIRED: never(422, "A repair of this failure is under way; it cannot be replayed unchanged."),
  EVENT_NOT_REPLAYABLE: never(422, "The policy of this event type forbids replay."),
  REPAIR_IMMUTABLE_FIELD: never(422, "This field can never be repaired."),
  REPAIR_SCHEMA_VALIDATION_FAILED: never(422, "The repair does not meet its schema."),
  PROJECTION_FAILED: never(500, "The projection refused the transaction. Nothing of it was written."),
  DEFERRED_PROJECTION_FAILED: never(500, "Parked work could not be projected."),
  FAILURE_PUBLICATION_TERMINAL: never(503, "The failure could not be published."),
  REPLAY_EXECUTION_UNAVAILABLE: operator(503, "The processor could not be reached. Read the request's status."),
  UNAUTHENTICATED: never(401, "Sign in first."),
  REQUEST_NOT_FOUND: never(404, "There is no such request on this host."),
  RATE_LIMITED: caller(429, "Too many requests. Try again shortly."),
  INTERNAL: never(500, "Something failed on our side. The request id finds it in the log."),
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

/** One refused field: where (JSON pointer or member), and which of our own rules. Never the value. */
export type FieldError = {
  /** JSON pointer into the request or event, at most 256 characters. */
  readonly field: string;
  /** Rule name in UPPER_SNAKE, e.g. REQUIRED, TOO_LONG, DUPLICATE_EVENT_ID. */
  readonly rule: string;
  /** Our own sentence; holds no value of the input. */
  readonly message?: string;
  /** Ordinal of the member in its transaction. */
  readonly member?: number;
  /** Line of an imported file, from 1. */
  readonly line?: number;
};

/** What may travel with a code. Fixed shape, so that no payload, key, header or value can ride along. */
export type ErrorDetails = {
  readonly errors?: readonly FieldError[];
  readonly failureIds?: readonly string[];
  readonly scopes?: readonly string[];
  readonly missing?: readonly { scope: string; version?: number; revision?: number; transactionId?: string }[];
};
