import { type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { ScopeExpectation } from "./expectations";

/** Why a plan no longer fits, in our words; ids and keys only. */
export type StaleReason =
  | "FAILURE_NOT_OPEN"
  | "FAILURE_CHANGED"
  | "DIGEST_CHANGED"
  | "REPAIR_UNDER_WAY"
  | "REGISTRY_CHANGED"
  | "SCOPE_MOVED";

/** What an item is checked by. */
export type CheckedItem = {
  readonly failureStatus: "OPEN" | "RESOLVED" | "WAIVED";
  readonly expectedFingerprint: string;
  readonly storedFingerprint: string;
  readonly computedFingerprint: string;
  readonly repairId: string | null;
  readonly repairUnderWay: boolean;
};

/** Everything of an item that was true at planning and has to be true now, but for its scopes (ER-PLN-14). */
export function staleItem(item: CheckedItem): StaleReason | null {
  if (item.failureStatus !== "OPEN") return "FAILURE_NOT_OPEN";
  if (item.storedFingerprint !== item.expectedFingerprint) return "FAILURE_CHANGED";
  if (item.computedFingerprint !== item.expectedFingerprint) return "DIGEST_CHANGED";
  if (item.repairId === null && item.repairUnderWay) return "REPAIR_UNDER_WAY";
  return null;
}

/** The first scope that doesn't stand where the item must find it. Versions beyond these scopes never make a plan stale. */
export function movedScope(
  expected: readonly ScopeExpectation[],
  projected: ReadonlyMap<string, number | null>,
): Scope | null {
  return expected.find((scope) => (projected.get(scopeId(scope)) ?? null) !== scope.before) ?? null;
}
