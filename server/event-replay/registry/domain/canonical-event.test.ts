import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256Hex } from "@/server/platform/digest";
import { ENTRIES, envelopeOf, eventAttributes, RENAMED, registryOf } from "../registry-fixture";
import { canonicalEvent, contradictingPins, pinsOf } from "./canonical-event";
import { readEvent } from "./read-event";

const REGISTRY = registryOf();
const OPENED = pinsOf(REGISTRY, ENTRIES[0]!, false);

function decoded(attributes: Readonly<Record<string, unknown>>, pins = OPENED): Record<string, unknown> {
  return JSON.parse(canonicalEvent(envelopeOf(attributes), pins).bytes.toString("utf8"));
}

test("ER-APP-20 an append pins schema, registry and repair schema into the event, and versions as numbers", () => {
  const attributes = eventAttributes({ aggregateversion: "12", extra: { b: 1, a: [1, "x"] } });
  expect(decoded(attributes)).toEqual({
    ...JSON.parse(JSON.stringify(attributes)),
    aggregateversion: 12,
    eventschema: "1",
    replaypolicy: "event-replay-policy-v2",
  });
  const renamed = eventAttributes({ type: "AccountRenamedEvent", versionbaseline: false });
  const stamped = decoded(renamed, pinsOf(REGISTRY, RENAMED, false));
  expect(stamped).toMatchObject({ repairschema: "account-renamed-repair-v1", eventschema: "1" });
  expect(stamped).not.toHaveProperty("versionbaseline");
  expect(decoded(eventAttributes(), pinsOf(REGISTRY, ENTRIES[0]!, true))).toHaveProperty("versionbaseline", true);
});

test("ER-APP-20 a caller's pin that isn't the registry's is refused by name, one that is changes nothing", () => {
  const claims = (overrides: Record<string, unknown>) =>
    contradictingPins(envelopeOf(eventAttributes(overrides)), OPENED);
  expect(claims({ replaypolicy: "event-replay-policy-v1" })).toEqual([
    { field: "/replaypolicy", rule: "PIN_CONTRADICTS_REGISTRY" },
  ]);
  expect(claims({ repairschema: "account-renamed-repair-v1" })).toEqual([
    { field: "/repairschema", rule: "PIN_CONTRADICTS_REGISTRY" },
  ]);
  expect(claims({ eventschema: "2" })).toEqual([{ field: "/eventschema", rule: "PIN_CONTRADICTS_REGISTRY" }]);
  expect(() => canonicalEvent(envelopeOf(eventAttributes({ eventschema: "2" })), OPENED)).toThrow();
  const same = eventAttributes({ replaypolicy: "event-replay-policy-v2", eventschema: "1" });
  expect(decoded(same)).toEqual(decoded(eventAttributes()));
});

test("ER-PAY-15 the bytes of an event don't depend on member order and survive reading and encoding again", () => {
  const names = Object.keys(eventAttributes({ extra: { z: 1.5, a: "é" } }));
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
      const attributes = eventAttributes({ extra: { z: 1.5, a: "é" } });
      const shuffled = Object.fromEntries(order.map((name) => [name, attributes[name]]));
      const { bytes, digest } = canonicalEvent(envelopeOf(attributes), OPENED);
      expect(canonicalEvent(envelopeOf(shuffled), OPENED).digest).toBe(digest);
      expect(digest).toBe(sha256Hex(bytes));
      const again = readEvent(bytes);
      expect(again.ok && canonicalEvent(again.envelope, OPENED).bytes.equals(bytes)).toBe(true);
    }),
  );
});

test("ER-PAY-15 number lexemes of the data reach the stored bytes as received", () => {
  const text = JSON.stringify(eventAttributes()).replace(
    '"accountId":"a-1"',
    '"accountId":"a-1","n":[1.0,12345678901234567890,1E5]',
  );
  const reading = readEvent(text);
  expect(reading.ok && canonicalEvent(reading.envelope, OPENED).bytes.toString("utf8")).toContain(
    '"n":[1.0,12345678901234567890,1E5]',
  );
});
