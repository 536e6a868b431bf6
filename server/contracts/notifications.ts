import { z } from "zod";
import { count, text, uuid } from "./fields";
import { defineOperation } from "./operation";
import { instant, version } from "./read-fields";

/** The old notification page (reference §10, last paragraph). It tells outcomes; it is never a list of what can be replayed. */
export const notificationStatus = z.enum(["PENDING", "SUCCEEDED", "FAILED", "DLQ", "SKIPPED"]);

const optionalText = (max: number) => text(max).nullish();

export const getNotificationRequest = z.strictObject({
  hostId: uuid,
  offset: z.number().int().min(0).max(10_000).default(0),
  limit: z.number().int().min(1).max(200).default(25),
  /** JSON text of [{id, desc}]. */
  sorting: optionalText(2048),
  /** JSON text of [{id, value}]. */
  filters: optionalText(4096),
  globalFilter: optionalText(255),
  /** Ignored unless the caller may see the whole host. */
  userId: optionalText(64),
  nonce: z.union([z.number().int().min(0), z.string().max(20)]).nullish(),
  eventClass: optionalText(255),
  /** Comma list of statuses. */
  status: optionalText(64),
  /** Y = projected (SUCCEEDED), N = not projected, empty = any. */
  processFlag: z.enum(["Y", "N", ""]).nullish(),
  processTime: optionalText(64),
  /** Accepted and never matched: event JSON is not stored. */
  eventJson: optionalText(2048),
  /** Safe code, exact. */
  error: optionalText(128),
});
export type GetNotificationRequest = z.infer<typeof getNotificationRequest>;

export const notificationItem = z.strictObject({
  id: uuid,
  hostId: uuid,
  userId: uuid.nullable(),
  /** Decimal text when it exceeds what a JSON number holds exactly. */
  nonce: z.union([version, z.string().regex(/^\d{1,20}$/)]).nullable(),
  eventClass: z.string().max(255),
  status: notificationStatus,
  eventTs: instant.nullable(),
  processTs: instant,
  eventJson: z.null(),
  /** Safe code only. */
  error: z.string().max(128).nullable(),
  /** Our sentence for it. */
  errorSentence: z.string().max(240).nullable(),
  aggregateId: z.string().max(255).nullable(),
  aggregateType: z.string().max(255).nullable(),
  aggregateVersion: version.nullable(),
  eventPartition: count.nullable(),
  eventOffset: version.nullable(),
  transactionId: uuid.nullable(),
  readTs: instant.nullable(),
  /** The canonical failure of the same transaction: replay happens there, never here. */
  failureId: uuid.nullable(),
});
export type NotificationItem = z.infer<typeof notificationItem>;

export const getNotificationResponse = z.strictObject({
  notifications: z.array(notificationItem).max(200),
  total: count,
  /** True: more than 10,000 match, total is 10,001. */
  totalCapped: z.boolean(),
});
export type GetNotificationResponse = z.infer<typeof getNotificationResponse>;

export const getUnreadNotificationCountRequest = z.strictObject({ hostId: uuid, userId: optionalText(64) });
export type GetUnreadNotificationCountRequest = z.infer<typeof getUnreadNotificationCountRequest>;
export const getUnreadNotificationCountResponse = z.strictObject({ count });
export type GetUnreadNotificationCountResponse = z.infer<typeof getUnreadNotificationCountResponse>;

export const markFailureNotificationsReadRequest = z.strictObject({
  hostId: uuid,
  userId: optionalText(64),
  /** Absent: every unread failure of the caller. */
  ids: z.array(uuid).min(1).max(500).optional(),
});
export type MarkFailureNotificationsReadRequest = z.infer<typeof markFailureNotificationsReadRequest>;
export const markFailureNotificationsReadResponse = z.strictObject({ updated: count });
export type MarkFailureNotificationsReadResponse = z.infer<typeof markFailureNotificationsReadResponse>;

export const getNotification = defineOperation({
  name: "getNotification",
  kind: "query",
  summary: "List outcomes of events for the notification page; nothing in it can be replayed.",
  request: getNotificationRequest,
  response: getNotificationResponse,
  errors: [],
});

export const getUnreadNotificationCount = defineOperation({
  name: "getUnreadNotificationCount",
  kind: "query",
  summary: "Count the caller's unread FAILED and DLQ notifications.",
  request: getUnreadNotificationCountRequest,
  response: getUnreadNotificationCountResponse,
  errors: [],
});

/** A query on the wire, because the header menu of existing clients calls it by GET /portal/query?cmd= (reference §10.7). */
export const markFailureNotificationsRead = defineOperation({
  name: "markFailureNotificationsRead",
  kind: "query",
  summary: "Mark the caller's unread FAILED and DLQ notifications as read.",
  request: markFailureNotificationsReadRequest,
  response: markFailureNotificationsReadResponse,
  errors: [],
});
