import { expect, test } from "vitest";
import { PLAN_LIMITS } from "@/server/contracts/plan-limits";
import { exceededLimit } from "./limits";

const many = (n: number, eventCount: number, payloadBytes: number) =>
  Array.from({ length: n }, () => ({ eventCount, payloadBytes }));

test("ER-PLN-16 one plan holds at most 500 transactions, 5,000 events and 256 MiB, each exactly", () => {
  expect(PLAN_LIMITS).toEqual({ transactions: 500, events: 5_000, bytes: 268_435_456 });
  expect(exceededLimit(many(500, 10, 536_870))).toBeNull();
  expect(exceededLimit(many(501, 1, 1))).toBe("TOO_MANY_TRANSACTIONS");
  expect(exceededLimit([...many(500, 10, 1), { eventCount: 1, payloadBytes: 1 }].slice(1))).toBeNull();
  expect(exceededLimit([...many(499, 10, 1), { eventCount: 11, payloadBytes: 1 }])).toBe("TOO_MANY_EVENTS");
  expect(exceededLimit([{ eventCount: 1, payloadBytes: PLAN_LIMITS.bytes }])).toBeNull();
  expect(exceededLimit([{ eventCount: 1, payloadBytes: PLAN_LIMITS.bytes + 1 }])).toBe("TOO_MANY_BYTES");
});
