import { isOrderedPolicy, policyOfDependency } from "./derive-policy";
import type { DataValidator, PolicyEntry, PolicyRegistries, PolicyRegistry, RepairSchema } from "./policy";
import { PORTAL_OBJECT_V1 } from "./validators";

/** What is wrong with a registry: our own names and rules only. */
export type RegistryDefect = { readonly subject: string; readonly rule: RegistryRule };

export type RegistryRule =
  | "BLANK_NAME"
  | "DUPLICATE_KEY"
  | "TRANSACTION_POLICY_UNKNOWN"
  | "DEPENDENCY_MISSING"
  | "VALIDATOR_MISSING"
  | "DISPOSITION_MISSING"
  | "SIDE_EFFECTS_MISSING"
  | "POLICY_NOT_DERIVED"
  | "AGGREGATE_TYPE_WITH_COLON"
  | "ORDERED_NOT_REPLAYABLE"
  | "ORDERED_SIDE_EFFECTS"
  | "ORDERED_NOT_REPAIRABLE"
  | "REPAIR_SCHEMA_MISSING"
  | "REPAIR_SCHEMA_OF_OTHER_EVENT"
  | "REPAIR_SCHEMA_BROKEN"
  | "REPAIR_NEEDS_TYPED_VALIDATOR"
  | "REPAIR_SCHEMA_UNEXPECTED"
  | "DUPLICATE_REGISTRY_VERSION";

/** A registry that can't be trusted. Whoever gets it appends nothing (ER-APP-45). */
export class RegistryError extends Error {
  constructor(readonly defects: readonly RegistryDefect[]) {
    super(`the policy registry is broken: ${defects.map((defect) => `${defect.subject} ${defect.rule}`).join("; ")}`);
    this.name = "RegistryError";
  }
}

export type RegistryInput = {
  readonly version: string;
  readonly entries: readonly PolicyEntry[];
  readonly validators: ReadonlyMap<string, DataValidator>;
  readonly repairSchemas: ReadonlyMap<string, RepairSchema>;
};

/**
 * One version of the registry, immutable from here on. `PORTAL_OBJECT_V1` is always among its validators. Throws RegistryError
 * listing every defect (ER-APP-29, 31..34, 41, 46; D-31): a registry is whole or there is none.
 */
export function buildRegistry(input: RegistryInput): PolicyRegistry {
  const validators = new Map(input.validators);
  validators.set("PORTAL_OBJECT_V1", PORTAL_OBJECT_V1);
  const repairSchemas = new Map(input.repairSchemas);
  const entries = input.entries.map((entry) => Object.freeze({ ...entry }));
  const defects: RegistryDefect[] = [];
  if (isBlank(input.version)) defects.push({ subject: "registry", rule: "BLANK_NAME" });
  for (const [name, schema] of repairSchemas) defects.push(...repairSchemaDefects(name, schema));
  const byKey = new Map<string, PolicyEntry>();
  for (const entry of entries) {
    const key = keyOf(entry.eventType, entry.schemaVersion);
    if (byKey.has(key)) defects.push({ subject: nameOf(entry), rule: "DUPLICATE_KEY" });
    byKey.set(key, entry);
    for (const rule of entryDefects(entry, validators, repairSchemas)) defects.push({ subject: nameOf(entry), rule });
  }
  if (defects.length > 0) throw new RegistryError(defects);
  return Object.freeze({
    version: input.version,
    entries: Object.freeze(entries),
    validators,
    repairSchemas,
    find: (eventType: string, schemaVersion: string) => byKey.get(keyOf(eventType, schemaVersion)),
  });
}

/**
 * All deployed versions side by side: new appends are pinned to `current`, an older event keeps the meaning it was appended
 * with (ER-APP-23, 25). Throws RegistryError when two registries claim one version.
 */
export function buildRegistries(current: PolicyRegistry, older: readonly PolicyRegistry[]): PolicyRegistries {
  const byVersion = new Map<string, PolicyRegistry>();
  const all = Object.freeze([current, ...older]);
  for (const registry of all) {
    if (byVersion.has(registry.version)) {
      throw new RegistryError([{ subject: registry.version, rule: "DUPLICATE_REGISTRY_VERSION" }]);
    }
    byVersion.set(registry.version, registry);
  }
  return Object.freeze({ current, all, version: (registryVersion: string) => byVersion.get(registryVersion) });
}

function entryDefects(
  entry: PolicyEntry,
  validators: ReadonlyMap<string, DataValidator>,
  repairSchemas: ReadonlyMap<string, RepairSchema>,
): RegistryRule[] {
  const rules: RegistryRule[] = [];
  if (isBlank(entry.eventType) || isBlank(entry.schemaVersion)) rules.push("BLANK_NAME");
  if (entry.identityFields.some(isBlank)) rules.push("BLANK_NAME");
  if (entry.transactionPolicy !== "COMPLETE_TRANSACTION") rules.push("TRANSACTION_POLICY_UNKNOWN");
  if (!validators.has(entry.dataValidator)) rules.push("VALIDATOR_MISSING");
  if (!DISPOSITIONS.has(entry.repairDisposition)) rules.push("DISPOSITION_MISSING");
  if (!SIDE_EFFECTS.has(entry.externalSideEffects)) rules.push("SIDE_EFFECTS_MISSING");
  if (!DEPENDENCIES.has(entry.dependency?.kind)) return [...rules, "DEPENDENCY_MISSING"];
  rules.push(...orderDefects(entry), ...repairDefects(entry, repairSchemas));
  return rules;
}

function orderDefects(entry: PolicyEntry): RegistryRule[] {
  const rules: RegistryRule[] = [];
  if (entry.dependency.kind === "AGGREGATE" && isBlank(entry.dependency.aggregateType))
    rules.push("DEPENDENCY_MISSING");
  if (aggregateTypeOf(entry)?.includes(":")) rules.push("AGGREGATE_TYPE_WITH_COLON");
  const derived = policyOfDependency(entry.dependency, entry.externalSideEffects);
  // An unordered event may be kept from replay for a reason of its own, beyond declared side effects.
  const excluded = entry.dependency.kind === "NONE" && entry.replayPolicy === "NOT_REPLAYABLE";
  if (entry.replayPolicy !== derived && !excluded) rules.push("POLICY_NOT_DERIVED");
  const ordered = isOrderedPolicy(derived) || isOrderedPolicy(entry.replayPolicy);
  if (ordered && entry.replayPolicy === "NOT_REPLAYABLE") rules.push("ORDERED_NOT_REPLAYABLE");
  if (ordered && entry.externalSideEffects === "REPLAY_EXCLUDED") rules.push("ORDERED_SIDE_EFFECTS");
  if (ordered && entry.repairDisposition === "NOT_REPAIRABLE_UNORDERED") rules.push("ORDERED_NOT_REPAIRABLE");
  return rules;
}

function repairDefects(entry: PolicyEntry, repairSchemas: ReadonlyMap<string, RepairSchema>): RegistryRule[] {
  if (entry.repairDisposition !== "SCHEMA_REPAIR")
    return entry.repairSchema === null ? [] : ["REPAIR_SCHEMA_UNEXPECTED"];
  const rules: RegistryRule[] = [];
  const schema = entry.repairSchema === null ? undefined : repairSchemas.get(entry.repairSchema);
  if (!schema) rules.push("REPAIR_SCHEMA_MISSING");
  else if (schema.eventType !== entry.eventType || schema.schemaVersion !== entry.schemaVersion) {
    rules.push("REPAIR_SCHEMA_OF_OTHER_EVENT");
  }
  if (entry.dataValidator === "PORTAL_OBJECT_V1") rules.push("REPAIR_NEEDS_TYPED_VALIDATOR");
  return rules;
}

/** A repair schema that names no field, or a field without a review rule, would be the implicit empty one (ER-APP-31). */
function repairSchemaDefects(name: string, schema: RepairSchema): RegistryDefect[] {
  const whole =
    name === schema.version &&
    schema.editableFields.length > 0 &&
    new Set(schema.editableFields).size === schema.editableFields.length &&
    schema.editableFields.every((field) => !isBlank(field) && Object.hasOwn(schema.review, field));
  return whole ? [] : [{ subject: name, rule: "REPAIR_SCHEMA_BROKEN" }];
}

const DISPOSITIONS: ReadonlySet<unknown> = new Set([
  "SCHEMA_REPAIR",
  "FIX_AND_EXACT_REPLAY_ONLY",
  "NOT_REPAIRABLE_UNORDERED",
]);
const SIDE_EFFECTS: ReadonlySet<unknown> = new Set(["NONE", "REPLAY_EXCLUDED"]);
const DEPENDENCIES: ReadonlySet<unknown> = new Set(["GRAPH_ROOT", "AGGREGATE", "NONE"]);

function aggregateTypeOf(entry: PolicyEntry): string | undefined {
  return entry.dependency.kind === "NONE" ? undefined : entry.dependency.aggregateType;
}

function keyOf(eventType: string, schemaVersion: string): string {
  return JSON.stringify([eventType, schemaVersion]);
}

function nameOf(entry: PolicyEntry): string {
  return `${entry.eventType}@${entry.schemaVersion}`;
}

function isBlank(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}
