import type { GetReplayRequest, GetReplayResponse, ReplayItem, ReplayLane } from "@/server/contracts/replay";
import { encodeAggregateScopeKey, type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { loadIdentities, loadNames } from "@/server/governance/people";
import { toIso, toIsoOrNull } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import {
  type BarrierRow,
  type ItemRow,
  loadAppended,
  loadAttempts,
  loadBarriers,
  loadHistory,
  loadItemOrdering,
  loadItems,
  loadLease,
  loadNow,
  loadParkedTotals,
} from "./detail-repository";
import type { OpenWrite } from "./domain/closure";
import { type DecisionFacts, mayApprove, mayCancel, mayExecute } from "./domain/permissions";
import type { PlanMetadata } from "./domain/plan";
import { laneVerdict } from "./domain/proof";
import { loadEligibleApprovers } from "./person-rules";
import { isCommitted, statusNow } from "./repeated-request";
import { loadRepair, loadStandings, mergeByScope, type OrderingRow } from "./repository";
import { expireIfOverdue, type RequestRow, readRequest } from "./request-repository";
import { loadStaleReasons } from "./staleness";

const MAX_STALE_REASONS = 20;

/**
 * One replay request as it stands durably (ER-API-06): plan, persons, progress, proof per scope, and what the caller may do,
 * with reasons. Everything is read at one moment, so that status, items and proof never contradict each other. An overdue
 * request is written EXPIRED on the way (decision D-03). An unknown id and one of another host answer the same
 * REQUEST_NOT_FOUND.
 */
export async function getEventReplay(ctx: ReplayContext, request: GetReplayRequest): Promise<GetReplayResponse> {
  return await inTransaction(ctx.pool, "getEventReplay", (tx) => read(tx, ctx, request.replayRequestId), {
    statementTimeoutMs: 5_000,
    snapshot: true,
  });
}

async function read(tx: Tx, ctx: ReplayContext, requestId: string): Promise<GetReplayResponse> {
  const { hostId } = ctx;
  let row = await readRequest(tx, hostId, requestId);
  if (row?.overdue && (await expireIfOverdue(tx, hostId, requestId))) row = await readRequest(tx, hostId, requestId);
  if (!row) throw new AppError("REQUEST_NOT_FOUND");
  const registryVersion = ctx.projection.registries.current.version;
  const staleReasons = await loadStaleReasons(tx, hostId, [requestId], registryVersion, MAX_STALE_REASONS);
  const rows = await loadItems(tx, hostId, requestId);
  const ordering = await loadItemOrdering(tx, hostId, requestId);
  const items = toItems(rows, mergeByScope(ordering, new Map()));
  const barriers = await loadBarriers(tx, hostId, requestId);
  const parked = await loadParkedTotals(
    tx,
    hostId,
    barriers.map((barrier) => barrier.barrierId),
  );
  const repairId = rows.find((item) => item.repairId !== null)?.repairId ?? null;
  const repair = repairId === null ? undefined : await loadRepair(tx, hostId, repairId);
  const metadata = row.planHash === null ? null : row.planMetadata;
  const executing = row.status === "INSTALLING_BARRIER" || row.status === "RUNNING";
  const lease = executing ? await loadLease(tx, hostId, requestId) : null;
  return {
    ...requestFields(row, hostId, metadata),
    leaseOwner: lease?.owner ?? null,
    leaseExpiresAt: lease === null ? null : toIso(lease.expiresTs),
    repairId,
    repairStatus: repair?.status ?? null,
    stale: staleReasons.length > 0,
    staleReasons: staleReasons.map(({ replayRequestId: _, ...reason }) => reason),
    items,
    totals: totalsOf(items),
    attempts: (await loadAttempts(tx, hostId, requestId)).map((attempt) => ({
      ...attempt,
      startedTs: toIso(attempt.startedTs),
      completedTs: toIsoOrNull(attempt.completedTs),
    })),
    barriers: barriers.map((barrier) => ({
      ...barrier,
      installedTs: toIso(barrier.installedTs),
      releasedTs: toIsoOrNull(barrier.releasedTs),
    })),
    deferred: { ...parked, encryptedBytes: 0, capacityState: "NORMAL" },
    publication: { count: 0, encryptedBytes: 0 },
    lanes: await loadLanes(tx, hostId, row, metadata, items, ordering, barriers),
    people: await peopleOf(tx, ctx, row),
    permissions: permissionsOf(ctx, row, staleReasons.length > 0, await loadIdentities(tx, ctx.actor.personId)),
    history: await historyOf(tx, hostId, requestId),
    asOf: toIso(await loadNow(tx)),
  };
}

function requestFields(row: RequestRow, hostId: string, metadata: PlanMetadata | null) {
  return {
    replayRequestId: row.replayRequestId,
    hostId,
    projectionName: row.projectionName,
    consumerGroup: row.consumerGroup,
    strategy: row.strategy,
    validationMode: row.validationMode,
    reason: row.reason,
    planHash: row.planHash === null ? null : toWireDigest(row.planHash),
    planMetadata: metadata === null ? null : toWireMetadata(metadata),
    status: statusNow(row),
    transactionCount: row.transactionCount,
    selectedTransactionCount: metadata?.selectedTransactionCount ?? row.transactionCount,
    addedDependencyTransactionCount: metadata?.addedDependencyTransactionCount ?? 0,
    eventCount: row.eventCount,
    encryptedPayloadBytes: 0,
    decryptedPayloadBytes: row.payloadBytes,
    policyRegistryVersion: row.policyRegistryVersion,
    requestedBy: row.requestedBy,
    requestedTs: toIso(row.requestedTs),
    approvedBy: row.approvedBy,
    approvedTs: toIsoOrNull(row.approvedTs),
    startedBy: row.startedBy,
    startedTs: toIsoOrNull(row.startedTs),
    completedTs: toIsoOrNull(row.completedTs),
    expiresAt: toIso(row.expiresTs),
    expiresInSeconds: row.expiresInSeconds,
    failureCode: row.failureCode,
    failureMessage: row.failureMessage,
    retryable: row.retryable,
    isolationMode: row.isolationMode,
    projectionCommitted: isCommitted(row),
    warnings: [...(metadata?.warnings ?? [])],
  };
}

function toWireMetadata(metadata: PlanMetadata): NonNullable<GetReplayResponse["planMetadata"]> {
  return {
    contractVersion: metadata.contractVersion,
    isolationScope: {
      ...metadata.isolationScope,
      rootInstanceIds: [...metadata.isolationScope.rootInstanceIds],
    },
    scopes: metadata.scopes.map(({ scopeType, scopeKey, before, after }) => ({
      scopeType,
      scopeKey,
      beforeVersion: before,
      afterVersion: after,
    })),
    partitionId: metadata.partitionId,
    highWaterMarks: [...metadata.highWaterMarks],
    warnings: [...metadata.warnings],
    selectedTransactionCount: metadata.selectedTransactionCount,
    addedDependencyTransactionCount: metadata.addedDependencyTransactionCount,
  };
}

/** Items with what they write, and which items write the version before it: the edges of the drawing. */
function toItems(rows: readonly ItemRow[], writes: readonly OpenWrite[]): ReplayItem[] {
  const byFailure = new Map<string, OpenWrite[]>();
  for (const write of writes) byFailure.set(write.failureId, [...(byFailure.get(write.failureId) ?? []), write]);
  const lastWriter = new Map<string, number>();
  return rows.map(({ firstType, typeCount, ...item }) => {
    const own = (byFailure.get(item.failureId) ?? []).sort((a, b) => (scopeId(a) < scopeId(b) ? -1 : 1));
    const needs = new Set<number>();
    for (const write of own) {
      const before = lastWriter.get(scopeId(write));
      if (before !== undefined) needs.add(before);
      lastWriter.set(scopeId(write), item.ordinal);
    }
    return {
      ...item,
      eventTypes: { first: firstType, count: typeCount },
      scopes: own.map(({ type, key, firstVersion, lastVersion }) => ({
        scopeType: type,
        scopeKey: key,
        firstVersion,
        lastVersion,
      })),
      needs: [...needs].sort((a, b) => a - b),
    };
  });
}

function totalsOf(items: readonly ReplayItem[]): GetReplayResponse["totals"] {
  const count = (status: ReplayItem["status"]) => items.filter((item) => item.status === status).length;
  return {
    pending: count("PENDING"),
    running: count("RUNNING"),
    succeeded: count("SUCCEEDED"),
    failed: count("FAILED"),
  };
}

async function loadLanes(
  tx: Tx,
  hostId: string,
  row: RequestRow,
  metadata: PlanMetadata | null,
  items: readonly ReplayItem[],
  ordering: readonly OrderingRow[],
  barriers: readonly BarrierRow[],
): Promise<ReplayLane[]> {
  const planned = metadata?.scopes ?? [];
  const scopes: Scope[] = planned.map(({ scopeType, scopeKey }) => ({ type: scopeType, key: scopeKey }));
  const now = await loadStandings(tx, hostId, row, scopes);
  const aggregates = new Map<string, OrderingRow>();
  for (const member of ordering) {
    if (member.aggregate_type === null || member.aggregate_id === null) continue;
    aggregates.set(encodeAggregateScopeKey(member.aggregate_type, member.aggregate_id), member);
  }
  const appended = await loadAppended(
    tx,
    hostId,
    scopes.map(({ type, key }) => {
      const aggregate = type === "AGGREGATE" ? aggregates.get(key) : undefined;
      return {
        aggregateType: aggregate?.aggregate_type ?? null,
        aggregateId: aggregate?.aggregate_id ?? null,
        rootId: type === "GRAPH_ROOT" ? key : null,
      };
    }),
  );
  const parked = new Map(
    barriers.filter((b) => b.releasedTs === null).map((b) => [`${b.scopeType} ${b.scopeKey}`, b.parked]),
  );
  const steps = new Map<string, { ordinal: number; lastVersion: number; succeeded: boolean }[]>();
  for (const item of items) {
    for (const { scopeType, scopeKey, lastVersion } of item.scopes) {
      const id = `${scopeType} ${scopeKey}`;
      const step = { ordinal: item.ordinal, lastVersion, succeeded: item.status === "SUCCEEDED" };
      steps.set(id, [...(steps.get(id) ?? []), step]);
    }
  }
  return planned.map(({ scopeType, scopeKey, before, after }, i) => {
    const id = `${scopeType} ${scopeKey}`;
    const stands = now.get(scopeId({ type: scopeType, key: scopeKey })) ?? null;
    const own = steps.get(id) ?? [];
    return {
      scopeType,
      scopeKey,
      beforeVersion: before,
      afterVersion: after,
      nowVersion: stands,
      appendedVersion: appended[i] ?? null,
      parked: parked.get(id) ?? 0,
      verdict: laneVerdict(before, after, stands, own),
      items: own.map((step) => step.ordinal),
    };
  });
}

async function peopleOf(tx: Tx, ctx: ReplayContext, row: RequestRow): Promise<GetReplayResponse["people"]> {
  const names = await loadNames(tx, ctx.hostId, [row.requestedBy, row.approvedBy, row.startedBy]);
  const person = (personId: string) => ({
    personId,
    name: names.get(personId) ?? null,
    isYou: personId === ctx.actor.personId,
  });
  const eligible = await loadEligibleApprovers(tx, ctx, row.requestedBy);
  return {
    requester: person(row.requestedBy),
    approver: row.approvedBy === null ? null : person(row.approvedBy),
    executor: row.startedBy === null ? null : person(row.startedBy),
    eligibleApprovers: eligible
      .slice(0, 20)
      .map(({ personId, name }) => ({ personId, name, isYou: personId === ctx.actor.personId })),
  };
}

/** What the caller, known by these identities, may do with a request; lists ask the same question. */
export function decisionFacts(
  ctx: ReplayContext,
  row: RequestRow,
  stale: boolean,
  own: ReadonlySet<string>,
): DecisionFacts {
  const may = (operation: string) => ctx.rolesMayCall(ctx.actor.roles, operation);
  return {
    status: statusNow(row),
    validationMode: row.validationMode,
    stale,
    retryable: row.retryable,
    isRequester: own.has(row.requestedBy),
    human: ctx.actor.human,
    mayApprove: may("approveEventReplay"),
    mayExecute: may("executeEventReplay"),
    mayCancel: may("cancelEventReplay"),
    paused: !readReplayConfig().enabled,
  };
}

function permissionsOf(
  ctx: ReplayContext,
  row: RequestRow,
  stale: boolean,
  own: ReadonlySet<string>,
): GetReplayResponse["permissions"] {
  const facts = decisionFacts(ctx, row, stale, own);
  return { approve: mayApprove(facts), execute: mayExecute(facts), cancel: mayCancel(facts) };
}

async function historyOf(tx: Tx, hostId: string, requestId: string): Promise<GetReplayResponse["history"]> {
  const rows = await loadHistory(tx, hostId, requestId);
  const names = await loadNames(
    tx,
    hostId,
    rows.map((row) => row.actorId),
  );
  return rows.map((row) => ({ ...row, ts: toIso(row.ts), actorName: names.get(row.actorId) ?? null }));
}
