import { expect, test } from "vitest";
import { bytes, count, duration, exactTime, isTimeZone, many, shortDigest, shortId } from "./format";

test("an id keeps its first eight and last four, a composite key stays readable", () => {
  expect(shortId("01a22cbd-1170-76db-9af9-3ad1fc37e98e")).toBe("01a22cbd…e98e");
  expect(shortId("0197b2c4-1f0a-7d3e-9b11-5a0c9e7d2f64|01965b85-6187-7ba5-a03f-69c8ba2e88d7")).toBe(
    "0197b2c4…2f64|…88d7",
  );
  expect(shortId("branch-manager|01a22b56-fd78-7675-a2b4-99af9f1e74ff")).toBe("branch-manager|…74ff");
  expect(shortId("en-CA")).toBe("en-CA");
});

test("a digest keeps its algorithm", () => {
  expect(shortDigest(`sha256:${"ab".repeat(32)}`)).toBe("sha256:abababab…abab");
});

test("numbers, sizes and lengths of time read the same everywhere", () => {
  expect(count(1204)).toBe("1,204");
  expect(many(1, "failure")).toBe("1 failure");
  expect(bytes(726)).toBe("726 bytes");
  expect(bytes(20 * 2 ** 30)).toBe("20 GiB");
  expect(duration(-5)).toBe("0 s");
  expect(duration(38_900)).toBe("38 s");
  expect(duration(3 * 3_600_000 + 12 * 60_000)).toBe("3 h 12 min");
  expect(duration(30 * 3_600_000)).toBe("1 d 6 h");
});

test("a time of another day names the day, in the zone that was chosen", () => {
  const now = Date.parse("2026-12-01T03:00:00Z");
  const at = Date.parse("2026-12-01T01:44:05Z");
  expect(exactTime(at, now, "UTC")).toBe("01:44:05");
  expect(exactTime(at, now, "America/Toronto")).toBe("20:44:05");
  expect(exactTime(Date.parse("2026-11-30T13:44:05Z"), now, "UTC")).toBe("30 Nov 13:44");
});

test("a zone that the runtime does not know is refused", () => {
  expect(isTimeZone("America/Toronto")).toBe(true);
  expect(isTimeZone("<script>")).toBe(false);
});
