import type { ReplayStatus } from "@/server/contracts/replay";
import type { Tx } from "@/server/platform/db/transaction";
import { REQUEST_COLUMNS, type RequestRow, UNSTARTED } from "./request-repository";

export type ListRow = RequestRow & { readonly succeededCount: number; readonly failedCount: number };

const COLUMNS = `${REQUEST_COLUMNS}, done.succeeded AS "succeededCount", done.failed AS "failedCount"`;
const DONE = `LATERAL (SELECT count(*) FILTER (WHERE i.status = 'SUCCEEDED')::int AS succeeded,
    count(*) FILTER (WHERE i.status = 'FAILED')::int AS failed
  FROM event_replay_item_t i WHERE i.host_id = r.host_id AND i.replay_request_id = r.replay_request_id
    AND r.status NOT IN ${UNSTARTED}) done`;

/** Plans of the host that await approval and aren't overdue, soonest deadline first, at most 1,000. Index: by status. */
export async function loadAwaiting(tx: Tx, hostId: string): Promise<ListRow[]> {
  return await tx.query<ListRow>(
    `SELECT ${COLUMNS} FROM event_replay_request_t r, ${DONE}
      WHERE r.host_id = $1 AND r.status = 'AWAITING_APPROVAL' AND r.expires_ts > clock_timestamp()
        AND r.validation_mode <> 'VALIDATE_ONLY'
      ORDER BY r.expires_ts, r.replay_request_id LIMIT 1000`,
    [hostId],
    "load_awaiting",
  );
}

export type ListFilter = {
  readonly statuses: readonly ReplayStatus[] | null;
  readonly failureId: string | null;
  readonly includePreviews: boolean;
};

/** Overdue counts as EXPIRED. */
const MATCHES = `r.host_id = $1
  AND ($2::text[] IS NULL OR (CASE WHEN r.status IN ${UNSTARTED} AND r.expires_ts <= clock_timestamp() THEN 'EXPIRED'
    ELSE r.status END) = ANY ($2::text[]))
  AND ($3::uuid IS NULL OR EXISTS (SELECT FROM event_replay_item_t i WHERE i.host_id = r.host_id
    AND i.replay_request_id = r.replay_request_id AND i.failure_id = $3))
  AND ($4 OR r.validation_mode <> 'VALIDATE_ONLY')`;

/** Newest first, from a position on. */
export async function loadRequests(
  tx: Tx,
  hostId: string,
  filter: ListFilter,
  take: number,
  after: { readonly ts: string; readonly requestId: string } | null,
): Promise<ListRow[]> {
  return await tx.query<ListRow>(
    `SELECT ${COLUMNS} FROM event_replay_request_t r, ${DONE}
      WHERE ${MATCHES} AND ($5::timestamptz IS NULL OR (r.requested_ts, r.replay_request_id) < ($5::timestamptz, $6::uuid))
      ORDER BY r.requested_ts DESC, r.replay_request_id DESC LIMIT $7`,
    [
      hostId,
      filter.statuses,
      filter.failureId,
      filter.includePreviews,
      after?.ts ?? null,
      after?.requestId ?? null,
      take,
    ],
    "load_requests",
  );
}

const COUNT_CAP = 10_000;

/** How many match; beyond 10,000 one more than that, capped. */
export async function countRequests(
  tx: Tx,
  hostId: string,
  filter: ListFilter,
): Promise<{ readonly total: number; readonly capped: boolean }> {
  const [row] = await tx.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM (SELECT FROM event_replay_request_t r WHERE ${MATCHES} LIMIT ${COUNT_CAP + 1}) matching`,
    [hostId, filter.statuses, filter.failureId, filter.includePreviews],
    "count_requests",
  );
  const total = row?.n ?? 0;
  return { total, capped: total > COUNT_CAP };
}
