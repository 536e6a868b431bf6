import { z } from "zod";
import { consumerGroup, count, projectionName, uuid, wireDigest } from "./fields";
import { defineOperation } from "./operation";
import { cursorText, instant } from "./read-fields";
import { permission, person, replayStatus, selectionStrategy, validationMode } from "./replay";

/**
 * The three views are a partition of what awaits approval: waiting for me, mine waiting for others, not mine to decide. ALL
 * is every request of the host but previews.
 */
export const replayView = z.enum(["ALL", "WAITING_FOR_ME", "MINE_WAITING", "NOT_MINE"]);

export const listEventReplayRequest = z.strictObject({
  hostId: uuid,
  view: replayView.default("ALL"),
  /** Narrows ALL. */
  statuses: z.array(replayStatus).min(1).max(10).optional(),
  /** Requests that hold this failure. */
  failureId: uuid.optional(),
  /** VALIDATE_ONLY plans too, which nobody approves. */
  includePreviews: z.boolean().default(false),
  pageSize: z.number().int().min(1).max(200).default(25),
  cursor: cursorText.optional(),
});
export type ListReplayRequest = z.output<typeof listEventReplayRequest>;

export const replayListItem = z.strictObject({
  replayRequestId: uuid,
  status: replayStatus,
  projectionName,
  consumerGroup,
  strategy: selectionStrategy,
  validationMode,
  reason: z.string().max(2048),
  planHash: wireDigest.nullable(),
  transactionCount: count,
  selectedTransactionCount: count,
  addedDependencyTransactionCount: count,
  eventCount: count,
  scopeCount: count,
  requester: person,
  approver: person.nullable(),
  requestedTs: instant,
  completedTs: instant.nullable(),
  expiresAt: instant,
  expiresInSeconds: count,
  succeededCount: count,
  failedCount: count,
  failureCode: z.string().max(128).nullable(),
  stale: z.boolean(),
  retryable: z.boolean(),
  /** Whether the caller may approve it, and if not, why. */
  approve: permission,
});
export type ReplayListItem = z.output<typeof replayListItem>;

export const listEventReplayResponse = z.strictObject({
  asOf: instant,
  /** Of this view and filters, at most 10,000 counted. */
  total: count,
  totalCapped: z.boolean(),
  /** Open decisions of the host by view; they add up to what awaits approval. */
  counts: z.strictObject({ waitingForMe: count, mineWaiting: count, notMine: count }),
  /** Waiting views: soonest deadline first. ALL: newest first. */
  items: z.array(replayListItem).max(200),
  /** MINE_WAITING: persons seen on this host whose roles may approve what the caller asked for, at most 20. Else empty. */
  eligibleApprovers: z.array(person).max(20),
  nextCursor: cursorText.nullable(),
});
export type ListReplayResponse = z.output<typeof listEventReplayResponse>;

export const listEventReplay = defineOperation({
  name: "listEventReplay",
  kind: "query",
  summary: "List replay requests, or the inbox: what waits for whom, and why.",
  request: listEventReplayRequest,
  response: listEventReplayResponse,
  errors: [],
});
