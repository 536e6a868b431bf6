import type { ErrorCode, FieldError } from "@/server/contracts/errors";
import { sha256Hex } from "@/server/platform/digest";
import { isCanonicalUuid } from "@/server/platform/ids";
import { MAX_POINTER_LENGTH } from "@/server/platform/json/exact-json";
import { canonicalEvent, contradictingPins, type EventPins, pinsOf } from "./canonical-event";
import type { EventEnvelope } from "./envelope";
import { APPEND_LIMITS, type AppendLimits } from "./limits";
import type { PolicyEntry, PolicyRegistry, ReplayPolicy } from "./policy";
import type { ScopeStep } from "./scopes";
import { checkAgainstEntry, type MemberRule } from "./validate-member";

/**
 * The seven places that validate. All call `validateTransaction`; the name is for telemetry and changes no outcome (ER-APP-19).
 */
export const VALIDATION_STAGES = [
  "COMMAND_APPEND",
  "DIRECT_APPEND",
  "EXTERNAL_SOURCE",
  "CAPTURE",
  "REPAIR_CREATE",
  "PLAN_CREATE",
  "EXECUTE",
] as const;
export type ValidationStage = (typeof VALIDATION_STAGES)[number];

export type DeclaredMember = {
  readonly envelope: EventEnvelope;
  readonly ordinal: number;
  readonly count: number;
  /** The source's exact bytes of the event. Absent on append: the canonical bytes are made here. */
  readonly payload?: Buffer;
};

export type TransactionInput = {
  readonly stage: ValidationStage;
  readonly transactionId: string | null;
  readonly members: readonly DeclaredMember[];
  /** True for an import and for events that are appended already; an ordinary append may not claim a baseline. */
  readonly acceptVersionBaseline: boolean;
};

export type ValidatedMember = {
  readonly ordinal: number;
  readonly envelope: EventEnvelope;
  readonly entry: PolicyEntry;
  readonly policy: ReplayPolicy;
  readonly scopes: readonly ScopeStep[];
  readonly pins: EventPins;
  readonly payload: Buffer;
  /** SHA-256 of `payload`, lowercase hex. */
  readonly digest: string;
};

/** A transaction that is whole and right under one registry version. Members in ordinal order. */
export type ValidatedTransaction = {
  readonly transactionId: string;
  readonly hostId: string;
  readonly userId: string | null;
  readonly count: number;
  readonly registryVersion: string;
  readonly members: readonly ValidatedMember[];
};

export type TransactionVerdict =
  | { readonly ok: true; readonly transaction: ValidatedTransaction }
  | { readonly ok: false; readonly code: ErrorCode; readonly errors: readonly FieldError[] };

/**
 * Judges one complete transaction under one registry version, without any state (seed, Event Append Contract; ER-APP-01..05,
 * 10..15, 26, 38, 39, 48). All broken rules are listed, at most `limits.reportedErrors`; none holds a value. The code is that of the
 * errors if they agree, else INVALID_REQUEST. What needs the database (stored ids, last versions, open failures) is append's.
 */
export function validateTransaction(
  registry: PolicyRegistry,
  input: TransactionInput,
  limits: AppendLimits = APPEND_LIMITS,
): TransactionVerdict {
  const findings: Finding[] = [];
  if (!isCanonicalUuid(input.transactionId)) {
    findings.push(
      finding(undefined, "/transactionid", input.transactionId === null ? "REQUIRED" : "NOT_A_CANONICAL_UUID"),
    );
  }
  if (input.members.length === 0) findings.push(finding(undefined, "", "TRANSACTION_EMPTY"));
  if (input.members.length > limits.transactionMembers) {
    findings.push(finding(undefined, "", "TRANSACTION_TOO_MANY_MEMBERS"));
    return refused(findings, limits);
  }
  checkMembership(input, findings);
  const ordered = [...input.members].sort((a, b) => a.ordinal - b.ordinal);
  const validated = ordered.map((declared) => validateMember(registry, declared, input, limits, findings));
  const whole = validated.filter((candidate) => candidate !== null);
  checkScopeOrder(whole, findings);
  const bytes = whole.reduce((sum, { payload }) => sum + payload.length, 0);
  if (bytes > limits.transactionBytes) findings.push(finding(undefined, "", "TRANSACTION_TOO_LARGE"));
  const first = whole[0];
  if (findings.length > 0 || first === undefined || input.transactionId === null) return refused(findings, limits);
  return {
    ok: true,
    transaction: {
      transactionId: input.transactionId,
      hostId: first.envelope.hostId,
      userId: first.envelope.userId,
      count: whole.length,
      registryVersion: registry.version,
      members: whole,
    },
  };
}

type Finding = FieldError & { readonly code: ErrorCode };

/** Rules whose refusal has a code of its own; every other rule is INVALID_REQUEST. */
const RULE_CODES: Readonly<Record<string, ErrorCode>> = {
  UNKNOWN_EVENT_TYPE: "UNSUPPORTED_EVENT_TYPE",
  TRANSACTION_COUNT_MISMATCH: "TRANSACTION_INCOMPLETE",
  ORDINAL_OUT_OF_RANGE: "TRANSACTION_INCOMPLETE",
  DUPLICATE_ORDINAL: "TRANSACTION_INCOMPLETE",
  TRANSACTION_TOO_MANY_MEMBERS: "REPLAY_LIMIT_EXCEEDED",
  TRANSACTION_TOO_LARGE: "REPLAY_LIMIT_EXCEEDED",
  PAYLOAD_TOO_LARGE: "REPLAY_LIMIT_EXCEEDED",
};

function finding(ordinal: number | undefined, field: string, rule: string): Finding {
  const bounded = field.length > MAX_POINTER_LENGTH ? `${field.slice(0, MAX_POINTER_LENGTH - 1)}…` : field;
  return {
    field: bounded,
    rule,
    code: RULE_CODES[rule] ?? "INVALID_REQUEST",
    ...(ordinal === undefined ? {} : { member: ordinal }),
  };
}

function refused(findings: readonly Finding[], limits: AppendLimits): TransactionVerdict {
  const codes = new Set(findings.map(({ code }) => code));
  const [only] = codes;
  return {
    ok: false,
    code: codes.size === 1 && only !== undefined ? only : "INVALID_REQUEST",
    errors: findings.slice(0, limits.reportedErrors).map(({ code: _, ...error }) => error),
  };
}

/** Count, ordinals, identity and ids: what makes the members one transaction. */
function checkMembership(input: TransactionInput, findings: Finding[]): void {
  const { members, transactionId } = input;
  const ordinals = new Set<number>();
  const eventIds = new Set<string>();
  const first = members[0]?.envelope;
  for (const { envelope, ordinal, count } of members) {
    const add = (field: string, rule: string) => findings.push(finding(ordinal, field, rule));
    if (count !== members.length) add("/transactioncount", "TRANSACTION_COUNT_MISMATCH");
    if (!Number.isSafeInteger(ordinal) || ordinal < 0 || ordinal >= members.length) {
      add("/transactionordinal", "ORDINAL_OUT_OF_RANGE");
    } else if (ordinals.has(ordinal)) {
      add("/transactionordinal", "DUPLICATE_ORDINAL");
    }
    ordinals.add(ordinal);
    if (eventIds.has(envelope.eventId)) add("/id", "DUPLICATE_EVENT_ID");
    eventIds.add(envelope.eventId);
    if (envelope.hostId !== first?.hostId) add("/host", "MIXED_HOST");
    if (envelope.userId !== first?.userId) add("/user", "MIXED_USER");
    if (envelope.claimedTransactionId !== null && envelope.claimedTransactionId !== transactionId) {
      add("/transactionid", "MIXED_TRANSACTION");
    }
    if (envelope.claimedOrdinal !== null && envelope.claimedOrdinal !== ordinal) {
      add("/transactionordinal", "ORDINAL_CONTRADICTION");
    }
    if (envelope.claimedCount !== null && envelope.claimedCount !== count) {
      add("/transactioncount", "COUNT_CONTRADICTION");
    }
  }
}

function validateMember(
  registry: PolicyRegistry,
  declared: DeclaredMember,
  input: TransactionInput,
  limits: AppendLimits,
  findings: Finding[],
): ValidatedMember | null {
  const { envelope, ordinal } = declared;
  const refuse = (rules: readonly MemberRule[]) => {
    for (const { field, rule } of rules) findings.push(finding(ordinal, field, rule));
    return null;
  };
  const entry = registry.find(envelope.eventType, envelope.schemaVersion);
  if (!entry) return refuse([{ field: "/type", rule: "UNKNOWN_EVENT_TYPE" }]);
  const pins = pinsOf(registry, entry, envelope.versionBaseline);
  const contradictions = contradictingPins(envelope, pins);
  if (contradictions.length > 0) return refuse(contradictions);
  if (envelope.versionBaseline && !input.acceptVersionBaseline) {
    refuse([{ field: "/versionbaseline", rule: "BASELINE_ONLY_BY_IMPORT" }]);
  }
  const checked = checkAgainstEntry(registry, entry, envelope);
  if (!checked.ok) return refuse(checked.rules);
  const { payload, digest } = declared.payload
    ? { payload: declared.payload, digest: sha256Hex(declared.payload) }
    : encoded(envelope, pins);
  if (payload.length > limits.payloadBytes) refuse([{ field: "", rule: "PAYLOAD_TOO_LARGE" }]);
  return { ordinal, envelope, entry, policy: entry.replayPolicy, scopes: checked.scopes, pins, payload, digest };
}

function encoded(envelope: EventEnvelope, pins: EventPins): { payload: Buffer; digest: string } {
  const { bytes, digest } = canonicalEvent(envelope, pins);
  return { payload: bytes, digest };
}

/**
 * Inside a transaction an aggregate's versions rise by one, and only its first event may declare a baseline (ER-APP-38): live
 * projection knows no jump in the middle of one. A graph command accepts one revision for all its members, so a root's
 * revision stays or rises by one, and no baseline lets a root jump.
 */
function checkScopeOrder(members: readonly ValidatedMember[], findings: Finding[]): void {
  const last = new Map<string, number>();
  for (const { ordinal, envelope, scopes } of members) {
    if (envelope.versionBaseline && envelope.aggregateType === null) {
      findings.push(finding(ordinal, "/versionbaseline", "BASELINE_WITHOUT_AGGREGATE"));
    }
    for (const { type, key, version } of scopes) {
      const id = `${type}\u0000${key}`;
      const before = last.get(id);
      last.set(id, version);
      if (before === undefined) continue;
      if (type === "GRAPH_ROOT") {
        if (version !== before && version !== before + 1) {
          findings.push(finding(ordinal, "/instancegraphrevision", "REVISION_NOT_CONTIGUOUS"));
        }
        continue;
      }
      if (envelope.versionBaseline) findings.push(finding(ordinal, "/versionbaseline", "BASELINE_NOT_FIRST"));
      if (version !== before + 1) findings.push(finding(ordinal, "/aggregateversion", "VERSION_NOT_CONTIGUOUS"));
    }
  }
}
