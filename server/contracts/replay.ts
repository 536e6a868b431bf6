import { z } from "zod";
import { consumerGroup, count, projectionName, text, uuid, wireDigest } from "./fields";
import { defineOperation } from "./operation";
import { failureStatus, hex64, instant, scopeKey, scopeRef, version } from "./read-fields";
import { staleReason } from "./stale-reason";

/**
 * Recovery by replay: plan, second person, execute, proof (reference §11.3 to §11.8). A plan is immutable and bound by its
 * hash; whoever approves or executes sends the hash they saw. No answer holds a payload, key, header or exception text.
 */
export const selectionStrategy = z.enum(["EXACT", "DEPENDENCY_CLOSURE"]);
export type SelectionStrategy = z.infer<typeof selectionStrategy>;
export const validationMode = z.enum(["VALIDATE_ONLY", "ROLLBACK_DRY_RUN", "EXECUTE"]);
export type ValidationMode = z.infer<typeof validationMode>;
export const replayStatus = z.enum([
  "PLANNING",
  "READY",
  "AWAITING_APPROVAL",
  "APPROVED",
  "INSTALLING_BARRIER",
  "RUNNING",
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
]);
export type ReplayStatus = z.infer<typeof replayStatus>;

/** Why a person does it: 1 to 2,048 characters after trimming, kept in the audit record (ER-APR-10). */
export const reason = text(2_500).trim().min(1).max(2_048);

const personId = z.string().min(1).max(255);
const code = z.string().max(128);

/** `reason`: why not, in our words; null when allowed. */
export const permission = z.strictObject({ allowed: z.boolean(), reason: z.string().max(240).nullable() });
export type Permission = z.infer<typeof permission>;

export const planWarning = z.strictObject({
  code: z.enum(["DEPENDENCY_CLOSURE_EXPANDED", "NO_ELIGIBLE_APPROVER"]),
  message: z.string().max(240),
});

/** What a plan holds while it runs. `mode` is the coarsest kind of its scopes; the scopes stand in `lanes`. */
export const isolationScope = z.strictObject({
  mode: z.enum(["GRAPH_ROOT", "AGGREGATE", "TRANSACTION_ONLY"]),
  projectionName,
  consumerGroup,
  rootInstanceIds: z.array(uuid).max(5_000),
});

export const createEventReplayPlanRequest = z.strictObject({
  hostId: uuid,
  projectionName,
  consumerGroup,
  /** A named selection, in any order; doubles count once. There is no "all": more than 500 is REPLAY_LIMIT_EXCEEDED. */
  failureIds: z.array(uuid).min(1).max(10_000),
  strategy: selectionStrategy,
  validationMode,
  reason,
  repairId: uuid.nullish(),
  /** The same key of the same person answers with the plan it made before; other contents under it are INVALID_REQUEST. */
  idempotencyKey: text(128).trim().min(1).optional(),
});
export type CreatePlanRequest = z.output<typeof createEventReplayPlanRequest>;

export const createEventReplayPlanResponse = z.strictObject({
  replayRequestId: uuid,
  /** AWAITING_APPROVAL; READY for VALIDATE_ONLY, which nobody approves. A repeated request answers with the status of now. */
  status: replayStatus,
  planHash: wireDigest,
  selectedTransactionCount: count,
  addedDependencyTransactionCount: count,
  transactionCount: count,
  eventCount: count,
  strategy: selectionStrategy,
  validationMode,
  projectionCommitted: z.boolean(),
  isolationScope,
  warnings: z.array(planWarning).max(20),
  expiresAt: instant,
  repairId: uuid.nullable(),
  decryptedPayloadBytes: count,
  scopeCount: count,
  /** An equal request was already planned (double click, retry after a lost answer); this is that plan. */
  repeated: z.boolean(),
});
export type CreatePlanResponse = z.output<typeof createEventReplayPlanResponse>;

export const getEventReplayRequest = z.strictObject({ hostId: uuid, replayRequestId: uuid });
export type GetReplayRequest = z.output<typeof getEventReplayRequest>;

export const person = z.strictObject({
  personId,
  /** As last seen at sign-in; null for somebody never seen here. For display alone. */
  name: z.string().max(255).nullable(),
  isYou: z.boolean(),
});

export const replayItem = z.strictObject({
  ordinal: count,
  failureId: uuid,
  expectedContentFingerprint: hex64,
  dependencyReason: z.string().max(1024),
  addedDependency: z.boolean(),
  status: z.enum(["PENDING", "RUNNING", "SUCCEEDED", "FAILED"]),
  attemptCount: count,
  repairId: uuid.nullable(),
  originalTransactionId: z.string().max(255),
  eventCount: count,
  eventTypes: z.strictObject({ first: z.string().max(255), count }),
  /** How the failure itself stands now, and the code it was captured with. */
  failureStatus,
  errorCode: code.nullable(),
  /** What it writes, in canonical scope order; empty for an unordered transaction. */
  scopes: z.array(z.strictObject({ ...scopeRef.shape, firstVersion: version, lastVersion: version })).max(10_000),
  /** Ordinals of the items of this plan that have to run before it, one step. */
  needs: z.array(count).max(500),
});
export type ReplayItem = z.output<typeof replayItem>;

export const replayAttempt = z.strictObject({
  itemOrdinal: count,
  attemptNumber: count,
  workerId: z.string().max(255),
  result: z.enum(["RUNNING", "SUCCEEDED", "FAILED", "ABANDONED"]),
  projectionCommitted: z.boolean(),
  startedTs: instant,
  completedTs: instant.nullable(),
  errorCode: code.nullable(),
  /** Our own sentence, never exception text. */
  errorMessage: z.string().max(2048).nullable(),
});

export const replayBarrier = z.strictObject({
  barrierId: uuid,
  scopeType: z.string().max(32),
  scopeKey,
  state: z.enum(["INSTALLING", "ACTIVE", "DRAINING", "QUARANTINED"]),
  ownerType: z.enum(["REPLAY_REQUEST", "FAILURE_QUARANTINE"]),
  barrierEpoch: count,
  quarantineFailureId: uuid.nullable(),
  installedTs: instant,
  releasedTs: instant.nullable(),
  /** Live transactions parked behind it and not drained. */
  parked: count,
});

/** The proof of one scope: where it stood at planning, where the plan leads, where it stands now. */
export const replayLane = z.strictObject({
  ...scopeRef.shape,
  /** Null: nothing of the scope was projected. */
  beforeVersion: version.nullable(),
  afterVersion: version,
  nowVersion: version.nullable(),
  /** Newest version in our event store; null where the source is not our store. More than afterVersion is live work that waits. */
  appendedVersion: version.nullable(),
  /** Parked behind its barrier now. */
  parked: count,
  verdict: z.enum(["UNCHANGED", "PARTLY_DONE", "AS_PLANNED", "MOVED_ON", "MOVED_OTHERWISE"]),
  /** Ordinals of the items that write it, in plan order. */
  items: z.array(count).max(500),
});
export type ReplayLane = z.output<typeof replayLane>;

export const planMetadata = z.strictObject({
  contractVersion: z.string().max(64),
  isolationScope,
  scopes: z
    .array(z.strictObject({ ...scopeRef.shape, beforeVersion: version.nullable(), afterVersion: version }))
    .max(10_000),
  partitionId: count,
  highWaterMarks: z.array(z.strictObject({ partitionId: count, projectedOffset: version })).max(16),
  warnings: z.array(planWarning).max(20),
  selectedTransactionCount: count,
  addedDependencyTransactionCount: count,
});

export const getEventReplayResponse = z.strictObject({
  replayRequestId: uuid,
  hostId: uuid,
  projectionName,
  consumerGroup,
  strategy: selectionStrategy,
  validationMode,
  reason: z.string().max(2048),
  /** Null only while PLANNING or for planning that failed. */
  planHash: wireDigest.nullable(),
  planMetadata: planMetadata.nullable(),
  status: replayStatus,
  transactionCount: count,
  selectedTransactionCount: count,
  addedDependencyTransactionCount: count,
  eventCount: count,
  encryptedPayloadBytes: count,
  decryptedPayloadBytes: count,
  policyRegistryVersion: z.string().max(64),
  requestedBy: personId,
  requestedTs: instant,
  approvedBy: personId.nullable(),
  approvedTs: instant.nullable(),
  startedBy: personId.nullable(),
  startedTs: instant.nullable(),
  completedTs: instant.nullable(),
  expiresAt: instant,
  /** Until `expiresAt` by the database's clock; 0 when it is past. */
  expiresInSeconds: count,
  failureCode: code.nullable(),
  failureMessage: z.string().max(2048).nullable(),
  /** Derived: an intent or a run whose lease is past, or that gave its lease back. Only then may somebody try again. */
  retryable: z.boolean(),
  leaseOwner: z.string().max(255).nullable(),
  leaseExpiresAt: instant.nullable(),
  isolationMode: z.string().max(32).nullable(),
  /** True only for SUCCEEDED in mode EXECUTE; a partly done request never claims it. */
  projectionCommitted: z.boolean(),
  repairId: uuid.nullable(),
  repairStatus: z.enum(["AWAITING_APPROVAL", "APPROVED", "REJECTED", "CANCELLED", "APPLIED"]).nullable(),
  /** The scopes or failures moved since planning: nobody can approve or execute it any more. False once it has ended. */
  stale: z.boolean(),
  staleReasons: z.array(staleReason).max(20),
  items: z.array(replayItem).max(500),
  /** Adds up: pending + running + succeeded + failed = transactionCount. */
  totals: z.strictObject({ pending: count, running: count, succeeded: count, failed: count }),
  attempts: z.array(replayAttempt).max(2_000),
  barriers: z.array(replayBarrier).max(10_000),
  deferred: z.strictObject({
    /** Parked now under its barriers. */
    count,
    decryptedPayloadBytes: count,
    encryptedBytes: count,
    drained: count,
    failed: count,
    capacityState: z.enum(["NORMAL"]),
  }),
  publication: z.strictObject({ count, encryptedBytes: count }),
  lanes: z.array(replayLane).max(10_000),
  warnings: z.array(planWarning).max(20),
  people: z.strictObject({
    requester: person,
    approver: person.nullable(),
    executor: person.nullable(),
    /** Persons seen on this host whose roles may approve it, the requester left out. At most 20. */
    eligibleApprovers: z.array(person).max(20),
  }),
  /** What the caller may do now, and if not, why. */
  permissions: z.strictObject({ approve: permission, execute: permission, cancel: permission }),
  /** Newest first, at most 200: who did what and why. */
  history: z
    .array(
      z.strictObject({
        ts: instant,
        event: code,
        actorType: z.enum(["USER", "WORKER", "SYSTEM"]),
        actorId: personId,
        actorName: z.string().max(255).nullable(),
        reason: z.string().max(2048).nullable(),
      }),
    )
    .max(200),
  asOf: instant,
});
export type GetReplayResponse = z.output<typeof getEventReplayResponse>;

const decisionRequest = { hostId: uuid, replayRequestId: uuid, planHash: wireDigest, reason } as const;

export const approveEventReplayRequest = z.strictObject(decisionRequest);
export type ApproveReplayRequest = z.output<typeof approveEventReplayRequest>;
export const approveEventReplayResponse = z.strictObject({
  replayRequestId: uuid,
  status: replayStatus,
  approvedBy: personId,
  approvedTs: instant,
});

export const cancelEventReplayRequest = z.strictObject(decisionRequest);
export type CancelReplayRequest = z.output<typeof cancelEventReplayRequest>;
export const cancelEventReplayResponse = z.strictObject({ replayRequestId: uuid, status: replayStatus });

export const executeEventReplayRequest = z.strictObject(decisionRequest);
export type ExecuteReplayRequest = z.output<typeof executeEventReplayRequest>;
/** The durable state of the request when the answer was written, whatever the call itself did. */
export const executeEventReplayResponse = z.strictObject({
  replayRequestId: uuid,
  status: replayStatus,
  retryable: z.boolean(),
  failureCode: code.nullable(),
});
export type ExecuteReplayResponse = z.output<typeof executeEventReplayResponse>;

export const processEventReplayRequest = z.strictObject({ hostId: uuid, replayRequestId: uuid, planHash: wireDigest });
export type ProcessReplayRequest = z.output<typeof processEventReplayRequest>;
export const processEventReplayResponse = z.strictObject({
  ...executeEventReplayResponse.shape,
  leaseExpiresAt: instant.nullable(),
});
export type ProcessReplayResponse = z.output<typeof processEventReplayResponse>;

export const createEventReplayPlan = defineOperation({
  name: "createEventReplayPlan",
  human: true,
  kind: "command",
  summary: "Plan the replay of named failures: order, closure, scopes, hash, expiry.",
  request: createEventReplayPlanRequest,
  response: createEventReplayPlanResponse,
  errors: [
    "FAILURE_NOT_FOUND",
    "REPAIR_NOT_FOUND",
    "REPAIR_NOT_APPROVED",
    "REPLAY_GAP",
    "EVENT_NOT_REPLAYABLE",
    "EVENT_REPAIR_REQUIRED",
    "UNSUPPORTED_EVENT_TYPE",
    "UNSUPPORTED_PAYLOAD_VERSION",
    "TRANSACTION_INCOMPLETE",
    "PAYLOAD_UNAVAILABLE",
    "PAYLOAD_DIGEST_MISMATCH",
    "INVALID_REPLAY_STATE",
  ],
});

export const getEventReplay = defineOperation({
  name: "getEventReplay",
  kind: "query",
  summary: "Read one replay request: plan, persons, progress, proof, and what may be done.",
  request: getEventReplayRequest,
  response: getEventReplayResponse,
  errors: ["REQUEST_NOT_FOUND"],
});

export const approveEventReplay = defineOperation({
  name: "approveEventReplay",
  human: true,
  kind: "command",
  summary: "Approve the plan with exactly this hash, as a second person.",
  request: approveEventReplayRequest,
  response: approveEventReplayResponse,
  errors: ["REQUEST_NOT_FOUND", "STALE_PLAN", "INVALID_REPLAY_STATE"],
});

export const cancelEventReplay = defineOperation({
  name: "cancelEventReplay",
  human: true,
  kind: "command",
  summary: "Cancel a plan that has not started.",
  request: cancelEventReplayRequest,
  response: cancelEventReplayResponse,
  errors: ["REQUEST_NOT_FOUND", "STALE_PLAN", "INVALID_REPLAY_STATE"],
});

export const executeEventReplay = defineOperation({
  name: "executeEventReplay",
  human: true,
  kind: "command",
  summary: "Execute an approved plan, or retry one whose executor is gone.",
  request: executeEventReplayRequest,
  response: executeEventReplayResponse,
  errors: [
    "REQUEST_NOT_FOUND",
    "STALE_PLAN",
    "INVALID_REPLAY_STATE",
    "REPLAY_EXECUTION_PAUSED",
    "REPLAY_EXECUTION_IN_PROGRESS",
    "REPLAY_EXECUTION_UNAVAILABLE",
    "LEASE_LOST",
    "PAUSE_TIMEOUT",
    "EVENT_NOT_REPLAYABLE",
  ],
});

export const processEventReplay = defineOperation({
  name: "processEventReplay",
  human: true,
  kind: "query",
  summary: "Run a committed intent to execute; called by executeEventReplay with the caller's token.",
  request: processEventReplayRequest,
  response: processEventReplayResponse,
  errors: [
    "REQUEST_NOT_FOUND",
    "STALE_PLAN",
    "INVALID_REPLAY_STATE",
    "REPLAY_EXECUTION_PAUSED",
    "REPLAY_EXECUTION_IN_PROGRESS",
    "REPLAY_EXECUTION_UNAVAILABLE",
    "LEASE_LOST",
    "PAUSE_TIMEOUT",
    "EVENT_NOT_REPLAYABLE",
  ],
});
