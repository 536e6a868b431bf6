import { nodeToValue } from "@/server/platform/json/decode-data";
import { jsonPointer } from "@/server/platform/json/exact-json";
import { ExactNumber } from "@/server/platform/json/exact-number";
import { derivePolicy } from "./derive-policy";
import type { EventEnvelope } from "./envelope";
import type { PolicyEntry, PolicyRegistry } from "./policy";
import type { ScopeStep } from "./scopes";
import { isJsonObject } from "./validators";

/** `field` is a JSON pointer into the event. */
export type MemberRule = { readonly field: string; readonly rule: string };

type MemberCheck =
  | { readonly ok: true; readonly scopes: readonly ScopeStep[] }
  | { readonly ok: false; readonly rules: readonly MemberRule[] };

/**
 * One event against its registry entry: the ordering metadata the entry declares and no other, its identity fields, its data
 * (ER-APP-11..13, 15, 35, 39, 46).
 */
export function checkAgainstEntry(registry: PolicyRegistry, entry: PolicyEntry, envelope: EventEnvelope): MemberCheck {
  const rules: MemberRule[] = [...dependencyRules(entry, envelope)];
  const derived = derivePolicy(envelope);
  if (rules.length === 0) {
    if (!derived.ok) rules.push({ field: "", rule: derived.rule });
    else if (derived.policy !== entry.replayPolicy && entry.dependency.kind !== "NONE") {
      rules.push({ field: "", rule: "POLICY_MISMATCH" });
    }
  }
  const data = nodeToValue(envelope.data);
  rules.push(...identityRules(entry, data));
  // A registry is only built with the validators its entries name, so a missing one means it was bypassed: refuse.
  const validate = registry.validators.get(entry.dataValidator);
  if (!validate) rules.push({ field: "/data", rule: "VALIDATOR_MISSING" });
  else for (const { field, rule } of validate(data)) rules.push({ field: `/data${field}`, rule });
  return rules.length === 0 && derived.ok ? { ok: true, scopes: derived.scopes } : { ok: false, rules };
}

function dependencyRules(entry: PolicyEntry, envelope: EventEnvelope): MemberRule[] {
  const rules: MemberRule[] = [];
  const { dependency } = entry;
  const graph = envelope.rootInstanceId !== null || envelope.graphRevision !== null;
  const aggregate =
    envelope.aggregateType !== null || envelope.aggregateId !== null || envelope.aggregateVersion !== null;
  if (dependency.kind === "GRAPH_ROOT") {
    if (envelope.rootInstanceId === null) rules.push({ field: "/rootinstanceid", rule: "REQUIRED" });
    if (envelope.graphRevision === null) rules.push({ field: "/instancegraphrevision", rule: "REQUIRED" });
  } else if (graph) {
    rules.push({ field: "/rootinstanceid", rule: "ORDER_METADATA_UNDECLARED" });
  }
  const aggregateType = dependency.kind === "NONE" ? undefined : dependency.aggregateType;
  if (aggregateType !== undefined) {
    if (envelope.subject === null) rules.push({ field: "/subject", rule: "REQUIRED" });
    if (envelope.aggregateVersion === null) rules.push({ field: "/aggregateversion", rule: "REQUIRED" });
    if (envelope.aggregateType === null) rules.push({ field: "/aggregatetype", rule: "REQUIRED" });
    else if (envelope.aggregateType !== aggregateType) {
      rules.push({ field: "/aggregatetype", rule: "AGGREGATE_TYPE_MISMATCH" });
    }
  } else if (dependency.kind === "NONE" && aggregate) {
    rules.push({ field: "/aggregatetype", rule: "ORDER_METADATA_UNDECLARED" });
  }
  return rules;
}

/** What the handler needs to find its row again: present, and not null, blank, a list or an object (ER-APP-13). */
function identityRules(entry: PolicyEntry, data: unknown): MemberRule[] {
  if (!isJsonObject(data)) return [];
  return entry.identityFields
    .filter((name) => !Object.hasOwn(data, name) || !isIdentity(data[name]))
    .map((name) => ({ field: `/data${jsonPointer([name])}`, rule: "IDENTITY_REQUIRED" }));
}

function isIdentity(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  return typeof value === "number" || typeof value === "boolean" || value instanceof ExactNumber;
}
