import fc from "fast-check";
import { expect, test } from "vitest";
import { toIso } from "./timestamps";

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

test("any other text is a defect and throws without showing it", () => {
  for (const text of ["infinity", "2026-01-02", "0044-03-15 00:00:00+00 BC", "canary"]) {
    expect(() => toIso(text)).toThrow("not a timestamptz text");
  }
});
