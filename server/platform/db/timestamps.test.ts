import fc from "fast-check";
import { expect, test } from "vitest";
import { toIso, toIsoOrNull } from "./timestamps";

test("a timestamptz keeps its microseconds and becomes UTC whatever zone the session shows", () => {
  expect(toIso("2026-01-02 03:04:05.123456+00")).toBe("2026-01-02T03:04:05.123456Z");
  expect(toIso("2026-01-01 00:30:00+05:30")).toBe("2025-12-31T19:00:00.000000Z");
  expect(toIso("2025-12-31 22:00:00.5-03")).toBe("2026-01-01T01:00:00.500000Z");
});

test("whole offsets agree with JavaScript's own arithmetic", () => {
  const instant = fc.date({
    min: new Date("1000-01-01T00:00:00Z"),
    max: new Date("9999-12-30T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instant, fc.integer({ min: -14, max: 14 }), (date, hours) => {
      const local = new Date(date.getTime() + hours * 3_600_000).toISOString();
      const text = `${local.slice(0, 10)} ${local.slice(11, -1)}${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}`;
      expect(toIso(text)).toBe(`${date.toISOString().slice(0, -1)}000Z`);
    }),
  );
});

test("every moment a timestamptz holds has an answer: years 1 to 99 as they are, those outside 1 to 9999 by the nearest end", () => {
  expect(toIso("0001-01-01 00:00:00+00")).toBe("0001-01-01T00:00:00.000000Z");
  expect(toIso("0050-06-01 02:00:00.5+02:30")).toBe("0050-05-31T23:30:00.500000Z");
  expect(toIso("0099-12-31 23:59:59.999999-01")).toBe("0100-01-01T00:59:59.999999Z");
  for (const text of [
    "-infinity",
    "0044-03-15 00:00:00+00 BC",
    "4713-01-01 00:00:00+00 BC",
    "0001-01-01 00:00:00+15",
  ]) {
    expect(toIso(text)).toBe("0001-01-01T00:00:00.000000Z");
    expect(toIsoOrNull(text)).toBeNull();
  }
  for (const text of ["infinity", "10000-01-01 00:00:00+00", "294276-12-31 23:59:59+00", "9999-12-31 23:59:59-01"]) {
    expect(toIso(text)).toBe("9999-12-31T23:59:59.999999Z");
    expect(toIsoOrNull(text)).toBeNull();
  }
  expect(toIsoOrNull(null)).toBeNull();
});

test("a text that is no timestamptz is a defect and throws without showing it", () => {
  for (const text of ["", "2026-01-02", "01/02/2026 00:00:00 UTC", "canary"]) {
    expect(() => toIso(text)).toThrow("not a timestamptz text");
  }
});
