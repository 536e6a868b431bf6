import { COUNT_CAP, type ListCandidateRequest, type ListCandidateResponse } from "@/server/contracts/failures";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { decodeCursor, encodeCursor, isDatabaseInstant } from "@/server/platform/cursor";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import type { FingerprintField } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { isCanonicalUuid } from "@/server/platform/ids";
import { causeDescriber, toCandidateItem } from "./describe-failure";
import { rollupAnswers, sumRollup } from "./domain/selection";
import type { Position, ResolvedFilter, SortColumn } from "./failure-query";
import { countDiagnostic, countMatching, loadNow, loadPage, type PageRow } from "./repository";
import { loadRollup, resolveFilter } from "./resolve-filter";

/** A page opened long ago needs no exact number of what came since. */
const NEWER_CAP = 1_000;

/**
 * Canonical failures of the host, newest first (ER-API-02). Reads canonical tables only: a legacy dead letter or notification
 * never appears (ER-API-03, ER-CAP-36). Paging by cursor is by key: rows that arrive meanwhile never shift a page; page numbers are for
 * clients that know nothing else. Refuses INVALID_REQUEST for a cursor of another host, filter or sort.
 */
export async function listEventReplayCandidate(
  ctx: ReplayContext,
  request: ListCandidateRequest,
): Promise<ListCandidateResponse> {
  const { hostId } = ctx;
  const sort: SortColumn = request.sort === "firstFailed" ? "first_failed_ts" : "last_failed_ts";
  const binding = cursorBinding(hostId, request);
  const position = request.cursor === undefined ? undefined : readPosition(binding, request.cursor);
  return await inTransaction(
    ctx.pool,
    "listEventReplayCandidate",
    async (tx) => {
      const asOf = request.asOf ?? (await loadNow(tx));
      const rollup = await loadRollup(tx, hostId, request.status);
      const resolved = await resolveFilter(tx, hostId, request, rollup);
      const newer = request.direction === "newer" && position !== undefined;
      const rows = await loadPage(tx, hostId, resolved, {
        sort,
        limit: request.pageSize + 1,
        offset: request.page * request.pageSize,
        notAfter: asOf,
        ...(position !== undefined && (newer ? { after: position } : { before: position })),
      });
      const more = rows.length > request.pageSize;
      const page = rows.slice(0, request.pageSize);
      if (newer) page.reverse();
      const hasOlder = newer ? true : more;
      const hasNewer = newer ? more : position !== undefined || request.page > 0;
      const toCause = causeDescriber(ctx.projection);
      const openTotal = request.status === "OPEN" ? sumRollup(rollup) : sumRollup(await loadRollup(tx, hostId, "OPEN"));
      return {
        page: request.page,
        pageSize: request.pageSize,
        ...(await countTotal(tx, hostId, resolved, sort)),
        openTotal,
        items: page.map((row) => toCandidateItem(row, toCause)),
        olderCursor: hasOlder ? cursorAt(binding, page.at(-1)) : null,
        newerCursor: hasNewer ? cursorAt(binding, page[0]) : null,
        asOf: request.asOf ?? toIso(asOf),
        newerCount:
          request.asOf === undefined
            ? 0
            : await countMatching(tx, hostId, resolved, { sort, limit: NEWER_CAP, laterThan: request.asOf }),
      };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}

/** Exact from the rollup where it can answer, less evidence-only rows when those are not wanted; else counted up to a bound. */
export async function countTotal(
  tx: Tx,
  hostId: string,
  resolved: ResolvedFilter,
  sort: SortColumn,
): Promise<{ total: number; totalCapped: boolean; totalSource: "ROLLUP" | "COUNT" }> {
  const { filter, causes, search } = resolved;
  if (search === null && rollupAnswers(filter, causes)) {
    const diagnostic = filter.includeDiagnostic
      ? new Map<string, number>()
      : await countDiagnostic(tx, hostId, causes, filter.status);
    const hidden = [...diagnostic.values()].reduce((sum, n) => sum + n, 0);
    return { total: Math.max(0, sumRollup(causes) - hidden), totalCapped: false, totalSource: "ROLLUP" };
  }
  const total = await countMatching(tx, hostId, resolved, { sort, limit: COUNT_CAP + 1 });
  return { total, totalCapped: total > COUNT_CAP, totalSource: "COUNT" };
}

function cursorBinding(hostId: string, r: ListCandidateRequest): readonly FingerprintField[] {
  const names = r.projectionNames === undefined ? null : [...r.projectionNames].sort();
  return [
    "listEventReplayCandidate",
    hostId,
    r.sort,
    r.status,
    r.projectionName ?? null,
    r.consumerGroup ?? null,
    names,
    r.eventType ?? null,
    r.errorCode ?? null,
    r.causeKey ?? null,
    r.scopeType ?? null,
    r.scopeKey ?? null,
    r.policy ?? null,
    r.firstFailedAfter ?? null,
    r.firstFailedBefore ?? null,
    r.search ?? null,
    String(r.includeDiagnostic),
  ];
}

function readPosition(binding: readonly FingerprintField[], cursor: string): Position {
  const [ts, id] = decodeCursor(binding, cursor, 2) ?? [];
  if (ts === undefined || !isDatabaseInstant(ts) || !isCanonicalUuid(id)) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/cursor", rule: "UNKNOWN_CURSOR" }] });
  }
  return { ts, id };
}

function cursorAt(binding: readonly FingerprintField[], row: PageRow | undefined): string | null {
  return row === undefined ? null : encodeCursor(binding, [row.sortTs, row.failureId]);
}
