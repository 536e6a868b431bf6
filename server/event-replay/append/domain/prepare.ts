import type { ErrorCode, FieldError } from "@/server/contracts/errors";
import { canonicalEvent, pinsOf } from "@/server/event-replay/registry/domain/canonical-event";
import { type EventEnvelope, readEnvelope } from "@/server/event-replay/registry/domain/envelope";
import type { PolicyRegistries, PolicyRegistry } from "@/server/event-replay/registry/domain/policy";
import {
  type ValidatedMember,
  type ValidationStage,
  validateTransaction,
} from "@/server/event-replay/registry/domain/validate-transaction";
import { parseExactJson } from "@/server/platform/json/exact-json";
import type { PreparedEvent, PreparedMember, PreparedTransaction } from "./prepared";

export type Proposal = {
  readonly stage: ValidationStage;
  readonly transactionId: string;
  /** False when we chose the id. */
  readonly explicitId: boolean;
  readonly members: readonly { readonly envelope: EventEnvelope; readonly line?: number }[];
  /** Only an import: `versionbaseline` may be claimed, and is pinned on a version jump. */
  readonly isImport: boolean;
};

export type Preparation =
  | { readonly ok: true; readonly transaction: PreparedTransaction }
  | { readonly ok: false; readonly code: ErrorCode; readonly errors: readonly FieldError[] };

/**
 * Everything about a transaction that can be judged without the database, by the registry's one validator (ER-APP-17, 19). A
 * registry that throws is broken, whatever it throws: the transaction is refused (ER-APP-45).
 */
export function prepareTransaction(registries: PolicyRegistries, proposal: Proposal): Preparation {
  try {
    return prepare(registries, proposal);
  } catch {
    return { ok: false, code: "UNSUPPORTED_EVENT_TYPE", errors: [{ field: "/type", rule: "REGISTRY_UNUSABLE" }] };
  }
}

function prepare(registries: PolicyRegistries, proposal: Proposal): Preparation {
  const { members, transactionId, explicitId } = proposal;
  const verdict = validateTransaction(registries.current, {
    stage: proposal.stage,
    transactionId,
    members: members.map(({ envelope }, ordinal) => ({
      envelope,
      ordinal: envelope.claimedOrdinal ?? ordinal,
      count: envelope.claimedCount ?? members.length,
    })),
    acceptVersionBaseline: proposal.isImport,
  });
  if (!verdict.ok) return { ...verdict, errors: withLines(verdict.errors, members) };
  const lines = new Map(members.map(({ envelope, line }) => [envelope.eventId, line]));
  return {
    ok: true,
    transaction: {
      hostId: verdict.transaction.hostId,
      transactionId,
      explicitId,
      members: verdict.transaction.members.map((member) =>
        preparedMember(registries, eventOf(member), lines.get(member.envelope.eventId)),
      ),
    },
  };
}

function withLines(errors: readonly FieldError[], members: Proposal["members"]): FieldError[] {
  return errors.map((error) => {
    const named = members.find(({ envelope }, i) => (envelope.claimedOrdinal ?? i) === error.member);
    const line = (named ?? members[0])?.line;
    return line === undefined ? error : { ...error, line };
  });
}

function eventOf({ envelope, pins, payload, digest }: ValidatedMember): PreparedEvent {
  return preparedEvent(envelope, pins, payload, digest);
}

function preparedEvent(
  envelope: EventEnvelope,
  pins: ValidatedMember["pins"],
  bytes: Buffer,
  digest: string,
): PreparedEvent {
  return {
    hostId: envelope.hostId,
    eventId: envelope.eventId,
    userId: envelope.userId,
    nonce: envelope.nonce,
    aggregateType: envelope.aggregateType,
    aggregateId: envelope.aggregateId,
    aggregateVersion: envelope.aggregateVersion,
    rootInstanceId: envelope.rootInstanceId,
    graphRevision: envelope.graphRevision,
    eventType: envelope.eventType,
    eventTs: envelope.time,
    schemaVersion: pins.schemaVersion,
    policyRegistryVersion: pins.registryVersion,
    repairSchemaVersion: pins.repairSchema,
    versionBaseline: pins.versionBaseline,
    bytes,
    digest,
  };
}

function preparedMember(registries: PolicyRegistries, event: PreparedEvent, line: number | undefined): PreparedMember {
  return {
    event,
    repin({ registryVersion, versionBaseline }) {
      if (registryVersion === event.policyRegistryVersion && versionBaseline === event.versionBaseline) return event;
      const registry = registries.version(registryVersion);
      return registry ? encodeUnder(registry, event.bytes, versionBaseline) : null;
    },
    ...(line === undefined ? {} : { line }),
  };
}

const PINS = new Set(["replaypolicy", "repairschema", "versionbaseline"]);

/** Reads the event back from its canonical bytes, so that an import holds bytes alone and no parsed trees. */
function encodeUnder(registry: PolicyRegistry, bytes: Buffer, versionBaseline: boolean): PreparedEvent | null {
  const parsed = parseExactJson(bytes);
  if (!parsed.ok || parsed.value.kind !== "object") return null;
  const members = parsed.value.members.filter(({ name }) => !PINS.has(name));
  const reading = readEnvelope({ kind: "object", members });
  if (!reading.ok) return null;
  const { envelope } = reading;
  const entry = registry.find(envelope.eventType, envelope.schemaVersion);
  if (!entry) return null;
  const pins = pinsOf(registry, entry, versionBaseline);
  const { bytes: encoded, digest } = canonicalEvent(envelope, pins);
  return preparedEvent(envelope, pins, encoded, digest);
}
