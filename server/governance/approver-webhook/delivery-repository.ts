import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";

/** Tries of one notice; the waits double from 5 s to an hour, together about four hours. */
export const MAX_ATTEMPTS = 14;

/** A plan that awaits approval, as its notice tells it: ids, numbers and times. */
export type DueNotice = {
  readonly hostId: string;
  readonly replayRequestId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly planHash: string;
  readonly projectionName: string;
  readonly transactionCount: number;
  readonly eventCount: number;
  readonly requestedBy: string;
  readonly requestedTs: string;
  readonly expiresTs: string;
};

/** One row for every plan that awaits approval and has none. Index: requests by status. */
export async function enqueueNotices(tx: Tx): Promise<void> {
  const rows = await tx.query<{ host_id: string; replay_request_id: string }>(
    `SELECT r.host_id, r.replay_request_id FROM event_replay_request_t r
      WHERE r.status = 'AWAITING_APPROVAL' AND r.expires_ts > now() AND NOT EXISTS (
        SELECT FROM webhook_delivery_t d WHERE d.host_id = r.host_id AND d.replay_request_id = r.replay_request_id)
      ORDER BY r.host_id, r.replay_request_id LIMIT 500`,
  );
  if (rows.length === 0) return;
  await tx.execute(
    `INSERT INTO webhook_delivery_t (host_id, replay_request_id, delivery_id)
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) ON CONFLICT (host_id, replay_request_id) DO NOTHING`,
    [rows.map((row) => row.host_id), rows.map((row) => row.replay_request_id), rows.map(() => newId())],
  );
}

/**
 * Takes due notices for one try each: the next try is booked before this one is made, so a sender that dies loses nothing and
 * several senders never make the same try. A notice whose plan awaits nobody any more ends unsent.
 */
export async function claimNotices(tx: Tx, take: number): Promise<DueNotice[]> {
  await tx.execute(
    `UPDATE webhook_delivery_t d SET status = 'GIVEN_UP', completed_ts = now()
       FROM event_replay_request_t r
      WHERE d.status = 'PENDING' AND d.next_attempt_ts <= now() AND r.host_id = d.host_id
        AND r.replay_request_id = d.replay_request_id
        AND (r.status <> 'AWAITING_APPROVAL' OR r.expires_ts <= now() OR d.attempt_count >= $1)`,
    [MAX_ATTEMPTS],
  );
  return await tx.query<DueNotice>(
    `UPDATE webhook_delivery_t d
        SET attempt_count = d.attempt_count + 1,
            next_attempt_ts = now() + least(interval '1 hour', interval '5 seconds' * power(2, d.attempt_count))
       FROM event_replay_request_t r
      WHERE r.host_id = d.host_id AND r.replay_request_id = d.replay_request_id AND (d.host_id, d.replay_request_id) IN (
        SELECT host_id, replay_request_id FROM webhook_delivery_t WHERE status = 'PENDING' AND next_attempt_ts <= now()
         ORDER BY next_attempt_ts LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING d.host_id AS "hostId", d.replay_request_id AS "replayRequestId", d.delivery_id AS "deliveryId",
       d.attempt_count AS attempt, r.plan_hash AS "planHash", r.projection_name AS "projectionName",
       r.transaction_count AS "transactionCount", r.event_count AS "eventCount", r.requested_by AS "requestedBy",
       r.requested_ts AS "requestedTs", r.expires_ts AS "expiresTs"`,
    [take],
  );
}

/** Records an answer; only 2xx ends the notice. */
export async function recordAnswer(tx: Tx, notice: DueNotice, httpStatus: number | null): Promise<void> {
  const delivered = httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
  await tx.execute(
    `UPDATE webhook_delivery_t SET last_http_status = $3, status = CASE WHEN $4 THEN 'DELIVERED' ELSE status END,
            completed_ts = CASE WHEN $4 THEN now() ELSE completed_ts END
      WHERE host_id = $1 AND replay_request_id = $2 AND status = 'PENDING'`,
    [notice.hostId, notice.replayRequestId, httpStatus, delivered],
  );
}
