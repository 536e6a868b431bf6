import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { qualifyHandlers } from "@/server/event-replay/registry/domain/gates";
import { sharedDataFile } from "@/server/testing/data";
import { catalogEvents } from "./catalog/events";
import { portalProjection } from "./portal-projection";
import { portalEvents, portalRegistries } from "./registry";
import { formsCatalog } from "./typed/forms-catalog";

const { current } = portalRegistries();

test("ER-APP-13 every aggregate type of the portal is registered with the identity fields it declares", () => {
  const lines = readFileSync(sharedDataFile("aggregates.tsv"), "utf8").trim().split("\n").slice(1);
  expect(lines.length).toBeGreaterThan(100);
  for (const line of lines) {
    const [type, fields = ""] = line.split("\t");
    const identity = fields.split(",").filter((field) => !field.endsWith("?"));
    for (const verb of ["Created", "Updated", "Deleted"]) {
      expect(current.find(`${type}${verb}Event`, "1")).toMatchObject({
        identityFields: identity,
        dependency: { kind: "AGGREGATE", aggregateType: type },
      });
    }
  }
});

test("ER-APP-29 every entry of the portal declares its whole meaning, and every policy exists in the registry", () => {
  for (const entry of current.entries) {
    expect(entry.transactionPolicy).toBe("COMPLETE_TRANSACTION");
    expect(current.validators.has(entry.dataValidator)).toBe(true);
    expect(entry.repairSchema === null || current.repairSchemas.has(entry.repairSchema)).toBe(true);
    expect(["NONE", "REPLAY_EXCLUDED"]).toContain(entry.externalSideEffects);
  }
  const policies = new Set(current.entries.map(({ replayPolicy }) => replayPolicy));
  expect([...policies].sort()).toEqual(["AGGREGATE_VERSION", "GRAPH_ROOT", "NOT_REPLAYABLE", "TRANSACTION_ONLY"]);
});

test("ER-APP-30 each handler of the portal has a policy, and each policy a handler", () => {
  const handlers = portalEvents().map(({ entry }) => entry);
  expect(qualifyHandlers(current, handlers, new Set())).toEqual([]);
  const projection = portalProjection();
  const registry = projection.registries.current;
  expect(registry.entries.filter((entry) => !projection.handlerFor(entry, registry.version))).toEqual([]);
  expect(registry.entries.filter((entry) => projection.handlerFor(entry, "another-version"))).toEqual([]);
});

test("ER-APP-31 the structural baseline repairs nothing: ordered events by exact replay, unordered ones never", () => {
  for (const { entry } of catalogEvents()) {
    const ordered = entry.dependency.kind !== "NONE";
    expect([entry.eventType, entry.repairDisposition, entry.repairSchema]).toEqual([
      entry.eventType,
      ordered ? "FIX_AND_EXACT_REPLAY_ONLY" : "NOT_REPAIRABLE_UNORDERED",
      null,
    ]);
  }
});

test("ER-APP-37 UserDeletedEvent is an ordinary event: no list names it, its metadata gives AGGREGATE_VERSION", () => {
  expect(current.find("UserDeletedEvent", "1")).toMatchObject({
    replayPolicy: "AGGREGATE_VERSION",
    dataValidator: "PORTAL_OBJECT_V1",
    externalSideEffects: "NONE",
  });
});

test("ER-APP-44 the synthetic fixture event is in no runtime registry and in no shipped form", () => {
  const runtime = JSON.stringify([
    current.entries,
    [...current.repairSchemas.values()],
    [...current.validators.keys()],
  ]);
  const shipped = readFileSync("forms/Forms.json", "utf8");
  for (const text of [runtime, shipped]) {
    expect(text).toContain("user-updated-repair-v1");
    expect(text).not.toMatch(/contract-?fixture/i);
    expect(text).not.toContain("EventReplayContractFixtureEvent");
  }
});

test("the shipped forms are the generated ones, one per repair schema of the registry", () => {
  const shipped = JSON.parse(readFileSync("forms/Forms.json", "utf8")) as Record<
    string,
    { repairSchemaVersion: string }
  >;
  expect(shipped).toEqual(formsCatalog());
  expect(Object.values(shipped).map((form) => form.repairSchemaVersion)).toEqual([...current.repairSchemas.keys()]);
});
