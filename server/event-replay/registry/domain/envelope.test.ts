import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeCanonical } from "@/server/platform/json/canonical-json";
import { parseExactJson } from "@/server/platform/json/exact-json";
import { envelopeOf, eventAttributes, noteAttributes, ROOT, refusalsOf } from "../registry-fixture";
import { isInstant } from "./envelope-fields";
import { readEvent } from "./read-event";

test("ER-APP-10 every required attribute is missed by name, absent or null", () => {
  for (const name of ["specversion", "id", "type", "source", "time", "host"]) {
    expect(refusalsOf(eventAttributes({ [name]: undefined }))).toEqual([`/${name} REQUIRED`]);
    expect(refusalsOf(eventAttributes({ [name]: null }))).toEqual([`/${name} REQUIRED`]);
  }
  expect(refusalsOf(eventAttributes({ data: undefined }))).toEqual(["/data REQUIRED"]);
  expect(refusalsOf({})).toHaveLength(7);
});

test("ER-APP-10 malformed attributes are all listed, each by name", () => {
  const refusals = refusalsOf(
    eventAttributes({
      specversion: "0.3",
      id: "01964B05-552A-7C4B-9184-6857E7F3DC5F",
      type: "  ",
      source: "s".repeat(2_049),
      time: "yesterday",
      host: "{01964b05-552a-7c4b-9184-6857e7f3dc5f}",
      user: "alice",
      nonce: 1.5,
      datacontenttype: "application/xml",
      data_base64: "AA==",
      eventschema: "v".repeat(65),
      versionbaseline: "true",
      sensitivepayload: 1,
    }),
  );
  expect(refusals.sort()).toEqual([
    "/data_base64 BINARY_DATA_UNSUPPORTED",
    "/datacontenttype CONTENT_TYPE_NOT_JSON",
    "/eventschema TOO_LONG",
    "/host NOT_A_CANONICAL_UUID",
    "/id NOT_A_CANONICAL_UUID",
    "/nonce NOT_AN_INTEGER",
    "/sensitivepayload NOT_A_BOOLEAN",
    "/source TOO_LONG",
    "/specversion SPEC_VERSION_UNSUPPORTED",
    "/time NOT_AN_INSTANT",
    "/type BLANK",
    "/user NOT_A_CANONICAL_UUID",
    "/versionbaseline NOT_A_BOOLEAN",
  ]);
  expect(refusalsOf(eventAttributes({ type: "Account\u0007Event" }))).toEqual(["/type CONTROL_CHARACTER"]);
  expect(readEvent("[1]")).toEqual({ ok: false, errors: [{ field: "", rule: "EVENT_NOT_AN_OBJECT" }] });
});

test("ER-APP-10 text that isn't parseable JSON is refused with its place and no part of it", () => {
  expect(readEvent('{"data":{"a":1,"a":2}}', 3)).toEqual({
    ok: false,
    errors: [{ field: "/data/a", rule: "DUPLICATE_MEMBER", member: 3 }],
  });
  expect(readEvent('{"data": secret}')).toEqual({ ok: false, errors: [{ field: "/data", rule: "SYNTAX" }] });
});

test("ER-APP-10 a time is a real instant, kept as received with its nanoseconds and offset", () => {
  const real = [
    "2026-01-12T18:55:53.140688426Z",
    "2026-01-12T18:55:53.1-05:00",
    "2024-02-29T00:00:00+14:00",
    "0001-01-01t00:00:00z",
  ];
  for (const time of real) expect(envelopeOf(eventAttributes({ time })).time).toBe(time);
  for (const time of [
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "0000-01-01T00:00:00Z",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00Z",
    "2026-01-01T00:00Z",
    "2026-01-01T00:00:00.1234567890Z",
    "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00+16:00",
    "2026-01-01T00:00:00+05:60",
    "2026-01-01T00:00:00Z\n",
    " 2026-01-01T00:00:00Z",
  ]) {
    expect(isInstant(time), time).toBe(false);
  }
});

test("ER-APP-10 a moment is refused when its UTC year leaves 1 to 9999, by its offset or by rounding to microseconds", () => {
  for (const time of [
    "0001-01-01T00:00:00+15:00",
    "0001-01-01T00:59:59.999999999+01:00",
    "9999-12-31T23:59:59-00:01",
    "9999-12-31T23:59:59.9999995Z",
  ]) {
    expect(isInstant(time), time).toBe(false);
  }
  for (const time of [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00-15:59",
    "0001-01-01T15:00:00+15:00",
    "0050-06-01T00:00:00+05:30",
    "9999-12-31T23:59:59.9999994Z",
    "9999-12-31T23:59:59+15:59",
  ]) {
    expect(isInstant(time), time).toBe(true);
  }
});

test("ER-APP-10 any date of the calendar is an instant and no other is", () => {
  const part = (min: number, max: number) => fc.integer({ min, max });
  fc.assert(
    fc.property(part(1, 9999), part(0, 13), part(0, 32), (year, month, day) => {
      const pad = (value: number, length: number) => String(value).padStart(length, "0");
      const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
      const parsed = new Date(`${date}T00:00:00Z`);
      const real = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
      expect(isInstant(`${date}T00:00:00Z`)).toBe(real);
    }),
    { numRuns: 2_000 },
  );
});

test("ER-APP-11 a version means the same as number or string and anything ambiguous is refused by name", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (version) => {
      expect(envelopeOf(eventAttributes({ aggregateversion: version })).aggregateVersion).toBe(version);
      expect(envelopeOf(eventAttributes({ aggregateversion: String(version) })).aggregateVersion).toBe(version);
    }),
  );
  for (const version of ["1.0", "01", " 1", "1 ", "+1", "1e3", "", "one", "١", true, {}, 1.5]) {
    expect(refusalsOf(eventAttributes({ aggregateversion: version }))).toEqual([
      "/aggregateversion NOT_A_PLAIN_INTEGER",
    ]);
  }
  for (const version of [0, -1, "0", "-3"]) {
    expect(refusalsOf(eventAttributes({ aggregateversion: version }))).toEqual(["/aggregateversion NOT_POSITIVE"]);
  }
  expect(refusalsOf(eventAttributes({ aggregateversion: "9007199254740992" }))).toEqual([
    "/aggregateversion TOO_LARGE",
  ]);
  const lexeme = JSON.stringify(eventAttributes()).replace('"aggregateversion":1', '"aggregateversion":1.0');
  expect(readEvent(lexeme)).toEqual({
    ok: false,
    errors: [{ field: "/aggregateversion", rule: "NOT_A_PLAIN_INTEGER" }],
  });
});

test("ER-APP-12 a graph revision is positive and its root a canonical UUID", () => {
  const graph = { rootinstanceid: ROOT, instancegraphrevision: "4" };
  expect(envelopeOf(noteAttributes(graph))).toMatchObject({ rootInstanceId: ROOT, graphRevision: 4 });
  expect(refusalsOf(noteAttributes({ ...graph, instancegraphrevision: 0 }))).toEqual([
    "/instancegraphrevision NOT_POSITIVE",
  ]);
  expect(refusalsOf(noteAttributes({ ...graph, rootinstanceid: "root" }))).toEqual([
    "/rootinstanceid NOT_A_CANONICAL_UUID",
  ]);
});

test("ER-APP-14 the subject is the aggregate id and a disagreeing extension is contradictory", () => {
  expect(envelopeOf(eventAttributes()).aggregateId).toBe("a-1");
  expect(envelopeOf(eventAttributes({ aggregateid: "a-1" })).aggregateId).toBe("a-1");
  for (const name of ["aggregateid", "aggregateId"]) {
    expect(refusalsOf(eventAttributes({ [name]: "a-2" }))).toEqual([`/${name} AGGREGATE_ID_CONTRADICTS_SUBJECT`]);
    expect(refusalsOf(eventAttributes({ [name]: "a-1", subject: undefined }))).toEqual([
      `/${name} AGGREGATE_ID_CONTRADICTS_SUBJECT`,
    ]);
  }
  const bare = envelopeOf(noteAttributes({ subject: "topic" }));
  expect(bare).toMatchObject({ subject: "topic", aggregateId: null });
});

test("ER-CAP-28 the aggregate id of an envelope is exactly the subject, and a type with a colon is refused", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), (subject) => {
      const reading = readEvent(JSON.stringify(eventAttributes({ subject })));
      if (reading.ok) expect(reading.envelope.aggregateId).toBe(subject);
    }),
  );
  expect(refusalsOf(eventAttributes({ aggregatetype: "User:Old" }))).toEqual([
    "/aggregatetype COLON_IN_AGGREGATE_TYPE",
  ]);
});

test("ER-APP-10 a nonce stays the number or string it was, and unknown extensions stay in the event", () => {
  expect(envelopeOf(eventAttributes({ nonce: "18446744073709551615" })).nonce).toBe("18446744073709551615");
  expect(envelopeOf(eventAttributes({ nonce: undefined })).nonce).toBeNull();
  const text = JSON.stringify(eventAttributes({ partnerref: "x" })).replace(
    '"nonce":7',
    '"nonce":18446744073709551615',
  );
  const reading = readEvent(text);
  expect(reading.ok && reading.envelope.nonce).toBe("18446744073709551615");
  const parsed = parseExactJson(text);
  expect(reading.ok && parsed.ok && encodeCanonical(reading.envelope.node).equals(encodeCanonical(parsed.value))).toBe(
    true,
  );
});
