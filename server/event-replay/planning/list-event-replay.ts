import type { Permission } from "@/server/contracts/replay";
import type { ListReplayRequest, ListReplayResponse, ReplayListItem } from "@/server/contracts/replay-list";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { loadIdentities, loadNames } from "@/server/governance/people";
import { decodeCursor, encodeCursor, isDatabaseInstant } from "@/server/platform/cursor";
import { toIso, toIsoOrNull } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { isCanonicalUuid } from "@/server/platform/ids";
import { loadNow } from "./detail-repository";
import { mayApprove } from "./domain/permissions";
import { decisionFacts } from "./get-event-replay";
import { countRequests, type ListRow, loadAwaiting, loadRequests } from "./list-repository";
import { loadEligibleApprovers } from "./person-rules";
import { statusNow } from "./repeated-request";
import { loadStaleReasons } from "./staleness";

const MAX_APPROVERS = 20;

type View = "WAITING_FOR_ME" | "MINE_WAITING" | "NOT_MINE";
type Judged = { readonly row: ListRow; readonly stale: boolean; readonly approve: Permission; readonly view: View };

/**
 * Requests of the host, newest first; or the inbox, soonest deadline first: what waits for the caller, what of theirs waits for
 * others, and what isn't theirs to decide, with the reason. Every plan that awaits approval is in exactly one of the three.
 * Expiry is computed here, not written. INVALID_REQUEST for a foreign cursor.
 */
export async function listEventReplay(ctx: ReplayContext, request: ListReplayRequest): Promise<ListReplayResponse> {
  const binding = [
    "listEventReplay",
    ctx.hostId,
    ctx.actor.personId,
    request.view,
    (request.statuses ?? []).join(),
    request.failureId ?? null,
    request.includePreviews ? 1 : 0,
  ];
  const after = request.cursor === undefined ? undefined : readPosition(binding, request.cursor);
  return await inTransaction(
    ctx.pool,
    "listEventReplay",
    async (tx) => {
      const awaiting = await judge(tx, ctx, await loadAwaiting(tx, ctx.hostId));
      const page =
        request.view === "ALL"
          ? await pageOfAll(tx, ctx, request, after)
          : pageOfView(awaiting, request.view, request.pageSize, after);
      const last = page.more ? page.items.at(-1) : undefined;
      return {
        asOf: toIso(await loadNow(tx)),
        total: page.total,
        totalCapped: page.totalCapped,
        counts: {
          waitingForMe: count(awaiting, "WAITING_FOR_ME"),
          mineWaiting: count(awaiting, "MINE_WAITING"),
          notMine: count(awaiting, "NOT_MINE"),
        },
        items: await toItems(tx, ctx, page.items),
        eligibleApprovers: request.view === "MINE_WAITING" ? await approversOfMine(tx, ctx) : [],
        nextCursor:
          last === undefined
            ? null
            : encodeCursor(binding, [
                request.view === "ALL" ? last.row.requestedTs : last.row.expiresTs,
                last.row.replayRequestId,
              ]),
      };
    },
    // One moment: counts, page and totals of one answer agree.
    { readOnly: true, snapshot: true, statementTimeoutMs: 5_000 },
  );
}

/** All plans of this view are of one requester, the caller, so that who may approve them is asked once. */
async function approversOfMine(tx: Tx, ctx: ReplayContext): Promise<ListReplayResponse["eligibleApprovers"]> {
  const eligible = await loadEligibleApprovers(tx, ctx, ctx.actor.personId);
  return eligible.slice(0, MAX_APPROVERS).map(({ personId, name }) => ({ personId, name, isYou: false }));
}

type Position = { readonly ts: string; readonly requestId: string };
type Page = {
  readonly items: readonly Judged[];
  readonly more: boolean;
  readonly total: number;
  readonly totalCapped: boolean;
};

async function pageOfAll(
  tx: Tx,
  ctx: ReplayContext,
  request: ListReplayRequest,
  after: Position | undefined,
): Promise<Page> {
  const filter = {
    statuses: request.statuses ?? null,
    failureId: request.failureId ?? null,
    includePreviews: request.includePreviews,
  };
  const rows = await loadRequests(tx, ctx.hostId, filter, request.pageSize + 1, after ?? null);
  const { total, capped } = await countRequests(tx, ctx.hostId, filter);
  return {
    items: await judge(tx, ctx, rows.slice(0, request.pageSize)),
    more: rows.length > request.pageSize,
    total,
    totalCapped: capped,
  };
}

/** What awaits approval is few; it arrives in order of deadline. */
function pageOfView(awaiting: readonly Judged[], view: View, size: number, after: Position | undefined): Page {
  const mine = awaiting.filter((judged) => judged.view === view);
  const start = after === undefined ? 0 : mine.findIndex(({ row }) => isAfter(row, after));
  const rest = start < 0 ? [] : mine.slice(start);
  return { items: rest.slice(0, size), more: rest.length > size, total: mine.length, totalCapped: false };
}

function isAfter(row: ListRow, { ts, requestId }: Position): boolean {
  const [own, other] = [toIso(row.expiresTs), toIso(ts)];
  return own === other ? row.replayRequestId > requestId : own > other;
}

async function judge(tx: Tx, ctx: ReplayContext, rows: readonly ListRow[]): Promise<Judged[]> {
  const reasons = await loadStaleReasons(
    tx,
    ctx.hostId,
    rows.map((row) => row.replayRequestId),
    ctx.projection.registries.current.version,
    1,
  );
  const own = await loadIdentities(tx, ctx.actor.personId);
  const staleIds = new Set(reasons.map((reason) => reason.replayRequestId));
  return rows.map((row) => {
    const stale = staleIds.has(row.replayRequestId);
    const approve = mayApprove(decisionFacts(ctx, row, stale, own));
    const mine = own.has(row.requestedBy);
    return { row, stale, approve, view: mine ? "MINE_WAITING" : approve.allowed ? "WAITING_FOR_ME" : "NOT_MINE" };
  });
}

async function toItems(tx: Tx, ctx: ReplayContext, page: readonly Judged[]): Promise<ReplayListItem[]> {
  const ids = page.flatMap(({ row }) => [row.requestedBy, row.approvedBy]);
  const names = await loadNames(tx, ctx.hostId, ids);
  const person = (personId: string) => ({
    personId,
    name: names.get(personId) ?? null,
    isYou: personId === ctx.actor.personId,
  });
  return page.map(({ row, stale, approve }) => ({
    replayRequestId: row.replayRequestId,
    status: statusNow(row),
    projectionName: row.projectionName,
    consumerGroup: row.consumerGroup,
    strategy: row.strategy,
    validationMode: row.validationMode,
    reason: row.reason,
    planHash: row.planHash === null ? null : toWireDigest(row.planHash),
    transactionCount: row.transactionCount,
    selectedTransactionCount: row.planMetadata.selectedTransactionCount ?? row.transactionCount,
    addedDependencyTransactionCount: row.planMetadata.addedDependencyTransactionCount ?? 0,
    eventCount: row.eventCount,
    scopeCount: row.planMetadata.scopes?.length ?? 0,
    requester: person(row.requestedBy),
    approver: row.approvedBy === null ? null : person(row.approvedBy),
    requestedTs: toIso(row.requestedTs),
    completedTs: toIsoOrNull(row.completedTs),
    expiresAt: toIso(row.expiresTs),
    expiresInSeconds: row.expiresInSeconds,
    succeededCount: row.succeededCount,
    failedCount: row.failedCount,
    failureCode: row.failureCode,
    stale,
    retryable: row.retryable,
    approve,
  }));
}

function count(awaiting: readonly Judged[], view: View): number {
  return awaiting.filter((judged) => judged.view === view).length;
}

function readPosition(binding: Parameters<typeof decodeCursor>[0], cursor: string): Position {
  const parts = decodeCursor(binding, cursor, 2);
  const [ts, requestId] = parts ?? [];
  if (ts === undefined || requestId === undefined || !isDatabaseInstant(ts) || !isCanonicalUuid(requestId)) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/cursor", rule: "FOREIGN_CURSOR" }] });
  }
  return { ts, requestId };
}
