import { PLAN_LIMITS } from "@/server/contracts/plan-limits";
import type { CreatePlanRequest, CreatePlanResponse } from "@/server/contracts/replay";
import { repairApprovalFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { audit } from "@/server/governance/audit";
import { safePgError } from "@/server/platform/db/pg-errors";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { partitionOfHost } from "@/server/platform/ids";
import { isolationModeOf, planItems, planWarnings } from "./domain/build-plan";
import { closeOver, indexOpenWork } from "./domain/closure";
import { type Continuity, checkContinuity, missingVersions } from "./domain/gaps";
import { exceededLimit } from "./domain/limits";
import { orderFailures } from "./domain/order";
import { PLAN_CONTRACT_VERSION, PLAN_TTL_SECONDS, type PlanMetadata } from "./domain/plan";
import { planHash } from "./domain/plan-hash";
import { loadPlanFailures, type ProvenFailure, refuseHeaders } from "./load-plan-failures";
import { loadEligibleApprovers, requirePerson } from "./person-rules";
import { claimIdentity, planResponse, type RequestIdentity, requestIdentity } from "./repeated-request";
import {
  type FailureHeader,
  isRepairIntact,
  type LookedUpScope,
  loadGraphRevisions,
  loadHeaders,
  loadKnownVersions,
  loadOpenWork,
  loadProjectedOffset,
  loadQuarantineOwners,
  loadRepair,
  loadStandings,
  type RepairRow,
} from "./repository";
import { insertPlan } from "./request-repository";

/** Whole planning, on the process's monotonic clock (reference §7). */
const PLANNING_MS = 30_000;
/** Missing versions one refusal names. */
const MAX_MISSING = 100;

/**
 * Plans a named selection (ER-API-05): what runs, in which order, what has to come first, which scopes are held, where each
 * stands before and after. The plan is written whole or not at all, and nothing else is written: no event, repair or
 * projection (ER-PLN-23). EXECUTE awaits a second person; VALIDATE_ONLY stays READY, seen by nobody's inbox.
 */
export async function createEventReplayPlan(
  ctx: ReplayContext,
  request: CreatePlanRequest,
  planningMs: number = PLANNING_MS,
): Promise<CreatePlanResponse> {
  requirePerson(ctx);
  refuseRequest(ctx, request);
  const deadline = performance.now() + planningMs;
  try {
    return await inTransaction(ctx.pool, "createEventReplayPlan", (tx) => plan(tx, ctx, request, deadline), {
      statementTimeoutMs: planningMs,
    });
  } catch (error) {
    // One statement alone took the whole time: what was asked for is too much (ER-PLN-16).
    if (safePgError(error)?.sqlState === "57014") throw tooLarge("PLANNING_TIME");
    throw error;
  }
}

function refuseRequest(ctx: ReplayContext, request: CreatePlanRequest): void {
  const { projectionName, consumerGroup } = ctx.projection;
  if (request.projectionName !== projectionName || request.consumerGroup !== consumerGroup) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/projectionName", rule: "UNKNOWN_PROJECTION" }] });
  }
  if (request.validationMode === "ROLLBACK_DRY_RUN") {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/validationMode", rule: "NOT_SUPPORTED" }] });
  }
  if (new Set(request.failureIds).size > PLAN_LIMITS.transactions) throw tooLarge("TOO_MANY_TRANSACTIONS");
}

async function plan(
  tx: Tx,
  ctx: ReplayContext,
  request: CreatePlanRequest,
  deadline: number,
): Promise<CreatePlanResponse> {
  const identity = requestIdentity(ctx, request);
  const earlier = await claimIdentity(tx, ctx, identity);
  if (earlier) return earlier;
  const selected = [...new Set(request.failureIds)];
  const headers = await selectedHeaders(tx, ctx, selected);
  const repair = await bindRepair(tx, ctx.hostId, request.repairId ?? null);
  refuseHeaders(headers, repair?.failureId ?? null);
  const all = await closeHeaders(tx, ctx, request, headers, repair?.failureId ?? null);
  if (repair && !all.some((header) => header.failureId === repair.failureId)) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "/repairId", rule: "REPAIR_OF_ANOTHER_FAILURE" }] });
  }
  if (performance.now() > deadline) throw tooLarge("PLANNING_TIME");
  const exceeded = exceededLimit(all);
  if (exceeded) throw tooLarge(exceeded);
  const failures = await loadPlanFailures(tx, ctx.projection, ctx.hostId, all, {
    excludedEventTypes: readReplayConfig().excludedEventTypes,
    deadline,
  });
  return await writePlan(tx, ctx, request, identity, failures, new Set(selected), repair);
}

/** Of this host, else 404 for all alike; of this projection and group, since a plan is never shared (ER-PLN-25). */
async function selectedHeaders(tx: Tx, ctx: ReplayContext, selected: readonly string[]): Promise<FailureHeader[]> {
  const headers = await loadHeaders(tx, ctx.hostId, selected);
  const found = new Set(headers.map((header) => header.failureId));
  const absent = selected.filter((id) => !found.has(id));
  if (absent.length > 0) throw new AppError("FAILURE_NOT_FOUND", { failureIds: absent.sort() });
  const { projectionName, consumerGroup } = ctx.projection;
  const foreign = headers.filter((h) => h.projectionName !== projectionName || h.consumerGroup !== consumerGroup);
  if (foreign.length > 0) {
    throw new AppError("INVALID_REQUEST", {
      errors: [{ field: "/failureIds", rule: "OTHER_PROJECTION" }],
      failureIds: foreign.map((header) => header.failureId).sort(),
    });
  }
  return headers;
}

/** Only an approved repair whose corrected bytes are all there may change what runs (ER-PLN-02, ER-PLN-15). */
async function bindRepair(tx: Tx, hostId: string, repairId: string | null): Promise<RepairRow | null> {
  if (repairId === null) return null;
  const repair = await loadRepair(tx, hostId, repairId);
  if (!repair) throw new AppError("REPAIR_NOT_FOUND");
  if (repair.status !== "APPROVED") throw new AppError("REPAIR_NOT_APPROVED");
  if (!(await isRepairIntact(tx, hostId, repairId))) throw new AppError("PAYLOAD_DIGEST_MISMATCH");
  return repair;
}

async function closeHeaders(
  tx: Tx,
  ctx: ReplayContext,
  request: CreatePlanRequest,
  selected: FailureHeader[],
  repairedFailureId: string | null,
): Promise<FailureHeader[]> {
  const ordered = selected.some((header) => header.replayPolicy !== "TRANSACTION_ONLY");
  if (request.strategy === "EXACT" || !ordered) return selected;
  const open = indexOpenWork(
    await loadOpenWork(tx, ctx.hostId, ctx.projection),
    await loadQuarantineOwners(tx, ctx.hostId, ctx.projection),
  );
  const closure = closeOver(
    open,
    selected.map((header) => header.failureId),
  );
  if (closure.size > PLAN_LIMITS.transactions) throw tooLarge("CLOSURE_TOO_LARGE");
  const chosen = new Set(selected.map((header) => header.failureId));
  const added = await loadHeaders(
    tx,
    ctx.hostId,
    [...closure].filter((id) => !chosen.has(id)),
  );
  refuseHeaders(added, repairedFailureId);
  return [...selected, ...added];
}

function tooLarge(rule: string): AppError {
  return new AppError("REPLAY_LIMIT_EXCEEDED", { errors: [{ field: "/failureIds", rule }] });
}

async function writePlan(
  tx: Tx,
  ctx: ReplayContext,
  request: CreatePlanRequest,
  identity: RequestIdentity,
  failures: readonly ProvenFailure[],
  selected: ReadonlySet<string>,
  repair: RepairRow | null,
): Promise<CreatePlanResponse> {
  const { hostId, projection } = ctx;
  const ordered = orderFailures(failures);
  if (!ordered.ok) throw new AppError("REPLAY_GAP", { failureIds: ordered.stuck.map((f) => f.failureId).sort() });
  const continuity = await judgeContinuity(tx, ctx, failures, ordered.failures);
  await refuseForeignQuarantine(tx, ctx, continuity, failures);
  const items = planItems(ordered, selected);
  const added = items.filter((item) => item.addedDependency).length;
  const awaits = request.validationMode !== "VALIDATE_ONLY";
  const approvers = awaits ? await loadEligibleApprovers(tx, ctx, ctx.actor.personId) : [];
  const roots = continuity.scopes.filter((scope) => scope.scopeType === "GRAPH_ROOT");
  const partitionId = partitionOfHost(hostId);
  const metadata: PlanMetadata = {
    contractVersion: PLAN_CONTRACT_VERSION,
    isolationScope: {
      mode: isolationModeOf(continuity.scopes),
      projectionName: projection.projectionName,
      consumerGroup: projection.consumerGroup,
      rootInstanceIds: roots.map((scope) => scope.scopeKey),
    },
    scopes: continuity.scopes,
    partitionId,
    highWaterMarks: [{ partitionId, projectedOffset: await loadProjectedOffset(tx, projection, partitionId) }],
    graphRevisions: await loadGraphRevisions(
      tx,
      hostId,
      roots.map((scope) => ({ rootInstanceId: scope.scopeKey, projected: scope.before })),
    ),
    warnings: planWarnings(added, awaits, approvers.length),
    selectedTransactionCount: items.length - added,
    addedDependencyTransactionCount: added,
    requestFingerprint: identity.fingerprint,
  };
  const sum = (of: (failure: ProvenFailure) => number) => failures.reduce((total, failure) => total + of(failure), 0);
  const eventCount = sum((failure) => failure.eventCount);
  const payloadBytes = sum((failure) => failure.payloadBytes);
  const expiresTs = await expiry(tx);
  const hash = planHash({
    hostId,
    strategy: request.strategy,
    validationMode: request.validationMode,
    items: items.map(({ failure, addedDependency }) => ({
      failureId: failure.failureId,
      contentFingerprint: failure.contentFingerprint,
      addedDependency,
    })),
    metadata,
    policyRegistryVersion: projection.registries.current.version,
    eventCount,
    payloadBytes,
    expiresAt: toIso(expiresTs),
    repair: repair && {
      repairId: repair.repairId,
      approvalFingerprint: repairApprovalFingerprint(repair),
      originalFingerprint: repair.originalFingerprint,
      correctedFingerprint: repair.correctedFingerprint,
    },
  });
  await insertPlan(tx, {
    hostId,
    requestId: identity.requestId,
    request,
    requestedBy: ctx.actor.personId,
    policyRegistryVersion: projection.registries.current.version,
    repairSchemaVersion: repair?.repairSchemaVersion ?? null,
    metadata,
    planHash: hash,
    eventCount,
    payloadBytes,
    expiresTs,
    items,
    repair,
  });
  const record = {
    hostId,
    actor: { type: "USER", personId: ctx.actor.personId },
    replayRequestId: identity.requestId,
    reason: request.reason,
  } as const;
  const planned = { planHash: toWireDigest(hash), strategy: request.strategy, validationMode: request.validationMode };
  const failureIds = items.map((item) => item.failure.failureId);
  await audit(tx, { ...record, event: "EVENT_REPLAY_PLAN_CREATED", details: { ...planned, failureIds } });
  if (awaits) await audit(tx, { ...record, event: "EVENT_REPLAY_PLAN_APPROVAL_REQUESTED", details: planned });
  return await planResponse(tx, hostId, identity.requestId, false);
}

/** From each scope's projected version on, every version exactly once; else REPLAY_GAP with what is missing, by scope. */
async function judgeContinuity(
  tx: Tx,
  { hostId, projection }: ReplayContext,
  failures: readonly ProvenFailure[],
  ordered: Parameters<typeof checkContinuity>[0],
): Promise<Continuity> {
  const scopes = new Map<string, LookedUpScope>();
  for (const { lookUp, runs } of failures) {
    for (const scope of lookUp)
      scopes.set(scopeId(scope), { below: 0, ...scopes.get(scopeId(scope)), ...scope, above: -1 });
    for (const run of runs) {
      const scope = scopes.get(scopeId(run)) as LookedUpScope;
      scopes.set(scopeId(run), { ...scope, below: Math.max(scope.below, run.versions.at(-1) as number) });
    }
  }
  const projected = await loadStandings(tx, hostId, projection, [...scopes.values()]);
  const looked = [...scopes].map(([id, scope]) => ({ ...scope, above: projected.get(id) ?? -1 }));
  const planned = failures.map((failure) => failure.failureId);
  const continuity = checkContinuity(
    ordered,
    projected,
    await loadKnownVersions(tx, hostId, projection, looked, planned),
  );
  const { gaps, overlapping } = continuity;
  if (gaps.length > 0) {
    throw new AppError("REPLAY_GAP", {
      missing: missingVersions(gaps, MAX_MISSING),
      scopes: [...new Set(gaps.map((gap) => gap.key))].slice(0, MAX_MISSING),
      failureIds: [...new Set(gaps.flatMap((gap) => gap.known.map((known) => known.failureId)))].sort().slice(0, 500),
    });
  }
  if (overlapping.length > 0) throw new AppError("INVALID_REPLAY_STATE", { failureIds: [...overlapping].sort() });
  return continuity;
}

/**
 * A quarantine belongs to the plan that holds its owner (ER-ISO-10): without it the plan could be approved, but never run. The
 * refusal names the owners; the closure adds them by itself.
 */
async function refuseForeignQuarantine(
  tx: Tx,
  { hostId, projection }: ReplayContext,
  { scopes }: Continuity,
  failures: readonly ProvenFailure[],
): Promise<void> {
  const owners = await loadQuarantineOwners(tx, hostId, projection);
  const planned = new Set(failures.map((failure) => failure.failureId));
  const held = scopes.flatMap(({ scopeType: type, scopeKey: key }) => {
    const failureId = owners.get(scopeId({ type, key }));
    return failureId === undefined || planned.has(failureId) ? [] : [{ key, failureId }];
  });
  if (held.length === 0) return;
  throw new AppError("INVALID_REPLAY_STATE", {
    failureIds: [...new Set(held.map(({ failureId }) => failureId))].sort().slice(0, 500),
    scopes: held.map(({ key }) => key).slice(0, MAX_MISSING),
  });
}

/** The plan's end by the database's clock, in its own text: it runs on through approval and pauses (ER-PLN-18). */
async function expiry(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ expires_ts: string }>("SELECT now() + make_interval(secs => $1) AS expires_ts", [
    PLAN_TTL_SECONDS,
  ]);
  return (row as { expires_ts: string }).expires_ts;
}
