import { expect, test } from "vitest";
import { defectsOf, ENTRIES, policyEntry, RENAMED, RENAMED_REPAIR, registryOf, VALIDATORS } from "../registry-fixture";
import { POLICY_REGISTRY_VERSION, type PolicyEntry } from "./policy";
import { buildRegistries, RegistryError } from "./registry";

/** Rules an entry of one kind is refused for. */
function entryDefects(entry: PolicyEntry): string[] {
  return defectsOf({ entries: [entry] });
}

const UNORDERED = policyEntry("NoteAddedEvent", { dependency: { kind: "NONE" }, replayPolicy: "TRANSACTION_ONLY" });

test("ER-APP-29 a registry holds its entries under their exact type and schema version", () => {
  const registry = registryOf();
  expect(registry.entries).toEqual(ENTRIES);
  expect(registry.find("AccountOpenedEvent", "1")).toEqual(ENTRIES[0]);
  expect(registry.find("AccountOpenedEvent", "2")).toBeUndefined();
  expect(registry.find("accountopenedevent", "1")).toBeUndefined();
});

test("ER-APP-29 an entry that leaves out any part of its meaning is refused", () => {
  const parts: Record<string, string> = {
    eventType: "BLANK_NAME",
    schemaVersion: "BLANK_NAME",
    transactionPolicy: "TRANSACTION_POLICY_UNKNOWN",
    dependency: "DEPENDENCY_MISSING",
    dataValidator: "VALIDATOR_MISSING",
    replayPolicy: "POLICY_NOT_DERIVED",
    externalSideEffects: "SIDE_EFFECTS_MISSING",
  };
  for (const [part, rule] of Object.entries(parts)) {
    expect(entryDefects({ ...policyEntry("AccountOpenedEvent"), [part]: undefined })).toContain(rule);
  }
});

test("ER-APP-28 the registry version is a constant of the code and frozen with its registry", () => {
  expect(POLICY_REGISTRY_VERSION).toBe("event-replay-policy-v2");
  const registry = registryOf();
  expect(Object.isFrozen(registry) && Object.isFrozen(registry.entries) && Object.isFrozen(registry.entries[0])).toBe(
    true,
  );
});

test("ER-APP-31 an entry without exactly one known disposition is refused, and so is an empty repair schema", () => {
  expect(entryDefects(policyEntry("E", { repairDisposition: undefined as never }))).toEqual(["DISPOSITION_MISSING"]);
  expect(entryDefects(policyEntry("E", { repairDisposition: "MAYBE" as never }))).toEqual(["DISPOSITION_MISSING"]);
  expect(entryDefects(policyEntry("E", { repairSchema: RENAMED_REPAIR.version }))).toEqual([
    "REPAIR_SCHEMA_UNEXPECTED",
  ]);
  const empty = { ...RENAMED_REPAIR, editableFields: [] };
  expect(defectsOf({ repairSchemas: new Map([[empty.version, empty]]) })).toContain("REPAIR_SCHEMA_BROKEN");
});

test("ER-APP-32 a SCHEMA_REPAIR entry names a repair schema of this registry, made for this event", () => {
  expect(entryDefects(RENAMED)).toEqual([]);
  expect(entryDefects({ ...RENAMED, repairSchema: null })).toEqual(["REPAIR_SCHEMA_MISSING"]);
  expect(entryDefects({ ...RENAMED, repairSchema: "account-renamed-repair-v9" })).toEqual(["REPAIR_SCHEMA_MISSING"]);
  expect(entryDefects({ ...RENAMED, schemaVersion: "2" })).toEqual(["REPAIR_SCHEMA_OF_OTHER_EVENT"]);
});

test("ER-APP-33 an ordered entry can't be NOT_REPAIRABLE_UNORDERED", () => {
  expect(entryDefects(policyEntry("E", { repairDisposition: "NOT_REPAIRABLE_UNORDERED" }))).toEqual([
    "ORDERED_NOT_REPAIRABLE",
  ]);
  expect(entryDefects({ ...UNORDERED, repairDisposition: "NOT_REPAIRABLE_UNORDERED" })).toEqual([]);
});

test("ER-APP-34 an ordered entry can't be NOT_REPLAYABLE", () => {
  expect(entryDefects(policyEntry("E", { replayPolicy: "NOT_REPLAYABLE" }))).toContain("ORDERED_NOT_REPLAYABLE");
  const graph = policyEntry("E", { dependency: { kind: "GRAPH_ROOT" }, replayPolicy: "NOT_REPLAYABLE" });
  expect(entryDefects(graph)).toContain("ORDERED_NOT_REPLAYABLE");
  expect(entryDefects({ ...UNORDERED, replayPolicy: "NOT_REPLAYABLE" })).toEqual([]);
});

test("ER-APP-35 an entry's policy equals what its own metadata derives", () => {
  const graph = { kind: "GRAPH_ROOT" } as const;
  expect(entryDefects(policyEntry("E", { replayPolicy: "GRAPH_ROOT" }))).toEqual(["POLICY_NOT_DERIVED"]);
  expect(entryDefects(policyEntry("E", { dependency: graph }))).toEqual(["POLICY_NOT_DERIVED"]);
  expect(entryDefects(policyEntry("E", { replayPolicy: "TRANSACTION_ONLY" }))).toEqual(["POLICY_NOT_DERIVED"]);
  expect(entryDefects({ ...UNORDERED, replayPolicy: "AGGREGATE_VERSION" })).toEqual(["POLICY_NOT_DERIVED"]);
  expect(entryDefects({ ...UNORDERED, externalSideEffects: "REPLAY_EXCLUDED" })).toEqual(["POLICY_NOT_DERIVED"]);
});

test("ER-APP-41 a repairable entry can't rest on the structural baseline validator", () => {
  expect(entryDefects({ ...RENAMED, dataValidator: "PORTAL_OBJECT_V1" })).toEqual(["REPAIR_NEEDS_TYPED_VALIDATOR"]);
});

test("ER-APP-45 a broken registry does not exist: every defect is listed and nothing is built", () => {
  const entries = [policyEntry("E"), policyEntry("E"), policyEntry("F", { dataValidator: "NOWHERE_V1" })];
  expect(() => registryOf({ entries })).toThrow(RegistryError);
  expect(defectsOf({ entries }).sort()).toEqual(["DUPLICATE_KEY", "VALIDATOR_MISSING"]);
  expect(defectsOf({ version: " " })).toEqual(["BLANK_NAME"]);
});

test("ER-APP-39 a registry can't give PORTAL_OBJECT_V1 another meaning", () => {
  const registry = registryOf({ validators: new Map([...VALIDATORS, ["PORTAL_OBJECT_V1", () => []]]) });
  expect(registry.validators.get("PORTAL_OBJECT_V1")?.([])).toEqual([{ field: "", rule: "DATA_NOT_AN_OBJECT" }]);
});

test("ER-APP-46 an entry with external side effects carries no ordering metadata", () => {
  expect(entryDefects(policyEntry("E", { externalSideEffects: "REPLAY_EXCLUDED" }))).toContain("ORDERED_SIDE_EFFECTS");
});

test("ER-CAP-28 an aggregate type with a colon, which would blur scope keys, is refused", () => {
  const dependency = { kind: "AGGREGATE", aggregateType: "User:Old" } as const;
  expect(entryDefects(policyEntry("E", { dependency }))).toEqual(["AGGREGATE_TYPE_WITH_COLON"]);
});

test("ER-APP-23 two deployed versions give one event type two meanings, each under its own version", () => {
  const current = registryOf({
    version: "v3",
    entries: [policyEntry("AccountOpenedEvent", { identityFields: ["key"] })],
  });
  const older = registryOf({ version: "v2" });
  const registries = buildRegistries(current, [older]);
  expect(registries.current).toBe(current);
  expect(registries.version("v2")?.find("AccountOpenedEvent", "1")?.identityFields).toEqual(["accountId"]);
  expect(registries.version("v3")?.find("AccountOpenedEvent", "1")?.identityFields).toEqual(["key"]);
  expect(registries.version("v1")).toBeUndefined();
  expect(() => buildRegistries(current, [registryOf({ version: "v3" })])).toThrow(RegistryError);
});
