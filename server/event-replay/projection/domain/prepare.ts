import type { ErrorCode } from "@/server/contracts/errors";
import type { PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { decodeJson, decodeJsonText } from "@/server/platform/json/decode-data";
import { canonicalChange } from "./canonical-change";
import { isComplete, type ScopeRun, scopeRunsOf } from "./membership";
import type {
  EventHandler,
  ProjectedEvent,
  ProjectionDefinition,
  ProjectionTransaction,
  RowChange,
  SourceEvent,
} from "./types";

/** What one member will do: row changes already computed, or a statements handler to call. */
export type PreparedMember =
  | { readonly kind: "rows"; readonly changes: readonly RowChange[] }
  | {
      readonly kind: "statements";
      readonly event: ProjectedEvent;
      readonly handler: Extract<EventHandler, { kind: "statements" }>;
    };

/** A refusal known before any SQL ran. `ordinal` is the member to blame, when one is. */
export type Refusal = { readonly code: ErrorCode; readonly ordinal: number | null };

export type PreparedTransaction = {
  readonly transaction: ProjectionTransaction;
  readonly runs: readonly ScopeRun[];
  readonly members: readonly PreparedMember[];
  readonly refusal: Refusal | null;
};

/**
 * The pure half of projecting: membership, pinned registry entry, decoding, and `rows` handlers. It is the same for LIVE and
 * REPLAY and knows no mode. A handler that throws refuses its own transaction only; its text goes nowhere.
 */
export function prepareTransaction(
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
): PreparedTransaction {
  if (!isComplete(transaction)) {
    return { transaction, runs: [], members: [], refusal: { code: "TRANSACTION_INCOMPLETE", ordinal: null } };
  }
  const runs = scopeRunsOf(transaction);
  const members: PreparedMember[] = [];
  for (const member of transaction.members) {
    const prepared = prepareMember(definition, transaction.hostId, member);
    if ("code" in prepared) return { transaction, runs, members: [], refusal: prepared };
    members.push(prepared);
  }
  return { transaction, runs, members, refusal: null };
}

function prepareMember(
  definition: ProjectionDefinition,
  hostId: string,
  member: SourceEvent,
): PreparedMember | Refusal {
  const entry = pinnedEntry(definition, member);
  const handler = entry && definition.handlerFor(entry, member.policyRegistryVersion);
  if (!handler) return { code: "UNSUPPORTED_EVENT_TYPE", ordinal: member.ordinal };
  try {
    const event = toProjectedEvent(hostId, member);
    if (handler.kind === "statements") return { kind: "statements", event, handler };
    const changes = handler.project(event).map((change) => canonicalChange(change, definition.tables));
    return { kind: "rows", changes };
  } catch {
    return { code: "PROJECTION_FAILED", ordinal: member.ordinal };
  }
}

/** The entry of the registry version that the event was appended under, never of a newer one (ER-APP-23). */
export function pinnedEntry(definition: ProjectionDefinition, member: SourceEvent): PolicyEntry | undefined {
  return definition.registries.version(member.policyRegistryVersion)?.find(member.eventType, member.schemaVersion);
}

function toProjectedEvent(hostId: string, member: SourceEvent): ProjectedEvent {
  const decoded = member.payloadText === undefined ? decodeJson(member.payload) : decodeJsonText(member.payloadText);
  const envelope = decoded as { time?: unknown; user?: unknown; data?: unknown };
  if (envelope === null || typeof envelope !== "object" || typeof envelope.time !== "string") {
    throw new Error("payload is not a CloudEvent object");
  }
  if (envelope.data === null || typeof envelope.data !== "object") throw new Error("data is not an object");
  return Object.freeze({
    hostId,
    eventId: member.eventId,
    eventType: member.eventType,
    schemaVersion: member.schemaVersion,
    // From the bytes, not from a column: live and replay then see the same.
    userId: typeof envelope.user === "string" ? envelope.user : null,
    aggregateType: member.aggregateType,
    aggregateId: member.aggregateId,
    aggregateVersion: member.aggregateVersion,
    rootInstanceId: member.rootInstanceId,
    graphRevision: member.graphRevision,
    time: envelope.time,
    data: deepFreeze(envelope.data) as Readonly<Record<string, unknown>>,
  });
}

/** The executor never edits an event, and neither may a handler (ER-EXE-05). */
function deepFreeze(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  for (const key in value) deepFreeze((value as Record<string, unknown>)[key]);
  return Object.freeze(value);
}
