import { z } from "zod";
import { causeGroup, failureCause } from "./failures";
import { consumerGroup, count, projectionName, uuid } from "./fields";
import { defineOperation } from "./operation";
import { cursorText, instant, scopeRef, scopeType, version } from "./read-fields";

/** Age at which a blocked scope is an incident (reference §7). */
export const BLOCKED_SCOPE_INCIDENT_SECONDS = 900;

export const listEventReplayBlockedScopeRequest = z.strictObject({
  hostId: uuid,
  projectionName: projectionName.optional(),
  consumerGroup: consumerGroup.optional(),
  scopeType: scopeType.optional(),
  pageSize: z.number().int().min(1).max(200).default(25),
  cursor: cursorText.optional(),
});
export type ListBlockedScopeRequest = z.infer<typeof listEventReplayBlockedScopeRequest>;

/** One scope that refuses commands, blocked since its oldest open failure. */
export const blockedScope = z.strictObject({
  ...scopeRef.shape,
  projectionName,
  consumerGroup,
  projectedVersion: version.nullable(),
  /** Open versions, ascending, at most 5 of openCount. */
  openVersions: z.array(z.strictObject({ version, failureId: uuid })).max(5),
  openCount: count,
  /** Appended after the open ones, not projected; null where the source is not our outbox. */
  laterAppended: count.nullable(),
  blockedSinceTs: instant,
  blockedSeconds: count,
  incident: z.boolean(),
  state: z.enum(["BLOCKED", "REPAIR_WAITING", "PLAN_WAITING", "PLAN_APPROVED", "RUNNING", "QUARANTINED"]),
  /** What it waits for, our words: "Nobody has acted". */
  waitsFor: z.string().max(120),
  /** Cause and id of its oldest open failure. */
  failureId: uuid,
  cause: failureCause,
});
export type BlockedScope = z.infer<typeof blockedScope>;

export const listEventReplayBlockedScopeResponse = z.strictObject({
  asOf: instant,
  total: count,
  totalCapped: z.boolean(),
  /** Blocked for 900 s or more. */
  incidentCount: count,
  items: z.array(blockedScope).max(200),
  nextCursor: cursorText.nullable(),
});
export type ListBlockedScopeResponse = z.infer<typeof listEventReplayBlockedScopeResponse>;

export const getEventReplayOverviewRequest = z.strictObject({ hostId: uuid });
export type GetOverviewRequest = z.infer<typeof getEventReplayOverviewRequest>;

export const getEventReplayOverviewResponse = z.strictObject({
  asOf: instant,
  /** open = sum of every cause = executable + evidence only. */
  totals: z.strictObject({
    open: count,
    openExecutable: count,
    openDiagnostic: count,
    resolved: count,
    waived: count,
    causes: count,
  }),
  capture: z.strictObject({
    state: z.enum(["HEALTHY", "DEGRADED", "STOPPED"]),
    sentence: z.string().max(240),
    /** Appended on this host's lane, not yet projected or captured. */
    outboxPending: count,
    /** Age of the oldest of them; 0 when there is none. */
    outboxLagSeconds: z.number().min(0),
    lastProgressTs: instant.nullable(),
    lastCaptureTs: instant.nullable(),
  }),
  blocked: z.strictObject({
    scopes: count,
    scopesCapped: z.boolean(),
    incidentScopes: count,
    incident: z.boolean(),
    thresholdSeconds: count,
    oldestSeconds: count,
    /** Scopes by age of their oldest open failure; adds up to scopes. */
    ageBuckets: z.strictObject({
      under60s: count,
      under300s: count,
      under900s: count,
      under3600s: count,
      over3600s: count,
    }),
    /** Open scope rows by the safe code of their failure; one scope may count under several codes. */
    byCode: z.array(z.strictObject({ code: z.string().max(128), scopes: count })).max(40),
    /** Oldest first. */
    top: z.array(blockedScope).max(10),
  }),
  barriers: z.strictObject({ active: count, quarantined: count, deferredTransactions: count }),
  archive: z.strictObject({
    /** Whole archive on disk, every host: that is what the limits guard. */
    bytesUsed: count,
    softBytes: count,
    hardBytes: count,
    state: z.enum(["OK", "SOFT", "HARD"]),
  }),
  /** Largest first. */
  causes: z.array(causeGroup).max(8),
  recentCaptures: z
    .array(
      z.strictObject({
        failureId: uuid,
        eventType: z.string().max(255),
        eventCount: count,
        projectionName,
        primaryScope: z.strictObject({ ...scopeRef.shape, version: version.nullable() }).nullable(),
        cause: failureCause,
        lastFailedTs: instant,
      }),
    )
    .max(6),
  /** The last one that left OPEN, for "everything projected". */
  lastResolved: z
    .strictObject({
      failureId: uuid,
      status: z.enum(["RESOLVED", "WAIVED"]),
      resolvedTs: instant,
      resolvedByRequestId: uuid.nullable(),
    })
    .nullable(),
  unreadFailureNotifications: count,
});
export type GetOverviewResponse = z.infer<typeof getEventReplayOverviewResponse>;

export const listEventReplayBlockedScope = defineOperation({
  name: "listEventReplayBlockedScope",
  kind: "query",
  summary: "List scopes that refuse commands, longest blocked first.",
  request: listEventReplayBlockedScopeRequest,
  response: listEventReplayBlockedScopeResponse,
  errors: [],
});

export const getEventReplayOverview = defineOperation({
  name: "getEventReplayOverview",
  kind: "query",
  summary: "Read the health of capture and archive, open failures by cause and blocked scopes.",
  request: getEventReplayOverviewRequest,
  response: getEventReplayOverviewResponse,
  errors: [],
});
