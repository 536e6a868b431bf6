import {
  BLOCKED_SCOPE_INCIDENT_SECONDS,
  type GetOverviewRequest,
  type GetOverviewResponse,
} from "@/server/contracts/overview";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso, toIsoOrNull } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { isCanonicalUuid, partitionOfHost } from "@/server/platform/ids";
import { loadBlocked, summarizeBlocked } from "./blocked-repository";
import { loadCauseGroups } from "./cause-groups";
import { causeDescriber, causeFacts, type Describer, primaryScopeOf } from "./describe-failure";
import { captureHealth } from "./domain/capture-health";
import type { ResolvedFilter } from "./failure-query";
import { blockedFilter, toBlockedScopes } from "./list-event-replay-blocked-scope";
import {
  loadArchiveBytes,
  loadBarriers,
  loadLastResolved,
  loadProcessors,
  loadSourceStanding,
  loadStatusCounts,
  loadUnread,
} from "./overview-repository";
import { countDiagnostic, loadNow, loadPage } from "./repository";
import { loadRollup, resolveFilter } from "./resolve-filter";

/** Limits of the archive (reference §7), all hosts together. */
const ARCHIVE_SOFT_BYTES = 10 * 1024 ** 3;
const ARCHIVE_HARD_BYTES = 20 * 1024 ** 3;

const TOP_CAUSES = 8;
const TOP_SCOPES = 7;
const RECENT = 6;

/** The first page in one call: does capture work, what is wrong, what stands still, how full is the archive. */
export async function getEventReplayOverview(
  ctx: ReplayContext,
  _request: GetOverviewRequest,
): Promise<GetOverviewResponse> {
  return await inTransaction(ctx.pool, "getEventReplayOverview", (tx) => read(tx, ctx), {
    readOnly: true,
    statementTimeoutMs: 5_000,
  });
}

async function read(tx: Tx, ctx: ReplayContext): Promise<GetOverviewResponse> {
  const { hostId, projection } = ctx;
  const toCause = causeDescriber(projection);
  const rollup = await loadRollup(tx, hostId, "OPEN");
  const resolved = await resolveFilter(tx, hostId, { status: "OPEN", includeDiagnostic: true }, rollup);
  const groups = await loadCauseGroups(tx, hostId, resolved, toCause, TOP_CAUSES);
  const diagnostic = [...(await countDiagnostic(tx, hostId, rollup, "OPEN")).values()].reduce((sum, n) => sum + n, 0);
  const statuses = new Map((await loadStatusCounts(tx, hostId)).map((row) => [row.status, row.n]));
  const source = await loadSourceStanding(tx, projection.consumerGroup, partitionOfHost(hostId));
  const processors = await loadProcessors(tx, projection.projectionName, projection.consumerGroup);
  const filter = await blockedFilter(tx, hostId, {});
  const blocked = await summarizeBlocked(tx, hostId, filter, BLOCKED_SCOPE_INCIDENT_SECONDS);
  const top = await loadBlocked(tx, hostId, filter, TOP_SCOPES);
  const barriers = await loadBarriers(tx, hostId);
  const archiveBytes = await loadArchiveBytes(tx);
  const recent = await loadRecent(tx, hostId, resolved, toCause);
  const lastResolved = await loadLastResolved(tx, hostId);
  const { scopes, capped, incidents, oldestSeconds, byCode, under60s, under300s, under900s, under3600s, over3600s } =
    blocked;
  return {
    asOf: toIso(await loadNow(tx)),
    totals: {
      open: groups.total,
      openExecutable: Math.max(0, groups.total - diagnostic),
      openDiagnostic: Math.min(diagnostic, groups.total),
      resolved: statuses.get("RESOLVED") ?? 0,
      waived: statuses.get("WAIVED") ?? 0,
      causes: groups.causeCount,
    },
    capture: {
      ...captureHealth({ ...processors, lagSeconds: source.lagSeconds, pending: source.pending }),
      outboxPending: source.pending,
      outboxLagSeconds: Math.round(source.lagSeconds * 10) / 10,
      lastProgressTs: toIsoOrNull(source.lastProgressTs),
      lastCaptureTs: recent[0]?.lastFailedTs ?? null,
    },
    blocked: {
      scopes,
      scopesCapped: capped,
      incidentScopes: incidents,
      incident: incidents > 0,
      thresholdSeconds: BLOCKED_SCOPE_INCIDENT_SECONDS,
      oldestSeconds,
      ageBuckets: { under60s, under300s, under900s, under3600s, over3600s },
      byCode: byCode.map(({ code, scopes: n }) => ({ code, scopes: n })),
      top: await toBlockedScopes(tx, hostId, top, toCause),
    },
    barriers: { active: barriers.active, quarantined: barriers.quarantined, deferredTransactions: barriers.deferred },
    archive: {
      bytesUsed: archiveBytes,
      softBytes: ARCHIVE_SOFT_BYTES,
      hardBytes: ARCHIVE_HARD_BYTES,
      state: archiveBytes >= ARCHIVE_HARD_BYTES ? "HARD" : archiveBytes >= ARCHIVE_SOFT_BYTES ? "SOFT" : "OK",
    },
    causes: groups.groups,
    recentCaptures: recent,
    lastResolved: lastResolved && { ...lastResolved, resolvedTs: toIso(lastResolved.resolvedTs) },
    unreadFailureNotifications: isCanonicalUuid(ctx.actor.userId) ? await loadUnread(tx, hostId, ctx.actor.userId) : 0,
  };
}

async function loadRecent(
  tx: Tx,
  hostId: string,
  resolved: ResolvedFilter,
  toCause: Describer,
): Promise<GetOverviewResponse["recentCaptures"]> {
  const rows = await loadPage(tx, hostId, resolved, { sort: "last_failed_ts", limit: RECENT });
  return rows.map((row) => ({
    failureId: row.failureId,
    eventType: row.headType ?? row.failedEventType ?? "unknown",
    eventCount: row.eventCount,
    projectionName: row.projectionName,
    primaryScope: primaryScopeOf(row),
    cause: toCause(causeFacts(row), row.executable),
    lastFailedTs: toIso(row.lastFailedTs),
  }));
}
