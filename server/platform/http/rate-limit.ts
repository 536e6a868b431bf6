import { AppError } from "@/server/platform/errors";

/** What a caller does, as far as its pace matters. `anonymous` and `signIn` have no actor yet. */
export const RATE_CLASSES = [
  "query",
  "command",
  "append",
  "execute",
  "process",
  "export",
  "anonymous",
  "signIn",
  "signInName",
] as const;
export type RateClass = (typeof RATE_CLASSES)[number];

/** A bucket that holds `burst` calls and refills by `perSecond`. */
export type RateLimit = { readonly perSecond: number; readonly burst: number };
export type RateLimits = Readonly<Record<RateClass, RateLimit>>;

/**
 * Far above what a person or a well-behaved client does, far below what one caller could use to take the replica from the
 * others. `process` stands above `execute`, whose calls it carries on. A deployment changes them in the endpoint rules file.
 */
export const DEFAULT_LIMITS: RateLimits = {
  query: { perSecond: 200, burst: 1_000 },
  command: { perSecond: 200, burst: 1_000 },
  append: { perSecond: 500, burst: 2_000 },
  execute: { perSecond: 5, burst: 50 },
  process: { perSecond: 50, burst: 500 },
  export: { perSecond: 0.1, burst: 10 },
  anonymous: { perSecond: 20, burst: 200 },
  signIn: { perSecond: 5, burst: 100 },
  signInName: { perSecond: 0.2, burst: 10 },
};

/** Buckets kept per class; the one not used for longest goes first, and an idle one is full anyway. */
const MAX_BUCKETS = 20_000;

/** RATE_LIMITED and after how many whole seconds the same call would pass. */
export class RateLimited extends AppError {
  constructor(readonly retryAfterSeconds: number) {
    super("RATE_LIMITED");
  }
}

/**
 * Token buckets in this process: a limit is per replica, and one replica more is one bucket more. Nothing durable hangs on it.
 * `limits` is asked on each call, so that a changed file counts at once.
 */
export class RateLimiter {
  private readonly buckets = new Map<RateClass, Map<string, { tokens: number; atMs: number }>>();

  constructor(
    private readonly limits: () => RateLimits,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Takes one call of `key`, or throws RateLimited and takes nothing. */
  take(rateClass: RateClass, key: string): void {
    this.draw(rateClass, key, 1);
  }

  /** Throws as `take` would, but takes nothing: for what only counts once it has gone wrong. */
  check(rateClass: RateClass, key: string): void {
    this.draw(rateClass, key, 0);
  }

  private draw(rateClass: RateClass, key: string, calls: 0 | 1): void {
    const { perSecond, burst } = this.limits()[rateClass];
    const now = this.nowMs();
    const known = this.bucketsOf(rateClass);
    const bucket = known.get(key) ?? { tokens: burst, atMs: now };
    const tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.atMs) / 1000) * perSecond);
    const passes = tokens >= 1;
    known.delete(key);
    known.set(key, { tokens: passes ? tokens - calls : tokens, atMs: now });
    if (known.size > MAX_BUCKETS) known.delete(known.keys().next().value as string);
    if (!passes) throw new RateLimited(Math.max(1, Math.ceil((1 - tokens) / perSecond)));
  }

  private bucketsOf(rateClass: RateClass): Map<string, { tokens: number; atMs: number }> {
    const known = this.buckets.get(rateClass) ?? new Map<string, { tokens: number; atMs: number }>();
    this.buckets.set(rateClass, known);
    return known;
  }
}

/**
 * Whom to count a call without identity for: the last hop that a front end wrote, or the peer as the framework saw it. A caller
 * without a front end can invent it; what must not be guessed is limited by name as well.
 */
export function callerAddress(request: Request): string {
  const hops = request.headers.get("x-forwarded-for")?.split(",") ?? [];
  return (hops.at(-1)?.trim() || "unknown").slice(0, 64);
}
