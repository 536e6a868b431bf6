import { expect, test } from "vitest";
import type { NotificationItem } from "@/server/contracts/notifications";
import { repeatedPatterns } from "./patterns";

const row = (eventClass: string, error: string, processTs = "2026-11-30T21:00:00.000000Z") =>
  ({ eventClass, error, processTs, aggregateType: "Thing", errorSentence: null }) as unknown as NotificationItem;

test("what failed once is no pattern; the most frequent five come first", () => {
  const rows = "abcdefg".split("").flatMap((name, i) => Array.from({ length: i + 1 }, () => row(name, "E")));
  expect(repeatedPatterns(rows).map((p) => [p.eventClass, p.count])).toEqual([
    ["g", 7],
    ["f", 6],
    ["e", 5],
    ["d", 4],
    ["c", 3],
  ]);
});

test("the same event type with another error is another pattern", () => {
  const rows = [row("a", "E1"), row("a", "E1"), row("a", "E2"), row("a", "E2")];
  expect(repeatedPatterns(rows)).toHaveLength(2);
});
