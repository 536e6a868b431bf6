import type { ErrorCode } from "@/server/contracts/errors";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { Tx } from "@/server/platform/db/transaction";
import { expectationsOf, type ScopeExpectation } from "./domain/expectations";
import { movedScope, staleItem } from "./domain/staleness";
import type { ReplayItem } from "./item-repository";
import type { RequestRow } from "./request-repository";

/** The first thing that stands against a plan; `ordinal` is the item to blame. */
export type PlanObjection = {
  readonly ordinal: number;
  readonly failureId: string;
  readonly code: ErrorCode;
  readonly reason: string;
};

/**
 * Whether the plan still fits, over all items not done: each failure OPEN with the planned content and digests, no repair
 * under way, registry the planned one, no exclusion, and every scope where its next item must find it (ER-PLN-14). Read
 * without locks: the command asks before it commits the intent, the processor under its barriers, and every item again under
 * its own locks.
 */
export async function checkPlan(
  tx: Tx,
  definition: ProjectionDefinition,
  hostId: string,
  request: RequestRow,
  items: readonly ReplayItem[],
  excludedEventTypes: readonly string[],
): Promise<PlanObjection | null> {
  const first = items.find((item) => item.status !== "SUCCEEDED");
  if (!first) return null;
  const stale = ({ ordinal, failureId }: ReplayItem, reason: string): PlanObjection => ({
    ordinal,
    failureId,
    code: "STALE_PLAN",
    reason,
  });
  if (request.policy_registry_version !== definition.registries.current.version)
    return stale(first, "REGISTRY_CHANGED");
  const expectations = expectationsOf(
    items.map((item) => item.runs),
    request.plan_metadata.scopes,
  );
  if (expectations === null) return stale(first, "FAILURE_CHANGED");
  const projected = await readStandings(tx, hostId, request);
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    if (item.status === "SUCCEEDED") continue;
    // Original bytes never run in the place of a repair; nothing here materialises corrected ones.
    if (item.repairId !== null)
      return { ...stale(item, "The item is bound to a repair."), code: "INVALID_REPLAY_STATE" };
    const reason = staleItem(item);
    if (reason) return stale(item, reason);
    if (item.members.some((member) => excludedEventTypes.includes(member.eventType))) {
      return { ...stale(item, "The event type is excluded from replay."), code: "EVENT_NOT_REPLAYABLE" };
    }
    const next = (expectations[i] as readonly ScopeExpectation[]).filter((scope) => !seen.has(scopeId(scope)));
    if (movedScope(next, projected)) return stale(item, "SCOPE_MOVED");
    for (const scope of next) seen.add(scopeId(scope));
  }
  return null;
}

/** Where the plan's scopes stand now, read without a lock. Scopes that were never projected are absent. */
export async function readStandings(tx: Tx, hostId: string, request: RequestRow): Promise<Map<string, number>> {
  const { scopes } = request.plan_metadata;
  const rows = await tx.query<{ scope_type: "AGGREGATE" | "GRAPH_ROOT"; scope_key: string; projected_version: number }>(
    `SELECT s.scope_type, s.scope_key, s.projected_version
       FROM unnest($4::text[], $5::text[]) AS w(scope_type, scope_key)
       JOIN projection_scope_t s ON s.host_id = $1 AND s.projection_name = $2 AND s.consumer_group = $3
        AND s.scope_type = w.scope_type AND s.scope_key = w.scope_key`,
    [
      hostId,
      request.projection_name,
      request.consumer_group,
      scopes.map((scope) => scope.scopeType),
      scopes.map((scope) => scope.scopeKey),
    ],
    "read_plan_standings",
  );
  return new Map(rows.map((row) => [scopeId({ type: row.scope_type, key: row.scope_key }), row.projected_version]));
}
