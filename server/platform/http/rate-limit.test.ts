import { expect, test } from "vitest";
import { DEFAULT_LIMITS, RateLimited, RateLimiter } from "./rate-limit";

function limiter(perSecond: number, burst: number) {
  const clock = { ms: 0 };
  const limits = { ...DEFAULT_LIMITS, query: { perSecond, burst } };
  return {
    clock,
    limiter: new RateLimiter(
      () => limits,
      () => clock.ms,
    ),
  };
}

const passes = (l: RateLimiter, key: string) => {
  try {
    l.take("query", key);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RateLimited);
    return false;
  }
};

test("ER-API-22 a caller passes as often as the burst says and then by the refill, others are not touched", () => {
  const { clock, limiter: l } = limiter(2, 3);
  expect(Array.from({ length: 5 }, () => passes(l, "a"))).toEqual([true, true, true, false, false]);
  expect(passes(l, "b")).toBe(true);
  clock.ms += 500;
  expect([passes(l, "a"), passes(l, "a")]).toEqual([true, false]);
  clock.ms += 3_600_000;
  expect(Array.from({ length: 4 }, () => passes(l, "a"))).toEqual([true, true, true, false]);
});

test("ER-API-22 a refused call says after how many seconds the same call passes", () => {
  const { clock, limiter: l } = limiter(0.1, 1);
  l.take("query", "a");
  let wait = 0;
  try {
    l.take("query", "a");
  } catch (error) {
    wait = (error as RateLimited).retryAfterSeconds;
  }
  expect(wait).toBe(10);
  clock.ms += wait * 1000;
  expect(passes(l, "a")).toBe(true);
});

test("ER-API-22 callers without number don't grow memory, nor free one that is limited and keeps calling", () => {
  const { limiter: l } = limiter(1, 1);
  l.take("query", "busy");
  for (let n = 0; n < 60_000; n++) {
    l.take("query", `k${n}`);
    if (n % 1000 === 0) expect(passes(l, "busy")).toBe(false);
  }
});
