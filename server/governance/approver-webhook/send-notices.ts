import type { Pool } from "@/server/platform/db/pool";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { claimNotices, type DueNotice, enqueueNotices, recordAnswer } from "./delivery-repository";
import type { WebhookSettings } from "./settings";
import { signatureOf } from "./signature";

const BATCH = 10;
const TIMEOUT_MS = 10_000;

/**
 * One round: every plan that awaits approval gets a notice, due notices are posted, answers recorded. Delivery is at least
 * once: `X-Event-Admin-Delivery` is the same for every try of a notice. The body holds ids, numbers and times; no reason, event
 * or payload; the receiver's answer is not read. Returns how many were posted.
 */
export async function sendNotices(pool: Pool, settings: WebhookSettings): Promise<number> {
  const notices = await inTransaction(pool, "webhook-claim", async (tx) => {
    await enqueueNotices(tx);
    return await claimNotices(tx, BATCH);
  });
  for (const notice of notices) {
    const status = await post(settings, notice);
    await inTransaction(pool, "webhook-answer", (tx) => recordAnswer(tx, notice, status));
  }
  return notices.length;
}

/** HTTP status of the answer, or null when none came in time. Redirects aren't followed: the notice goes to one address. */
async function post(settings: WebhookSettings, notice: DueNotice): Promise<number | null> {
  const body = JSON.stringify(noticeBody(settings, notice));
  try {
    const response = await fetch(settings.url, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "content-type": "application/json",
        "x-event-admin-delivery": notice.deliveryId,
        "x-event-admin-signature": signatureOf(settings.secret, Math.floor(Date.now() / 1000), body),
      },
      body,
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

function noticeBody({ publicUrl }: WebhookSettings, notice: DueNotice): object {
  const page = `/event-replay/requests/${notice.replayRequestId}`;
  return {
    event: "event-replay.approval-requested",
    deliveryId: notice.deliveryId,
    attempt: notice.attempt,
    hostId: notice.hostId,
    replayRequestId: notice.replayRequestId,
    planHash: toWireDigest(notice.planHash),
    projectionName: notice.projectionName,
    transactionCount: notice.transactionCount,
    eventCount: notice.eventCount,
    requestedBy: notice.requestedBy,
    requestedTs: toIso(notice.requestedTs),
    expiresAt: toIso(notice.expiresTs),
    url: publicUrl === null ? page : new URL(page, publicUrl).href,
  };
}
