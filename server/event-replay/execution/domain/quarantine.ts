import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";

export type UndoneItem = {
  readonly status: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED";
  readonly failureId: string;
  readonly failureStatus: "OPEN" | "RESOLVED" | "WAIVED";
  readonly runs: readonly ScopeRun[];
};

/**
 * Which failure owns the quarantine of which scope when a plan ends early: every scope that an item not done would have
 * written, by the first such item in plan order whose failure is OPEN. Keys are scope ids. Scopes that aren't here are done, or
 * nobody's failure holds them any more: they drain and release.
 */
export function ownersOfUndone(items: readonly UndoneItem[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const item of items) {
    if (item.status === "SUCCEEDED" || item.failureStatus !== "OPEN") continue;
    for (const run of item.runs) if (!owners.has(scopeId(run))) owners.set(scopeId(run), item.failureId);
  }
  return owners;
}
