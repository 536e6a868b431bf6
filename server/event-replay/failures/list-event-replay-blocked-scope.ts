import {
  BLOCKED_SCOPE_INCIDENT_SECONDS,
  type BlockedScope,
  type ListBlockedScopeRequest,
  type ListBlockedScopeResponse,
} from "@/server/contracts/overview";
import { scopeId, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { decodeCursor, encodeCursor, isDatabaseInstant } from "@/server/platform/cursor";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import {
  type BlockedFilter,
  type BlockedPosition,
  type BlockedRow,
  loadBlocked,
  loadOrdering,
  summarizeBlocked,
} from "./blocked-repository";
import { causeDescriber, type Describer } from "./describe-failure";
import { laterAppended } from "./detail-lanes";
import { type LaneKey, loadLanes } from "./lane-repository";
import { loadNow } from "./repository";
import { loadRollup } from "./resolve-filter";
import { loadWaits } from "./waits-repository";

const SHOWN_VERSIONS = 5;

/** Scopes that refuse commands, longest blocked first (ER-OBS-05, ER-OBS-10). Paged by key; INVALID_REQUEST for a foreign cursor. */
export async function listEventReplayBlockedScope(
  ctx: ReplayContext,
  request: ListBlockedScopeRequest,
): Promise<ListBlockedScopeResponse> {
  const { hostId } = ctx;
  const binding = [
    "listEventReplayBlockedScope",
    hostId,
    request.projectionName ?? null,
    request.consumerGroup ?? null,
    request.scopeType ?? null,
  ];
  const after = request.cursor === undefined ? undefined : readPosition(binding, request.cursor);
  return await inTransaction(
    ctx.pool,
    "listEventReplayBlockedScope",
    async (tx) => {
      const filter = await blockedFilter(tx, hostId, request);
      const rows = await loadBlocked(tx, hostId, filter, request.pageSize + 1, after);
      const page = rows.slice(0, request.pageSize);
      const summary = await summarizeBlocked(tx, hostId, filter, BLOCKED_SCOPE_INCIDENT_SECONDS);
      const last = rows.length > request.pageSize ? page.at(-1) : undefined;
      return {
        asOf: toIso(await loadNow(tx)),
        total: summary.scopes,
        totalCapped: summary.capped,
        incidentCount: summary.incidents,
        items: await toBlockedScopes(tx, hostId, page, causeDescriber(ctx.projection)),
        nextCursor:
          last === undefined
            ? null
            : encodeCursor(binding, [
                last.since,
                last.scopeType,
                last.scopeKey,
                last.projectionName,
                last.consumerGroup,
              ]),
      };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}

export async function blockedFilter(
  tx: Tx,
  hostId: string,
  request: Pick<ListBlockedScopeRequest, "projectionName" | "consumerGroup" | "scopeType">,
): Promise<BlockedFilter> {
  const pairs = new Map<string, BlockedFilter["projections"][number]>();
  for (const { projectionName, consumerGroup } of await loadRollup(tx, hostId, "OPEN")) {
    if (request.projectionName !== undefined && request.projectionName !== projectionName) continue;
    if (request.consumerGroup !== undefined && request.consumerGroup !== consumerGroup) continue;
    pairs.set(`${projectionName}\u0000${consumerGroup}`, { projectionName, consumerGroup });
  }
  return { projections: [...pairs.values()], scopeType: request.scopeType };
}

/** Where each scope stands, its open versions and the cause of its oldest failure: three statements for a whole page. */
export async function toBlockedScopes(
  tx: Tx,
  hostId: string,
  rows: readonly BlockedRow[],
  toCause: Describer,
): Promise<BlockedScope[]> {
  const members =
    rows.length === 0 ? [] : await loadOrdering(tx, hostId, [...new Set(rows.map((row) => row.failureId))]);
  const keys: LaneKey[] = rows.map((row) => {
    const id = scopeId({ type: row.scopeType, key: row.scopeKey });
    const member = members.find(
      (m) => m.failureId === row.failureId && scopesOfEvent(m).some((s) => scopeId(s) === id),
    );
    return {
      projectionName: row.projectionName,
      consumerGroup: row.consumerGroup,
      scopeType: row.scopeType,
      scopeKey: row.scopeKey,
      aggregateType: member?.aggregateType ?? null,
      aggregateId: member?.aggregateId ?? null,
      rootInstanceId: row.scopeType === "GRAPH_ROOT" ? row.scopeKey : null,
      own: null,
    };
  });
  const lanes = await loadLanes(tx, hostId, keys, SHOWN_VERSIONS);
  const waits = await loadWaits(tx, hostId, rows);
  return rows.map((row, i) => {
    const [lane, wait] = [lanes[i], waits[i]];
    if (lane === undefined || wait === undefined) throw new Error("one lane and one answer a row");
    const first = lane.open[0];
    return {
      scopeType: row.scopeType,
      scopeKey: row.scopeKey,
      projectionName: row.projectionName,
      consumerGroup: row.consumerGroup,
      projectedVersion: lane.projectedVersion,
      openVersions: lane.open.map((open) => ({ version: open.version, failureId: open.failureId })),
      openCount: lane.openCount,
      laterAppended: laterAppended(lane, 0),
      blockedSinceTs: toIso(row.since),
      blockedSeconds: row.seconds,
      incident: row.seconds >= BLOCKED_SCOPE_INCIDENT_SECONDS,
      ...wait,
      failureId: first?.failureId ?? row.failureId,
      cause: toCause(first ?? { errorCode: null, sqlState: null, constraint: null, eventType: null }),
    };
  });
}

function readPosition(binding: readonly (string | null)[], cursor: string): BlockedPosition {
  const [since, scopeType, scopeKey, projectionName, consumerGroup] = decodeCursor(binding, cursor, 5) ?? [];
  if (
    since === undefined ||
    scopeType === undefined ||
    scopeKey === undefined ||
    projectionName === undefined ||
    consumerGroup === undefined ||
    !isDatabaseInstant(since)
  ) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/cursor", rule: "UNKNOWN_CURSOR" }] });
  }
  return { since, scopeType, scopeKey, projectionName, consumerGroup };
}
