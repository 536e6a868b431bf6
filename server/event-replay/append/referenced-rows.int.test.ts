import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { append, cloudEvent, deps, testRegistries } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { insertFailure, insertRepair, insertRequest, resolveFailure } from "@/server/testing/replay-rows";
import { assertReferencedVersions, type ReferencedVersionMissing } from "./referenced-versions";

const db = testDatabase();

/** Pins as an older build wrote them: the guards keep them from changing afterwards. */
async function pin(table: string, pins: string, hostId: string): Promise<void> {
  await db.pool.query(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
  const { rowCount } = await db.pool.query(`UPDATE ${table} SET ${pins} WHERE host_id = $1`, [hostId]);
  await db.pool.query(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
  expect(rowCount).toBe(1);
}
const KNOWN = "event_type = 'ThingCreatedEvent', event_schema_version = '1'";

/** What start-up misses, of this one test's own: each stored kind of row is asked alone. */
const missing = () =>
  assertReferencedVersions(db.pool, testRegistries).then(
    () => [],
    (error: ReferencedVersionMissing) => error.missing,
  );

test("ER-APP-24 a stored event alone keeps its registry version and its repair schema in the build", async () => {
  const hostId = newId();
  await append(deps(db.pool), [cloudEvent({ host: hostId })]);
  expect(await missing()).toEqual([]);
  const gone = { registryVersion: "gone-event", eventType: "ThingCreatedEvent", schemaVersion: "1" };
  await pin("event_store_t", "policy_registry_version = 'gone-event'", hostId);
  expect(await missing()).toEqual([{ kind: "EVENT_TYPE", ...gone }]);
  const repairSchemaVersion = "gone-repair-v1";
  await pin(
    "event_store_t",
    `policy_registry_version = 'event-replay-policy-v2', repair_schema_version = '${repairSchemaVersion}'`,
    hostId,
  );
  expect(await missing()).toEqual([
    { kind: "REPAIR_SCHEMA", registryVersion: "event-replay-policy-v2", repairSchemaVersion },
  ]);
  await pin("event_store_t", "repair_schema_version = NULL", hostId);
});

test("ER-APP-24 ER-APP-23 a member of an OPEN failure keeps its version in the build, one of a resolved failure doesn't", async () => {
  const hostId = newId();
  const failureId = await insertFailure(db.pool, hostId);
  await pin("event_failure_event_t", `${KNOWN}, policy_registry_version = 'gone-failure'`, hostId);
  expect(await missing()).toEqual([
    { kind: "EVENT_TYPE", registryVersion: "gone-failure", eventType: "ThingCreatedEvent", schemaVersion: "1" },
  ]);
  await pin(
    "event_failure_event_t",
    "policy_registry_version = 'event-replay-policy-v2', repair_schema_version = 'gone-member-v1'",
    hostId,
  );
  expect(await missing()).toEqual([
    { kind: "REPAIR_SCHEMA", registryVersion: "event-replay-policy-v2", repairSchemaVersion: "gone-member-v1" },
  ]);
  await resolveFailure(db.pool, hostId, failureId);
  expect(await missing()).toEqual([]);
});

test("ER-APP-24 a repair keeps its registry version and its repair schema in the build", async () => {
  const hostId = newId();
  const failureId = await insertFailure(db.pool, hostId);
  await pin("event_failure_event_t", KNOWN, hostId);
  await insertRepair(db.pool, hostId, failureId);
  const known = "repair_schema_version = 'thing-renamed-repair-v1'";
  expect(await missing()).toEqual([
    { kind: "REPAIR_SCHEMA", registryVersion: "event-replay-policy-v2", repairSchemaVersion: "user-updated-repair-v1" },
  ]);
  await pin("event_repair_t", known, hostId);
  expect(await missing()).toEqual([]);
  await pin("event_repair_t", "policy_registry_version = 'gone-repair'", hostId);
  expect(await missing()).toContainEqual({ kind: "REGISTRY", registryVersion: "gone-repair" });
  await pin("event_repair_t", "policy_registry_version = 'event-replay-policy-v2'", hostId);
});

test("ER-APP-24 ER-APP-23 a plan keeps the registry version and the repair schema it was made under in the build", async () => {
  const hostId = newId();
  const failureId = await insertFailure(db.pool, hostId);
  await pin("event_failure_event_t", KNOWN, hostId);
  await insertRequest(db.pool, hostId, { failures: [failureId] });
  expect(await missing()).toEqual([]);
  await pin("event_replay_request_t", "policy_registry_version = 'gone-plan'", hostId);
  expect(await missing()).toEqual([{ kind: "REGISTRY", registryVersion: "gone-plan" }]);
  await pin(
    "event_replay_request_t",
    "policy_registry_version = 'event-replay-policy-v2', repair_schema_version = 'gone-plan-v1'",
    hostId,
  );
  expect(await missing()).toEqual([
    { kind: "REPAIR_SCHEMA", registryVersion: "event-replay-policy-v2", repairSchemaVersion: "gone-plan-v1" },
  ]);
});
