import type {
  GetUnreadNotificationCountRequest,
  GetUnreadNotificationCountResponse,
  MarkFailureNotificationsReadRequest,
  MarkFailureNotificationsReadResponse,
} from "@/server/contracts/notifications";
import { inTransaction } from "@/server/platform/db/transaction";
import type { OperationContext } from "@/server/platform/http/operation-context";
import { isCanonicalUuid } from "@/server/platform/ids";
import { countUnread, markRead } from "./repository";

/** Unread FAILED and DLQ notifications of the caller; a userId in the request changes nothing. */
export async function getUnreadNotificationCount(
  ctx: OperationContext,
  _request: GetUnreadNotificationCountRequest,
): Promise<GetUnreadNotificationCountResponse> {
  const { userId } = ctx.actor;
  if (!isCanonicalUuid(userId)) return { count: 0 };
  const count = await inTransaction(
    ctx.pool,
    "getUnreadNotificationCount",
    (tx) => countUnread(tx, ctx.hostId, userId),
    {
      readOnly: true,
    },
  );
  return { count };
}

/** Marks the caller's own unread FAILED and DLQ notifications as read, all or those named. Other users' rows never change. */
export async function markFailureNotificationsRead(
  ctx: OperationContext,
  request: MarkFailureNotificationsReadRequest,
): Promise<MarkFailureNotificationsReadResponse> {
  const { userId } = ctx.actor;
  if (!isCanonicalUuid(userId)) return { updated: 0 };
  const updated = await inTransaction(ctx.pool, "markFailureNotificationsRead", (tx) =>
    markRead(tx, ctx.hostId, userId, request.ids ?? null),
  );
  return { updated };
}
