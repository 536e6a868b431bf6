import { expect, test } from "vitest";
import type { PolicyRegistry } from "@/server/event-replay/registry/domain/policy";
import { buildRegistries, buildRegistry } from "@/server/event-replay/registry/domain/registry";
import { append, cloudEvent, deps, testRegistries, testRegistry } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { assertReferencedVersions, ReferencedVersionMissing } from "./referenced-versions";

const db = testDatabase();

function without(eventType: string): PolicyRegistry {
  const { version, entries, validators, repairSchemas } = testRegistry();
  const kept = new Map([...repairSchemas].filter(([, schema]) => schema.eventType !== eventType));
  return buildRegistry({
    version,
    entries: entries.filter((entry) => entry.eventType !== eventType),
    validators,
    repairSchemas: kept,
  });
}

test("ER-APP-24 start-up refuses a build from which a version is gone that a stored event is pinned to", async () => {
  const renamed = cloudEvent({ type: "ThingRenamedEvent", data: { name: "a" } });
  await append(deps(db.pool), [renamed]);
  await expect(assertReferencedVersions(db.pool, testRegistries)).resolves.toBeUndefined();
  const onlyNew = buildRegistries(testRegistry("event-replay-policy-v3"), []);
  await expect(assertReferencedVersions(db.pool, onlyNew)).rejects.toThrow(ReferencedVersionMissing);
  const typeGone = buildRegistries(without("ThingRenamedEvent"), []);
  const error = await assertReferencedVersions(db.pool, typeGone).catch((thrown) => thrown);
  expect(error.missing).toEqual([
    {
      kind: "EVENT_TYPE",
      registryVersion: "event-replay-policy-v2",
      eventType: "ThingRenamedEvent",
      schemaVersion: "1",
    },
    {
      kind: "REPAIR_SCHEMA",
      registryVersion: "event-replay-policy-v2",
      repairSchemaVersion: "thing-renamed-repair-v1",
    },
  ]);
});

test("ER-APP-25 adding a new version beside the old one is always allowed and changes no stored event", async () => {
  const stored = () =>
    db.pool.query("SELECT md5(string_agg(event_bytes::text, '' ORDER BY id)) AS all FROM outbox_message_t");
  const before = (await stored()).rows;
  const both = buildRegistries(testRegistry("event-replay-policy-v3"), [testRegistry()]);
  await expect(assertReferencedVersions(db.pool, both)).resolves.toBeUndefined();
  await append(deps(db.pool, both), [cloudEvent({ subject: "after-v3", data: { thingId: "after-v3" } })]);
  expect((await stored()).rows).not.toEqual(before);
  const { rows } = await db.pool.query(
    "SELECT md5(string_agg(event_bytes::text, '' ORDER BY id)) AS all FROM outbox_message_t WHERE policy_registry_version = 'event-replay-policy-v2'",
  );
  expect(rows).toEqual(before);
});
