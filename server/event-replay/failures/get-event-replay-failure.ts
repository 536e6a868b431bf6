import type { GetFailureRequest, GetFailureResponse } from "@/server/contracts/failures";
import type { ReplayStatus } from "@/server/contracts/replay";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { isCanonicalUuid } from "@/server/platform/ids";
import { causeDescriber, causeFacts, type Describer, toCandidateItem } from "./describe-failure";
import { laneKeyOf, ownScopes, toLane } from "./detail-lanes";
import {
  type FailureFacts,
  type FailureHold,
  loadAttempts,
  loadDeliveries,
  loadFacts,
  loadHold,
  loadMembers,
  loadNotificationLink,
  loadScopes,
  type MemberRow,
} from "./detail-repository";
import { causeKeyOf, explainCause } from "./domain/cause-catalog";
import { repair, replayOriginal } from "./domain/permissions";
import { groupByCause } from "./domain/selection";
import { timelineOf } from "./domain/timeline";
import { type Lane, loadLanes } from "./lane-repository";
import { type FailureRow, loadFailure, loadNow } from "./repository";
import { loadRollup } from "./resolve-filter";

const MAX_LANES = 50;
const MAX_PREDECESSORS = 50;

/**
 * Everything about one failure but its bytes (ER-API-04): why, what must run first, members with digest and availability,
 * deliveries, timeline, and what may be done. An unknown id and one of another host answer the same FAILURE_NOT_FOUND.
 */
export async function getEventReplayFailure(
  ctx: ReplayContext,
  request: GetFailureRequest,
): Promise<GetFailureResponse> {
  return await inTransaction(ctx.pool, "getEventReplayFailure", (tx) => read(tx, ctx, request.failureId), {
    readOnly: true,
    statementTimeoutMs: 5_000,
  });
}

async function read(tx: Tx, ctx: ReplayContext, failureId: string): Promise<GetFailureResponse> {
  const { hostId } = ctx;
  const row = await loadFailure(tx, hostId, failureId);
  const facts = row === null ? null : await loadFacts(tx, hostId, failureId);
  if (row === null || facts === null) throw new AppError("FAILURE_NOT_FOUND");
  const toCause = causeDescriber(ctx.projection);
  const members = await loadMembers(tx, hostId, failureId);
  const scopes = ownScopes(await loadScopes(tx, hostId, failureId), members);
  const drawn = scopes.slice(0, MAX_LANES);
  const lanes = await loadLanes(
    tx,
    hostId,
    drawn.map((scope) => laneKeyOf(row, scope)),
    MAX_PREDECESSORS,
  );
  const shown = drawn.map((scope, i) => toLane(scope, lanes[i] as Lane));
  const deliveries = await loadDeliveries(tx, hostId, failureId);
  const item = toCandidateItem(row, toCause);
  const gap = gapOf(facts.errorDetails);
  const notifications = isCanonicalUuid(row.originalTransactionId)
    ? await loadNotificationLink(tx, hostId, row.originalTransactionId)
    : { count: 0, newest: null };
  const failedOrdinal = facts.failedOrdinal;
  const hold = await loadHold(tx, hostId, failureId);
  const actions = actionFacts(ctx, row, members, hold);
  return {
    ...item,
    hostId,
    userIds: [...new Set(members.flatMap((m) => (m.userId === null ? [] : [m.userId])))].slice(0, 50),
    contentFingerprint: facts.contentFingerprint,
    dependencyScopes: scopes.map((scope) => ({
      mode: scope.scopeType,
      scopeType: scope.scopeType,
      scopeKey: scope.scopeKey,
      ...orderOf(scope),
      status: scope.status,
      quarantined: scope.quarantined,
    })),
    errorType: row.sqlState,
    errorMessage: explainCause(item.cause, gap),
    errorDetails: gap,
    failedOrdinal,
    policyRegistryVersion: facts.policyRegistryVersion,
    legalHold: facts.legalHold,
    events: members.map((member) => toMember(member, failedOrdinal)),
    lanes: shown,
    laneCount: scopes.length,
    openPredecessorCount: new Set(shown.flatMap((lane) => lane.predecessors.map((p) => p.failureId))).size,
    firstCause: await firstCauseOf(tx, hostId, row, shown, toCause),
    deliveries: deliveries.map(({ deliveryCount: _, ...delivery }) => ({
      ...delivery,
      firstObservedTs: toIso(delivery.firstObservedTs),
      lastObservedTs: toIso(delivery.lastObservedTs),
    })),
    deliveryCount: deliveries[0]?.deliveryCount ?? 0,
    timeline: timelineOf({
      status: row.status,
      firstFailedTs: item.firstFailedTs,
      resolvedTs: item.resolvedTs,
      resolutionCode: facts.resolutionCode,
      deliveries: deliveries.map((d) => ({
        ...d,
        firstObservedTs: toIso(d.firstObservedTs),
        lastObservedTs: toIso(d.lastObservedTs),
      })),
      attempts: (await loadAttempts(tx, hostId, failureId)).map((a) => ({ ...a, ts: toIso(a.ts) })),
    }),
    notifications: {
      count: notifications.count,
      newest: notifications.newest && {
        notificationId: notifications.newest.id,
        status: notifications.newest.status,
        processTs: toIso(notifications.newest.processTs),
      },
    },
    requests: { count: hold.count, first: hold.first && { ...hold.first, status: hold.first.status as ReplayStatus } },
    permissions: { replayOriginal: { ...replayOriginal(actions) }, repair: { ...repair(actions) } },
    resolutionCode: facts.resolutionCode,
    resolvedByRepairId: facts.resolvedByRepairId,
    asOf: toIso(await loadNow(tx)),
  };
}

function toMember(
  { userId: _, ...member }: MemberRow,
  failedOrdinal: number | null,
): GetFailureResponse["events"][number] {
  return {
    ...member,
    payloadDigest: toWireDigest(member.payloadDigest),
    payloadAvailable: member.payloadStorage === "DATABASE_PLAIN",
    encryptedPayloadBytes: 0,
    failed: member.ordinal === failedOrdinal,
  };
}

function orderOf(scope: { scopeType: string; scopeKey: string; versions: readonly number[] }) {
  const version = scope.versions.at(-1);
  if (scope.scopeType === "GRAPH_ROOT") {
    return { rootInstanceId: scope.scopeKey, ...(version !== undefined && { graphRevision: version }) };
  }
  return version === undefined ? {} : { aggregateVersion: version };
}

type Gap = NonNullable<GetFailureResponse["errorDetails"]>;

/** Scope and versions of a gap; anything else that a row might hold is left behind. */
function gapOf(details: FailureFacts["errorDetails"]): Gap | null {
  if (details === null) return null;
  const { scopeType, scopeKey, expected, got } = details;
  return {
    ...(scopeType === "AGGREGATE" || scopeType === "GRAPH_ROOT" ? { scopeType } : {}),
    ...(typeof scopeKey === "string" ? { scopeKey } : {}),
    expected: typeof expected === "number" ? expected : null,
    got: typeof got === "number" ? got : null,
  };
}

/** A gap's own cause explains nothing; the earliest open failure of its scopes does. */
async function firstCauseOf(
  tx: Tx,
  hostId: string,
  row: FailureRow,
  lanes: GetFailureResponse["lanes"],
  toCause: Describer,
): Promise<GetFailureResponse["firstCause"]> {
  if (row.errorCode !== "REPLAY_GAP" || row.status !== "OPEN") return null;
  const heads = lanes.flatMap((lane) => lane.predecessors.slice(0, 1));
  const head = heads.find((p) => p.causeKey !== "REPLAY_GAP") ?? heads[0];
  const first = head === undefined ? null : await loadFailure(tx, hostId, head.failureId);
  if (first === null) return null;
  const key = causeKeyOf(causeFacts(first));
  const group = groupByCause(await loadRollup(tx, hostId, "OPEN")).find((g) => g.key === key);
  return {
    failureId: first.failureId,
    cause: toCause(causeFacts(first), first.executable),
    causeCount: group?.n ?? 1,
  };
}

function actionFacts(ctx: ReplayContext, row: FailureRow, members: readonly MemberRow[], hold: FailureHold) {
  const { registries } = ctx.projection;
  const entries = members.map((member) =>
    registries.version(member.policyRegistryVersion)?.find(member.eventType, member.schemaVersion ?? ""),
  );
  return {
    status: row.status,
    executable: row.executable,
    payloadAvailable: row.payloadAvailable,
    replayPolicy: row.replayPolicy,
    repairForms: entries.filter((entry) => entry?.repairSchema != null).length,
    ordered: row.replayPolicy === "GRAPH_ROOT" || row.replayPolicy === "AGGREGATE_VERSION",
    repairUnderWay: hold.repairUnderWay,
    executing: hold.first?.status === "INSTALLING_BARRIER" || hold.first?.status === "RUNNING",
    mayPlan: ctx.may("createEventReplayPlan"),
    mayRepair: ctx.may("createEventReplayRepair"),
  };
}
