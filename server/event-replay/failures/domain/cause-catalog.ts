import type { FailureCause } from "@/server/contracts/failures";
import { type TableNames, thingOfConstraint } from "./constraint-words";

/** All that is known of why a transaction did not project. Codes and schema identifiers only: nothing here came from a message. */
export type CauseFacts = {
  readonly errorCode: string | null;
  readonly sqlState: string | null;
  readonly constraint: string | null;
  /** Type of the member that failed. */
  readonly eventType: string | null;
};

/** What the registry says of the failing type; unknown counts as ordered and without a form. */
export type CauseContext = {
  readonly repairable?: boolean;
  readonly ordered?: boolean;
  readonly executable?: boolean;
  readonly tables?: TableNames;
};

type WayOutCode = FailureCause["wayOut"]["code"];

const WAY_OUT_WORDS: Record<WayOutCode, string> = {
  FIX_THEN_REPLAY: "Fix, then replay original",
  REPLAY_ORIGINAL: "Replay original",
  COMES_BY_CLOSURE: "Comes along by closure",
  REPAIR: "Repair",
  REPLAY_OR_WAIVE: "Replay or waive",
  REGISTER_AND_SEND_AGAIN: "Register the type, then send it again",
  NOT_REPLAYABLE: "Not replayable, kept as evidence",
};

/** Codes whose failures are one cause whatever the type: the type says nothing about the way out. */
const ONE_CAUSE = new Set(["REPLAY_GAP", "TRANSACTION_INCOMPLETE", "PAYLOAD_DIGEST_MISMATCH", "PAYLOAD_UNAVAILABLE"]);

const SENTENCES: Record<string, string> = {
  REPLAY_GAP: "An earlier version of the scope is still open",
  TRANSACTION_INCOMPLETE: "Members of the transaction never arrived",
  UNSUPPORTED_EVENT_TYPE: "The event type or its schema version is not registered",
  UNSUPPORTED_PAYLOAD_VERSION: "The archived format is not supported",
  EVENT_NOT_REPLAYABLE: "The policy of this event type forbids replay",
  EVENT_REPAIR_REQUIRED: "The data does not meet its schema",
  REPAIR_SCHEMA_VALIDATION_FAILED: "The data does not meet its schema",
  REPLAY_LIMIT_EXCEEDED: "The transaction is larger than the limit",
  PAYLOAD_DIGEST_MISMATCH: "The bytes do not match their digest",
  PAYLOAD_UNAVAILABLE: "The archived bytes are no longer available",
  DEFERRED_PROJECTION_FAILED: "Parked work did not project",
  PROJECTION_FAILED: "The projection refused the transaction",
};

const SQL_SENTENCES: Record<string, string> = {
  "22001": "Value is longer than its column",
  "22003": "Number is outside its column's range",
  "22004": "A required value is missing",
  "22007": "Date or time is not valid",
  "22008": "Date or time is outside its range",
  "22012": "Division by zero in the projection",
  "22021": "Text holds a character the database cannot store",
  "22P02": "Value does not have its column's form",
  "22P05": "Text holds a character the database cannot store",
  "23001": "Row is still referred to",
  "23502": "A required value is missing",
  "23503": "A row it refers to is missing",
  "23505": "Row already exists",
  "23514": "Value breaks a rule of its table",
  "23P01": "Row overlaps an existing one",
  "42501": "The projection may not write its table",
  "42703": "A column of the projection does not exist",
  "42P01": "A table of the projection does not exist",
  "57014": "The write took longer than allowed",
  P0001: "A rule of the database refused the write",
};

const SQL_CLASS_SENTENCES: Record<string, string> = {
  "22": "Value does not fit its column",
  "23": "Row breaks a rule of its table",
  "42": "The projection's statement does not fit its tables",
  "54": "The write is larger than the database allows",
  XX: "The database reported an internal fault",
};

/**
 * Identity of a cause, stable over processes and releases: "how many different problems do I have". With a constraint the
 * constraint is the problem; without one, the same SQLSTATE on another event type is another problem.
 */
export function causeKeyOf(facts: CauseFacts): string {
  const code = facts.errorCode ?? "UNKNOWN";
  if (ONE_CAUSE.has(code)) return code;
  const state = facts.sqlState ?? "";
  const last = facts.constraint ?? facts.eventType ?? "";
  return `${code}|${state}|${last}`;
}

/** The fixed sentence and way out of a cause. Total: an unknown combination gets the sentence of its code or class. */
export function describeCause(facts: CauseFacts, context: CauseContext = {}): FailureCause {
  const code = wayOutOf(facts, context);
  return {
    key: causeKeyOf(facts),
    code: facts.errorCode,
    sqlState: facts.sqlState,
    constraint: facts.constraint,
    sentence: sentenceOf(facts, context.tables),
    wayOut: { code, words: WAY_OUT_WORDS[code] },
  };
}

function sentenceOf(facts: CauseFacts, tables: TableNames | undefined): string {
  const state = facts.sqlState;
  if (state !== null && facts.constraint !== null && (state === "23503" || state === "23505")) {
    const thing = thingOfConstraint(facts.constraint, state === "23503" ? "parent" : "child", tables);
    if (thing !== null) return state === "23503" ? `${thing} row is missing` : `${thing} row already exists`;
  }
  if (state !== null) {
    const known = SQL_SENTENCES[state] ?? SQL_CLASS_SENTENCES[state.slice(0, 2)];
    if (known !== undefined) return known;
  }
  return SENTENCES[facts.errorCode ?? ""] ?? "The transaction did not project";
}

function wayOutOf(facts: CauseFacts, context: CauseContext): WayOutCode {
  switch (facts.errorCode) {
    case "REPLAY_GAP":
      return "COMES_BY_CLOSURE";
    case "UNSUPPORTED_EVENT_TYPE":
      return "REGISTER_AND_SEND_AGAIN";
    case "TRANSACTION_INCOMPLETE":
    case "EVENT_NOT_REPLAYABLE":
    case "REPLAY_LIMIT_EXCEEDED":
    case "PAYLOAD_UNAVAILABLE":
    case "UNSUPPORTED_PAYLOAD_VERSION":
      return "NOT_REPLAYABLE";
    case "EVENT_REPAIR_REQUIRED":
    case "REPAIR_SCHEMA_VALIDATION_FAILED":
      return "REPAIR";
  }
  if (context.executable === false) return "NOT_REPLAYABLE";
  const state = facts.sqlState ?? "";
  const dataIsWrong = state.startsWith("22") || state === "23502" || state === "23514";
  if (dataIsWrong && context.repairable === true) return "REPAIR";
  if (state === "23503") return "REPLAY_ORIGINAL";
  if (context.ordered === false && state === "23505") return "REPLAY_OR_WAIVE";
  return "FIX_THEN_REPLAY";
}

export type GapDetails = {
  readonly scopeType?: "AGGREGATE" | "GRAPH_ROOT";
  readonly expected: number | null;
  readonly got: number | null;
};

/** The long sentence of a detail page: for a gap with both versions, else the cause's own. Numbers are ours, from ordering metadata. */
export function explainCause(cause: FailureCause, gap: GapDetails | null): string {
  if (cause.code === "REPLAY_GAP" && gap !== null && gap.got !== null) {
    const unit = gap.scopeType === "GRAPH_ROOT" ? "Revision" : "Version";
    // Without an expected version the scope was never projected: its first version is the failure that is open.
    const empty = gap.expected === null || gap.expected <= 1;
    const standing = empty ? "holds none of this scope yet" : `is still at ${(gap.expected as number) - 1}`;
    return `${unit} ${gap.got} arrived, but the projection ${standing}. The projection never skips, so nothing of this transaction was written.`;
  }
  return `${cause.sentence}. Nothing of this transaction was written.`;
}
