import { type CauseGroup, COUNT_CAP } from "@/server/contracts/failures";
import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";
import { SAMPLE, sampleCause } from "./cause-repository";
import type { Describer } from "./describe-failure";
import { groupByCause, type RollupRow, rollupAnswers, sumRollup } from "./domain/selection";
import type { ResolvedFilter } from "./failure-query";
import { countByCause, countDiagnostic, storedCauseId } from "./repository";

export type CauseGroups = { total: number; totalCapped: boolean; causeCount: number; groups: CauseGroup[] };

/**
 * Matching failures by cause, most first, details of the first `limit`. Counts are exact from the rollup where it can answer;
 * else at most COUNT_CAP + 1 of the newest matching rows are grouped and totalCapped says so. Groups add up to total.
 */
export async function loadCauseGroups(
  tx: Tx,
  hostId: string,
  resolved: ResolvedFilter,
  toCause: Describer,
  limit: number,
): Promise<CauseGroups> {
  const causes = await countedCauses(tx, hostId, resolved);
  const all = groupByCause(causes);
  const total = all.reduce((sum, group) => sum + group.n, 0);
  const groups: CauseGroup[] = [];
  const everything = sumRollup(resolved.causes) + resolved.others;
  for (const group of all.slice(0, limit)) {
    const others = everything - group.n;
    const sample = await sampleCause(tx, hostId, { ...resolved, causes: group.rows, narrowsCauses: true, others });
    // Resolved between the two statements: the cause is gone, its count with it at the next look.
    if (sample === null) continue;
    const head = [...group.rows].sort((a, b) => b.n - a.n)[0] as RollupRow;
    groups.push({
      cause: toCause(head),
      count: group.n,
      eventTypes: { names: [...sample.typeNames], count: sample.typeCount },
      projections: [...new Set(group.rows.map((row) => row.projectionName))].sort().slice(0, 20),
      scopesBlocked: sample.scopes,
      scopesCapped: group.n > SAMPLE,
      newestTs: toIso(sample.newestTs),
      oldestTs: toIso(sample.oldestTs),
      arrivals: [...sample.arrivals],
    });
  }
  return { total, totalCapped: total > COUNT_CAP && !answeredByRollup(resolved), causeCount: all.length, groups };
}

/** The resolved causes with the numbers that match the whole filter. */
async function countedCauses(tx: Tx, hostId: string, resolved: ResolvedFilter): Promise<RollupRow[]> {
  const { causes, filter } = resolved;
  if (answeredByRollup(resolved)) {
    if (filter.includeDiagnostic) return [...causes];
    const hidden = await countDiagnostic(tx, hostId, causes, filter.status);
    return causes
      .map((row) => ({ ...row, n: row.n - (hidden.get(storedCauseId(row)) ?? 0) }))
      .filter((row) => row.n > 0);
  }
  const counted = await countByCause(tx, hostId, resolved, { sort: "last_failed_ts", limit: COUNT_CAP + 1 });
  const numbers = new Map(counted.map((row) => [storedCauseId(row), row.n]));
  return causes.map((row) => ({ ...row, n: numbers.get(storedCauseId(row)) ?? 0 })).filter((row) => row.n > 0);
}

function answeredByRollup({ search, filter, causes }: ResolvedFilter): boolean {
  return search === null && rollupAnswers(filter, causes);
}
