import type {
  CheckSelectionRequest,
  CheckSelectionResponse,
  ListCandidateIdsRequest,
  ListCandidateIdsResponse,
} from "@/server/contracts/failures";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { causeKeyOf } from "./domain/cause-catalog";
import { maySelectionBePlanned } from "./domain/permissions";
import { loadPlanHolds } from "./plan-hold-repository";
import { checkSelection, loadIds, loadNow } from "./repository";
import { loadRollup, resolveFilter } from "./resolve-filter";

/** "Select all matching": the ids that match now, and never what matches later. truncated: more matched than limit. */
export async function listEventReplayCandidateIds(
  ctx: ReplayContext,
  request: ListCandidateIdsRequest,
): Promise<ListCandidateIdsResponse> {
  const { hostId } = ctx;
  return await inTransaction(
    ctx.pool,
    "listEventReplayCandidateIds",
    async (tx) => {
      const asOf = request.asOf ?? (await loadNow(tx));
      const resolved = await resolveFilter(tx, hostId, request, await loadRollup(tx, hostId, request.status));
      const ids = await loadIds(tx, hostId, resolved, {
        sort: request.sort === "firstFailed" ? "first_failed_ts" : "last_failed_ts",
        limit: request.limit + 1,
        notAfter: asOf,
      });
      const failureIds = ids.slice(0, request.limit);
      return {
        asOf: request.asOf ?? toIso(asOf),
        count: failureIds.length,
        truncated: ids.length > request.limit,
        failureIds,
      };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}

/** How a frozen selection stands now. Ids of another host count as not open, exactly like ids that never were. */
export async function checkEventReplaySelection(
  ctx: ReplayContext,
  request: CheckSelectionRequest,
): Promise<CheckSelectionResponse> {
  const ids = [...new Set(request.failureIds)];
  return await inTransaction(
    ctx.pool,
    "checkEventReplaySelection",
    async (tx) => {
      const open = await checkSelection(tx, ctx.hostId, ids);
      const found = new Set(open.map((row) => row.failureId));
      const gone = ids.filter((id) => !found.has(id));
      const byCause = new Map<string, number>();
      for (const row of open) byCause.set(causeKeyOf(row), (byCause.get(causeKeyOf(row)) ?? 0) + 1);
      const projections = new Map<string, CheckSelectionResponse["projections"][number]>();
      for (const { projectionName, consumerGroup } of open) {
        const key = `${projectionName} ${consumerGroup}`;
        const seen = projections.get(key)?.count ?? 0;
        projections.set(key, { projectionName, consumerGroup, count: seen + 1 });
      }
      return {
        asOf: toIso(await loadNow(tx)),
        open: open.length,
        notOpen: gone.length,
        notOpenIds: gone.slice(0, 500),
        plans: (await loadPlanHolds(tx, ctx.hostId, [...found], ctx.projection.registries.current.version)).map(
          ({ replayRequestId, failureIds }) => ({ replayRequestId, failureIds: [...failureIds] }),
        ),
        notExecutable: open.filter((row) => !row.executable).length,
        byCause: [...byCause]
          .map(([causeKey, count]) => ({ causeKey, count }))
          .sort((a, b) => b.count - a.count || (a.causeKey < b.causeKey ? -1 : 1))
          .slice(0, 100),
        projections: [...projections.values()].sort((a, b) => b.count - a.count).slice(0, 100),
        permissions: { plan: { ...maySelectionBePlanned(ctx.may("createEventReplayPlan")) } },
      };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}
