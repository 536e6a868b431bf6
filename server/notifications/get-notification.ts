import { ERRORS } from "@/server/contracts/errors";
import type { GetNotificationRequest, GetNotificationResponse } from "@/server/contracts/notifications";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso, toIsoOrNull } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { isCanonicalUuid, partitionOfHost } from "@/server/platform/ids";
import { readQuery } from "./domain/notification-query";
import { countNotifications, loadNotifications, loadProjectedBelow, type NotificationRow } from "./repository";

const COUNT_CAP = 10_000;

/** The permission that lets a caller see every user's notifications of the host. */
export const SEE_EVERYONE = "getNotification:everyone";

/**
 * Outcomes of events, newest first (reference §10, last paragraph). Whoever may not see the whole host sees their own alone, whatever
 * userId they send. eventJson is always null. Nothing here can be replayed: a row of a captured transaction names its failure.
 */
export async function getNotification(
  ctx: ReplayContext,
  request: GetNotificationRequest,
): Promise<GetNotificationResponse> {
  const read = readQuery(request);
  if (!read.ok) throw new AppError("INVALID_REQUEST", { errors: [{ field: read.field, rule: "UNREADABLE" }] });
  const { query } = read;
  const userId = ctx.may(SEE_EVERYONE) ? query.userId : ctx.actor.userId;
  // A user id that is none, or a filter on what is never stored: no row can match, and the database need not be asked.
  if (query.impossible || (userId !== null && !isCanonicalUuid(userId)))
    return { notifications: [], total: 0, totalCapped: false };
  return await inTransaction(
    ctx.pool,
    "getNotification",
    async (tx) => {
      const partition = partitionOfHost(ctx.hostId);
      const { consumerGroup } = ctx.projection;
      const projectedBelow = await loadProjectedBelow(tx, consumerGroup, partition);
      const scope = { hostId: ctx.hostId, userId, consumerGroup, partition, projectedBelow };
      const rows = await loadNotifications(tx, scope, query, request.offset, request.limit);
      const total = await countNotifications(tx, scope, query, COUNT_CAP);
      return { notifications: rows.map((row) => toItem(ctx.hostId, row)), total, totalCapped: total > COUNT_CAP };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}

function toItem(hostId: string, row: NotificationRow): GetNotificationResponse["notifications"][number] {
  const nonce = row.nonce === null ? null : Number(row.nonce);
  return {
    ...row,
    hostId,
    nonce: nonce === null || Number.isSafeInteger(nonce) ? nonce : row.nonce,
    eventTs: toIsoOrNull(row.eventTs),
    processTs: toIso(row.processTs),
    eventJson: null,
    errorSentence: row.error === null ? null : sentenceOf(row.error),
    readTs: toIsoOrNull(row.readTs),
  };
}

function sentenceOf(code: string): string | null {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].sentence : null;
}
