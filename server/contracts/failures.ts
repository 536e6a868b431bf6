import { z } from "zod";
import { consumerGroup, count, projectionName, text, uuid, wireDigest } from "./fields";
import { defineOperation } from "./operation";
import { cursorText, failureStatus, hex64, instant, scopeKey, scopeRef, scopeType, version } from "./read-fields";
import { permission, replayStatus } from "./replay";

/**
 * Reads of canonical failures: what an operator finds, understands and selects. No answer holds a payload, event JSON, key,
 * header, storage reference or exception text; there is no member that could (reference §11.1, §11.2, ER-PAY-10).
 */
export const replayPolicy = z.enum(["GRAPH_ROOT", "AGGREGATE_VERSION", "TRANSACTION_ONLY", "NOT_REPLAYABLE"]);

/** What has to happen before such a failure is gone. `words` is the phrase lists show. */
export const wayOut = z.strictObject({
  code: z.enum([
    "FIX_THEN_REPLAY",
    "REPLAY_ORIGINAL",
    "COMES_BY_CLOSURE",
    "REPAIR",
    "REPLAY_OR_WAIVE",
    "REGISTER_AND_SEND_AGAIN",
    "NOT_REPLAYABLE",
  ]),
  words: z.string().max(120),
});

/**
 * Cause = (error code, SQLSTATE, constraint, else event type). `sentence` comes from our fixed catalogue, never from an
 * exception. `key` filters lists and groups.
 */
export const failureCause = z.strictObject({
  key: z.string().min(1).max(512),
  code: z.string().max(128).nullable(),
  sqlState: z.string().max(5).nullable(),
  constraint: z.string().max(63).nullable(),
  sentence: z.string().max(240),
  wayOut,
});
export type FailureCause = z.infer<typeof failureCause>;

const filterFields = {
  hostId: uuid,
  /** Absent: every projection of the host. */
  projectionName: projectionName.optional(),
  consumerGroup: consumerGroup.optional(),
  /** Several at once; narrows together with projectionName. */
  projectionNames: z.array(projectionName).min(1).max(20).optional(),
  status: failureStatus.default("OPEN"),
  /** Type of the member that failed. */
  eventType: text(255).min(1).optional(),
  errorCode: text(128).min(1).optional(),
  causeKey: text(512).min(1).optional(),
  scopeType: scopeType.optional(),
  /** Exact key; needs scopeType. */
  scopeKey: scopeKey.optional(),
  policy: replayPolicy.optional(),
  firstFailedAfter: instant.optional(),
  firstFailedBefore: instant.optional(),
  /** Id (failure, transaction, event; exact, or first 8+ characters of a failure id), scope key, event type or error code, exact or prefix. */
  search: text(1024).trim().min(1).optional(),
  /** Also rows kept as evidence only, which can never be replayed. */
  includeDiagnostic: z.boolean().default(false),
} as const;

const scopeKeyNeedsType = (r: { scopeKey?: string | undefined; scopeType?: string | undefined }) =>
  r.scopeKey === undefined || r.scopeType !== undefined;
const SCOPE_RULE = { path: ["scopeKey"], message: "scopeKey needs scopeType" };

/** PageSize bound and the farthest row that paging by number reaches: beyond it only the cursor is cheap (design §4). */
export const MAX_PAGE_SIZE = 200;
export const MAX_OFFSET = 10_000;
/** Totals that the rollup cannot answer are counted up to here; one more means "more than". */
export const COUNT_CAP = 10_000;

export const listEventReplayCandidateRequest = z
  .strictObject({
    ...filterFields,
    page: z.number().int().min(0).default(0),
    pageSize: z.number().int().min(1).max(MAX_PAGE_SIZE).default(25),
    cursor: cursorText.optional(),
    /** Which side of the cursor. Rows always come newest first. */
    direction: z.enum(["older", "newer"]).default("older"),
    sort: z.enum(["lastFailed", "firstFailed"]).default("lastFailed"),
    /** Instant the page was opened (`asOf` of its first answer): later rows stay out of the list and are counted in newerCount. */
    asOf: instant.optional(),
  })
  .refine(scopeKeyNeedsType, SCOPE_RULE)
  .refine((r) => r.page * r.pageSize <= MAX_OFFSET, { path: ["page"], message: "page * pageSize is at most 10000" })
  .refine((r) => r.cursor === undefined || r.page === 0, { path: ["page"], message: "page or cursor, not both" });
export type ListCandidateRequest = z.infer<typeof listEventReplayCandidateRequest>;

export const candidateItem = z.strictObject({
  failureId: uuid,
  status: failureStatus,
  projectionName,
  consumerGroup,
  originalTransactionId: z.string().max(255),
  eventCount: count,
  /** `first` is the type of the member that failed, else of member 0; `count` distinct types. */
  eventTypes: z.strictObject({ first: z.string().max(255), count }),
  replayPolicy,
  primaryScope: z.strictObject({ ...scopeRef.shape, version: version.nullable() }).nullable(),
  scopeCount: count,
  /** Scopes of this failure that refuse commands now: its own scopes while OPEN, else 0. */
  blockedScopes: count,
  firstFailedTs: instant,
  lastFailedTs: instant,
  failureCount: count,
  errorCode: z.string().max(128).nullable(),
  cause: failureCause,
  executable: z.boolean(),
  payloadAvailable: z.boolean(),
  encryptedPayloadBytes: count,
  decryptedPayloadBytes: count,
  resolvedTs: instant.nullable(),
  resolvedByRequestId: uuid.nullable(),
});
export type CandidateItem = z.infer<typeof candidateItem>;

export const listEventReplayCandidateResponse = z.strictObject({
  page: count,
  pageSize: count,
  /** Matching the filters now. Exact unless totalCapped, then COUNT_CAP + 1. */
  total: count,
  totalCapped: z.boolean(),
  totalSource: z.enum(["ROLLUP", "COUNT"]),
  /** Whole host, every projection, status OPEN, evidence-only rows included: "74 of 336 open". */
  openTotal: count,
  items: z.array(candidateItem).max(MAX_PAGE_SIZE),
  /** Position after the last item; null when nothing older matches. */
  olderCursor: cursorText.nullable(),
  /** Position before the first item; null when nothing newer matches up to asOf. */
  newerCursor: cursorText.nullable(),
  asOf: instant,
  /** Matching rows whose sort instant is after asOf, at most 1,000 counted. 0 when the request had no asOf. */
  newerCount: count,
});
export type ListCandidateResponse = z.infer<typeof listEventReplayCandidateResponse>;

export const listEventReplayCauseRequest = z
  .strictObject({ ...filterFields, limit: z.number().int().min(1).max(100).default(50) })
  .refine(scopeKeyNeedsType, SCOPE_RULE);
export type ListCauseRequest = z.infer<typeof listEventReplayCauseRequest>;

export const causeGroup = z.strictObject({
  cause: failureCause,
  count,
  /** Names sorted, at most 5 of `count`. */
  eventTypes: z.strictObject({ names: z.array(z.string().max(255)).max(5), count }),
  projections: z.array(projectionName).max(20),
  /** Distinct scopes this cause blocks. scopesCapped: only the newest 200 failures were looked at. */
  scopesBlocked: count,
  scopesCapped: z.boolean(),
  newestTs: instant,
  oldestTs: instant,
  /** First failures per hour among the newest 1,000, oldest hour first, the last one is the running hour. */
  arrivals: z.array(count).length(24),
});
export type CauseGroup = z.infer<typeof causeGroup>;

export const listEventReplayCauseResponse = z.strictObject({
  asOf: instant,
  /** Sum of every group, also those cut off by limit. */
  total: count,
  totalCapped: z.boolean(),
  openTotal: count,
  causeCount: count,
  /** Largest first, at most `limit` of causeCount. */
  groups: z.array(causeGroup).max(100),
});
export type ListCauseResponse = z.infer<typeof listEventReplayCauseResponse>;

export const listEventReplayCandidateIdsRequest = z
  .strictObject({
    ...filterFields,
    sort: z.enum(["lastFailed", "firstFailed"]).default("lastFailed"),
    asOf: instant.optional(),
    limit: z.number().int().min(1).max(10_000).default(10_000),
  })
  .refine(scopeKeyNeedsType, SCOPE_RULE);
export type ListCandidateIdsRequest = z.infer<typeof listEventReplayCandidateIdsRequest>;

/** A frozen selection: what matched at asOf, and nothing that matches later. */
export const listEventReplayCandidateIdsResponse = z.strictObject({
  asOf: instant,
  count,
  truncated: z.boolean(),
  failureIds: z.array(uuid).max(10_000),
});
export type ListCandidateIdsResponse = z.infer<typeof listEventReplayCandidateIdsResponse>;

/** Selection check: how a frozen selection stands now ("37 selected, 1 no longer open"). */
export const checkEventReplaySelectionRequest = z.strictObject({
  hostId: uuid,
  failureIds: z.array(uuid).min(1).max(10_000),
});
export type CheckSelectionRequest = z.infer<typeof checkEventReplaySelectionRequest>;
export const checkEventReplaySelectionResponse = z.strictObject({
  asOf: instant,
  open: count,
  /** Ids that are not OPEN on this host any more (or never were), at most 500 of `notOpen`. */
  notOpen: count,
  notOpenIds: z.array(uuid).max(500),
  /** Open ones that a plan holds which can still run or runs, each under one plan: the furthest. */
  plans: z.array(z.strictObject({ replayRequestId: uuid, failureIds: z.array(uuid).max(10_000) })).max(10_000),
  notExecutable: count,
  byCause: z.array(z.strictObject({ causeKey: z.string().max(512), count })).max(100),
  /** Where the open ones failed, most first: a plan holds failures of one projection and group. */
  projections: z.array(z.strictObject({ projectionName, consumerGroup, count })).max(100),
  /** Whether the caller may plan a replay; planning judges the failures themselves. */
  permissions: z.strictObject({ plan: permission }),
});
export type CheckSelectionResponse = z.infer<typeof checkEventReplaySelectionResponse>;

export const getEventReplayFailureRequest = z.strictObject({ hostId: uuid, failureId: uuid });
export type GetFailureRequest = z.infer<typeof getEventReplayFailureRequest>;

export const failureMember = z.strictObject({
  ordinal: count,
  eventId: z.string().max(255),
  eventType: z.string().max(255),
  schemaVersion: z.string().max(64).nullable(),
  aggregateId: z.string().max(255).nullable(),
  aggregateType: z.string().max(255).nullable(),
  aggregateVersion: version.nullable(),
  rootInstanceId: uuid.nullable(),
  graphRevision: version.nullable(),
  sourceProcessor: z.enum(["DATABASE", "KAFKA"]),
  sourceTopic: z.string().max(255).nullable(),
  sourcePartition: count.nullable(),
  sourceOffset: version,
  payloadDigest: wireDigest,
  payloadAvailable: z.boolean(),
  payloadStorage: z.enum(["DATABASE_PLAIN", "DATABASE", "OBJECT", "DELETED"]),
  encryptedPayloadBytes: count,
  decryptedPayloadBytes: count,
  sensitivePayload: z.boolean(),
  policyRegistryVersion: z.string().max(64),
  /** The failing member: where the projection stopped. */
  failed: z.boolean(),
});

/** One lane of the score: where the projection stands and what is open in this scope. */
export const failureLane = z.strictObject({
  ...scopeRef.shape,
  /** Null: nothing of this scope has been projected. */
  projectedVersion: version.nullable(),
  /** Versions this transaction writes here, ascending. */
  ownVersions: z.array(version).max(500),
  /** Open failures that write an earlier version, oldest version first, at most 50 of predecessorCount. */
  predecessors: z
    .array(z.strictObject({ failureId: uuid, version, causeKey: z.string().max(512), eventType: z.string().max(255) }))
    .max(50),
  predecessorCount: count,
  /** Open failures that write a later version. */
  successorCount: count,
  /** Appended later, neither projected nor captured yet; null where the source is not our outbox. */
  laterAppended: count.nullable(),
});

export const failureDelivery = z.strictObject({
  sourceProcessor: z.enum(["DATABASE", "KAFKA"]),
  topic: z.string().max(255).nullable(),
  partition: count.nullable(),
  firstOffset: version.nullable(),
  lastOffset: version.nullable(),
  observationCount: count,
  firstObservedTs: instant,
  lastObservedTs: instant,
});

export const timelineEntry = z.strictObject({
  ts: instant,
  kind: z.enum(["CAPTURED", "DELIVERED_AGAIN", "REPLAYED", "RESOLVED", "WAIVED"]),
  /** Our own sentence, no value of the event. */
  sentence: z.string().max(240),
  /** The request that the sentence names, of REPLAYED. */
  replayRequestId: uuid.optional(),
});

export const getEventReplayFailureResponse = z.strictObject({
  ...candidateItem.shape,
  hostId: uuid,
  userIds: z.array(uuid).max(50),
  contentFingerprint: hex64,
  /** One object a scope. `mode` is what unmodified clients read; equal to scopeType. */
  dependencyScopes: z
    .array(
      z.strictObject({
        mode: z.enum(["AGGREGATE", "GRAPH_ROOT"]),
        ...scopeRef.shape,
        rootInstanceId: uuid.optional(),
        graphRevision: version.optional(),
        aggregateVersion: version.optional(),
        status: failureStatus,
        /** Held since a replay failed: a plan, not a fix alone, frees it. */
        quarantined: z.boolean(),
      }),
    )
    .max(500),
  errorType: z.string().max(255).nullable(),
  /** The cause's sentence, with expected and actual versions filled in. Never exception text. */
  errorMessage: z.string().max(2048).nullable(),
  errorDetails: z
    .strictObject({
      scopeType: scopeType.optional(),
      scopeKey: scopeKey.optional(),
      expected: version.nullable(),
      got: version.nullable(),
    })
    .nullable(),
  failedOrdinal: count.nullable(),
  policyRegistryVersion: z.string().max(64),
  legalHold: z.boolean(),
  events: z.array(failureMember).max(5000),
  /** At most 50 of laneCount, in canonical scope order. */
  lanes: z.array(failureLane).max(50),
  laneCount: count,
  /** Distinct open failures that come first, over the lanes shown, one step (a plan follows them to the end). */
  openPredecessorCount: count,
  /** For a gap: the failure that opened it, when it is still open. */
  firstCause: z.strictObject({ failureId: uuid, cause: failureCause, causeCount: count }).nullable(),
  deliveries: z.array(failureDelivery).max(50),
  deliveryCount: count,
  /** Newest first. */
  timeline: z.array(timelineEntry).max(200),
  /** Rows of the notification page that tell of the same transaction. For reading only. */
  notifications: z.strictObject({
    count,
    newest: z.strictObject({ notificationId: uuid, status: z.string().max(16), processTs: instant }).nullable(),
  }),
  /** Replay requests that hold it, previews left out; `first` is the one being executed, else the one that waits, else the newest. */
  requests: z.strictObject({
    count,
    first: z.strictObject({ replayRequestId: uuid, status: replayStatus }).nullable(),
  }),
  permissions: z.strictObject({ replayOriginal: permission, repair: permission }),
  resolutionCode: z.string().max(64).nullable(),
  resolvedByRepairId: uuid.nullable(),
  asOf: instant,
});
export type GetFailureResponse = z.infer<typeof getEventReplayFailureResponse>;

export const listEventReplayCandidate = defineOperation({
  name: "listEventReplayCandidate",
  kind: "query",
  summary: "List canonical failures of the host, newest first, with filters and a stable cursor.",
  request: listEventReplayCandidateRequest,
  response: listEventReplayCandidateResponse,
  errors: [],
});

export const listEventReplayCause = defineOperation({
  name: "listEventReplayCause",
  kind: "query",
  summary: "Group matching failures by cause.",
  request: listEventReplayCauseRequest,
  response: listEventReplayCauseResponse,
  errors: [],
});

export const listEventReplayCandidateIds = defineOperation({
  name: "listEventReplayCandidateIds",
  kind: "query",
  summary: "Freeze the ids of every matching failure.",
  request: listEventReplayCandidateIdsRequest,
  response: listEventReplayCandidateIdsResponse,
  errors: [],
});

export const checkEventReplaySelection = defineOperation({
  name: "checkEventReplaySelection",
  kind: "query",
  summary: "Tell how a frozen selection of failures stands now.",
  request: checkEventReplaySelectionRequest,
  response: checkEventReplaySelectionResponse,
  errors: [],
});

export const getEventReplayFailure = defineOperation({
  name: "getEventReplayFailure",
  kind: "query",
  summary: "Read one failure: why, what comes first, members, deliveries, and what may be done.",
  request: getEventReplayFailureRequest,
  response: getEventReplayFailureResponse,
  errors: ["FAILURE_NOT_FOUND"],
});
