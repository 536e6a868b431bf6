import type { ErrorCode } from "@/server/contracts/errors";
import { isComplete, scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { pinnedEntry } from "@/server/event-replay/projection/domain/prepare";
import type {
  ProjectionDefinition,
  ProjectionTransaction,
  SourceEvent,
} from "@/server/event-replay/projection/domain/types";
import type { GapDetails } from "@/server/event-replay/projection/execute";
import { contentFingerprint, deliveryFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import type { ReplayPolicy } from "@/server/event-replay/registry/domain/policy";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import type { SafePgError } from "@/server/platform/db/pg-errors";
import { sha256Hex } from "@/server/platform/digest";

/** Why a transaction did not project, in safe words only. */
export type FailureReason = {
  readonly code: ErrorCode;
  readonly pg: SafePgError | null;
  /** Member to blame, when known. */
  readonly ordinal: number | null;
  readonly gap: GapDetails | null;
};

/** Everything the archive stores of one failed transaction, less the bytes themselves. */
export type FailureRecord = {
  readonly transaction: ProjectionTransaction;
  readonly contentFingerprint: string;
  readonly deliveryFingerprint: string;
  readonly coordinates: Readonly<Record<string, string | number>>;
  readonly payloadDigests: readonly string[];
  readonly payloadBytes: number;
  readonly scopes: readonly Scope[];
  readonly replayPolicy: ReplayPolicy;
  readonly policyRegistryVersion: string;
  readonly errorCode: ErrorCode;
  readonly errorType: string | null;
  readonly errorConstraint: string | null;
  readonly errorMessage: string | null;
  readonly errorDetails: GapDetails | null;
  readonly failedOrdinal: number | null;
  readonly failedEventType: string | null;
  readonly causeKey: string;
};

/** Code-owned bound (reference §7): a longer text is cut, so that no error can grow a row without limit (ER-CAP-26). */
const ERROR_MESSAGE_MAX = 2048;
const CAUSE_KEY_MAX = 512;

/**
 * Builds the canonical record of a failure: fingerprints over the exact bytes, the union of its scopes, the policy pinned at
 * append. Hashing happens here and only here, never on the way of a transaction that projects.
 */
export function buildFailureRecord(
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
  reason: FailureReason,
): FailureRecord {
  const { members } = transaction;
  const first = members[0] as SourceEvent;
  const payloadDigests = members.map((member) => member.payloadDigest ?? sha256Hex(member.payload));
  const content = {
    projectionName: definition.projectionName,
    consumerGroup: definition.consumerGroup,
    originalTransactionId: transaction.transactionId,
    eventIds: members.map((member) => member.eventId),
    payloadDigests,
  };
  const coordinates = coordinatesOf(members);
  const failed = members.find((member) => member.ordinal === reason.ordinal);
  const failedEventType = reason.code === "REPLAY_GAP" ? null : (failed?.eventType ?? commonType(members));
  return {
    transaction,
    contentFingerprint: contentFingerprint(content),
    deliveryFingerprint: deliveryFingerprint(content, {
      processor: first.source.processor,
      coordinates: members.map(({ source }) => ({
        topic: source.topic,
        partition: source.partition,
        offset: source.offset,
      })),
    }),
    coordinates,
    payloadDigests,
    payloadBytes: members.reduce((sum, member) => sum + member.payload.length, 0),
    scopes: isComplete(transaction) ? scopeRunsOf(transaction).map(({ type, key }) => ({ type, key })) : [],
    replayPolicy: policyOf(definition, members),
    policyRegistryVersion: first.policyRegistryVersion,
    errorCode: reason.code,
    errorType: reason.pg?.sqlState ?? null,
    errorConstraint: reason.pg?.constraint ?? null,
    errorMessage: messageOf(reason),
    errorDetails: reason.gap,
    failedOrdinal: reason.ordinal,
    failedEventType,
    causeKey: [reason.code, reason.pg?.sqlState ?? "", reason.pg?.constraint ?? "", failedEventType ?? ""]
      .join("|")
      .slice(0, CAUSE_KEY_MAX),
  };
}

/** The members' one event type; null when they differ, since no member may be blamed by guess. */
function commonType(members: readonly SourceEvent[]): string | null {
  const first = members[0]?.eventType ?? null;
  return members.every((member) => member.eventType === first) ? first : null;
}

/** Our own words: SQLSTATE and constraint name. A driver's or handler's message may hold row values and is never used. */
function messageOf({ pg }: FailureReason): string | null {
  if (!pg) return null;
  const constraint = pg.constraint ? `, constraint ${pg.constraint}` : "";
  return `SQLSTATE ${pg.sqlState}${constraint}`.slice(0, ERROR_MESSAGE_MAX);
}

/** The strongest policy of the members, read from what was pinned at append. */
function policyOf(definition: ProjectionDefinition, members: readonly SourceEvent[]): ReplayPolicy {
  const policies = members.map((member) => pinnedEntry(definition, member)?.replayPolicy ?? "NOT_REPLAYABLE");
  const order: readonly ReplayPolicy[] = ["NOT_REPLAYABLE", "GRAPH_ROOT", "AGGREGATE_VERSION", "TRANSACTION_ONLY"];
  return order.find((policy) => policies.includes(policy)) ?? "NOT_REPLAYABLE";
}

function coordinatesOf(members: readonly SourceEvent[]): Record<string, string | number> {
  const first = (members[0] as SourceEvent).source;
  const last = (members.at(-1) as SourceEvent).source;
  const range = { partition: first.partition, firstOffset: first.offset, lastOffset: last.offset };
  return first.topic === null ? range : { topic: first.topic, ...range };
}
