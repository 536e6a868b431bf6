import { PLAN_LIMITS } from "@/server/contracts/plan-limits";

export type LimitRule = "TOO_MANY_TRANSACTIONS" | "TOO_MANY_EVENTS" | "TOO_MANY_BYTES";

/** Which bound of one plan these transactions break together, if any (ER-PLN-16). What the closure adds counts. */
export function exceededLimit(
  transactions: readonly { readonly eventCount: number; readonly payloadBytes: number }[],
): LimitRule | null {
  if (transactions.length > PLAN_LIMITS.transactions) return "TOO_MANY_TRANSACTIONS";
  let events = 0;
  let bytes = 0;
  for (const { eventCount, payloadBytes } of transactions) {
    events += eventCount;
    bytes += payloadBytes;
  }
  if (events > PLAN_LIMITS.events) return "TOO_MANY_EVENTS";
  return bytes > PLAN_LIMITS.bytes ? "TOO_MANY_BYTES" : null;
}
