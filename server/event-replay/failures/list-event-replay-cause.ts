import type { ListCauseRequest, ListCauseResponse } from "@/server/contracts/failures";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { loadCauseGroups } from "./cause-groups";
import { causeDescriber } from "./describe-failure";
import { sumRollup } from "./domain/selection";
import { loadNow } from "./repository";
import { loadRollup, resolveFilter } from "./resolve-filter";

/** How many different problems there are: matching failures by cause. Its rows come from listEventReplayCandidate by causeKey. */
export async function listEventReplayCause(ctx: ReplayContext, request: ListCauseRequest): Promise<ListCauseResponse> {
  return await inTransaction(
    ctx.pool,
    "listEventReplayCause",
    async (tx) => {
      const rollup = await loadRollup(tx, ctx.hostId, request.status);
      const resolved = await resolveFilter(tx, ctx.hostId, request, rollup);
      const { total, totalCapped, causeCount, groups } = await loadCauseGroups(
        tx,
        ctx.hostId,
        resolved,
        causeDescriber(ctx.projection),
        request.limit,
      );
      const open = request.status === "OPEN" ? rollup : await loadRollup(tx, ctx.hostId, "OPEN");
      return { asOf: toIso(await loadNow(tx)), total, totalCapped, openTotal: sumRollup(open), causeCount, groups };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}
