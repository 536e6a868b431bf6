import { sha256Hex } from "@/server/platform/digest";
import { encodeCanonical } from "@/server/platform/json/canonical-json";
import type { JsonMember, JsonNode } from "@/server/platform/json/exact-json";
import type { EventEnvelope } from "./envelope";
import type { PolicyEntry, PolicyRegistry } from "./policy";

/** What an append fixes on an event for ever (ER-APP-20). */
export type EventPins = {
  readonly schemaVersion: string;
  readonly registryVersion: string;
  readonly repairSchema: string | null;
  /** Only an import may set it: this version is the scope's baseline. */
  readonly versionBaseline: boolean;
};

export type CanonicalEvent = {
  /** The complete CloudEvent in `event-replay-canonical-v1`. */
  readonly bytes: Buffer;
  /** SHA-256 of `bytes`, lowercase hex. */
  readonly digest: string;
};

export function pinsOf(registry: PolicyRegistry, entry: PolicyEntry, versionBaseline: boolean): EventPins {
  return {
    schemaVersion: entry.schemaVersion,
    registryVersion: registry.version,
    repairSchema: entry.repairSchema,
    versionBaseline,
  };
}

/** The pins an event arrived with that aren't the registry's. A caller can't choose the meaning of its event. */
export function contradictingPins(
  envelope: EventEnvelope,
  pins: EventPins,
): readonly { field: string; rule: string }[] {
  const violations: { field: string; rule: string }[] = [];
  if (envelope.claimedRegistryVersion !== null && envelope.claimedRegistryVersion !== pins.registryVersion) {
    violations.push({ field: "/replaypolicy", rule: "PIN_CONTRADICTS_REGISTRY" });
  }
  if (envelope.claimedRepairSchema !== null && envelope.claimedRepairSchema !== pins.repairSchema) {
    violations.push({ field: "/repairschema", rule: "PIN_CONTRADICTS_REGISTRY" });
  }
  if (envelope.schemaVersion !== pins.schemaVersion) {
    violations.push({ field: "/eventschema", rule: "PIN_CONTRADICTS_REGISTRY" });
  }
  return violations;
}

/**
 * The bytes an append stores: the event as received with versions normalised and the pins stamped; everything else, unknown
 * extensions too, keeps its value and number lexemes. Equal for any member order of the input. Throws when the event carries
 * a contradicting pin: callers refuse it by `contradictingPins` first.
 */
export function canonicalEvent(envelope: EventEnvelope, pins: EventPins): CanonicalEvent {
  if (contradictingPins(envelope, pins).length > 0) throw new Error("the event's pins contradict the registry");
  const members = new Map<string, JsonNode>();
  for (const { name, value } of envelope.node.members) members.set(name, value);
  setInteger(members, "aggregateversion", envelope.aggregateVersion);
  setInteger(members, "instancegraphrevision", envelope.graphRevision);
  members.set("eventschema", { kind: "string", value: pins.schemaVersion });
  members.set("replaypolicy", { kind: "string", value: pins.registryVersion });
  if (pins.repairSchema === null) members.delete("repairschema");
  else members.set("repairschema", { kind: "string", value: pins.repairSchema });
  if (pins.versionBaseline) members.set("versionbaseline", { kind: "boolean", value: true });
  else members.delete("versionbaseline");
  const list: JsonMember[] = [];
  for (const [name, value] of members) list.push({ name, value });
  const bytes = encodeCanonical({ kind: "object", members: list });
  return { bytes, digest: sha256Hex(bytes) };
}

function setInteger(members: Map<string, JsonNode>, name: string, value: number | null): void {
  if (value !== null) members.set(name, { kind: "number", lexeme: String(value) });
}
