import type { Tx } from "@/server/platform/db/transaction";
import { isCanonicalUuid } from "@/server/platform/ids";
import type { NotificationQuery, NotificationStatus } from "./domain/notification-query";

export type NotificationRow = {
  readonly id: string;
  readonly userId: string | null;
  readonly nonce: string | null;
  readonly eventClass: string;
  readonly status: NotificationStatus;
  readonly eventTs: string | null;
  readonly processTs: string;
  readonly error: string | null;
  readonly aggregateId: string | null;
  readonly aggregateType: string | null;
  readonly aggregateVersion: number | null;
  readonly eventPartition: number | null;
  readonly eventOffset: number | null;
  readonly transactionId: string | null;
  readonly readTs: string | null;
  readonly failureId: string | null;
};

/** First position of the host's lane that its projection has not yet passed. All below it is projected, captured or parked. */
export async function loadProjectedBelow(tx: Tx, consumerGroup: string, partition: number): Promise<number> {
  const [row] = await tx.query<{ next: number }>(
    "SELECT next_offset AS next FROM consumer_offsets WHERE group_id = $1 AND topic_id = 1 AND partition_id = $2",
    [consumerGroup, partition],
    "notifications_progress",
  );
  return row?.next ?? 1;
}

export type NotificationScope = {
  readonly hostId: string;
  /** Null: every user of the host. */
  readonly userId: string | null;
  readonly consumerGroup: string;
  readonly partition: number;
  readonly projectedBelow: number;
};

type Statement = { readonly text: string; readonly values: unknown[] };

/** SQL: the transaction of notification `n` is parked behind a barrier, so its lane has passed it and it isn't projected. */
const PARKED = `EXISTS (SELECT FROM event_projection_deferred_t d WHERE d.host_id = n.host_id
  AND d.original_transaction_id = n.transaction_id::text AND d.status = 'PENDING')`;

/** FROM and WHERE over one host. `derived` is what the page calls status: success is recorded by progress, not by row. */
function matching(scope: NotificationScope, query: NotificationQuery): Statement {
  const values: unknown[] = [];
  const add = (value: unknown) => {
    values.push(value);
    return `$${values.length}`;
  };
  const where = [`n.host_id = ${add(scope.hostId)}`];
  // Added only where used: a parameter that a statement never names has no type.
  let position: string | null = null;
  const passed = () => {
    position ??= `coalesce(n.event_partition = ${add(scope.partition)}::int AND n.event_offset < ${add(scope.projectedBelow)}::int8 AND NOT ${PARKED}, false)`;
    return position;
  };
  // Ranges of notification_position_ix: what waits is little, what has passed is nearly everything.
  const waiting = () => {
    const lane = `${add(scope.partition)}::int`;
    return `((n.event_partition = ${lane} AND n.event_offset >= ${add(scope.projectedBelow)}::int8)
      OR (n.event_partition = ${lane} AND n.event_offset IS NULL) OR n.event_partition IS NULL
      OR n.event_partition < ${lane} OR n.event_partition > ${lane})`;
  };
  const statusIs = (status: NotificationStatus) => {
    if (status === "SUCCEEDED") return `(n.status = 'SUCCEEDED' OR (n.status = 'PENDING' AND ${passed()}))`;
    if (status === "PENDING") return `(n.status = 'PENDING' AND ${waiting()})`;
    return `n.status = '${status}'`;
  };
  const prefix = (column: string, text: string) => where.push(`${column} ILIKE ${add(likePrefix(text))}`);
  if (scope.userId !== null) where.push(`n.user_id = ${add(scope.userId)}::uuid`);
  if (query.nonce !== null) where.push(`n.nonce = ${add(query.nonce)}::numeric`);
  if (query.statuses !== null) where.push(`(${query.statuses.map(statusIs).join(" OR ")})`);
  if (query.processed !== null) where.push(query.processed ? statusIs("SUCCEEDED") : `NOT ${statusIs("SUCCEEDED")}`);
  if (query.eventClass !== null) prefix("n.event_class", query.eventClass);
  if (query.aggregateType !== null) prefix("n.aggregate_type", query.aggregateType);
  if (query.aggregateId !== null) prefix("n.aggregate_id", query.aggregateId);
  if (query.transactionId !== null) {
    if (isCanonicalUuid(query.transactionId)) where.push(`n.transaction_id = ${add(query.transactionId)}::uuid`);
    else prefix("n.transaction_id::text", query.transactionId);
  }
  if (query.error !== null) prefix("n.error", query.error);
  if (query.processTs !== null) {
    where.push(
      `n.process_ts >= ${add(query.processTs.from)}::timestamptz AND n.process_ts < ${add(query.processTs.to)}::timestamptz`,
    );
  }
  if (query.anywhere !== null) {
    const text = add(likePrefix(query.anywhere));
    where.push(
      `(n.event_class ILIKE ${text} OR n.aggregate_type ILIKE ${text} OR n.aggregate_id ILIKE ${text} OR n.error ILIKE ${text})`,
    );
  }
  return { text: `FROM notification_t n WHERE ${where.join(" AND ")}`, values };
}

const likePrefix = (text: string) => `${text.replace(/[\\%_]/g, "\\$&")}%`;

/** One page. Status and processTs of a pending row that the projection has passed are those of its batch. */
export async function loadNotifications(
  tx: Tx,
  scope: NotificationScope,
  query: NotificationQuery,
  offset: number,
  limit: number,
): Promise<NotificationRow[]> {
  const { text, values } = matching(scope, query);
  const lastDesc = query.sort.at(-1)?.desc === true ? "DESC" : "ASC";
  const order = [
    ...query.sort.map(({ column, desc }) => `n.${column} ${desc ? "DESC" : "ASC"}`),
    `n.id ${lastDesc}`,
  ].join(", ");
  const at = (value: unknown) => {
    values.push(value);
    return `$${values.length}`;
  };
  const inner = `SELECT n.host_id, n.id, n.user_id, n.nonce, n.event_class, n.status, n.event_ts, n.process_ts, n.error, n.aggregate_id,
        n.aggregate_type, n.aggregate_version, n.event_partition, n.event_offset, n.transaction_id, n.read_ts
      ${text} ORDER BY ${order} LIMIT ${at(limit)} OFFSET ${at(offset)}`;
  return await tx.query<NotificationRow>(
    `SELECT n.id, n.user_id AS "userId", n.nonce::text AS nonce, n.event_class AS "eventClass",
        CASE WHEN n.status = 'PENDING' AND r.projected_ts IS NOT NULL THEN 'SUCCEEDED' ELSE n.status END AS status,
        n.event_ts AS "eventTs", CASE WHEN n.status = 'PENDING' THEN coalesce(r.projected_ts, n.process_ts) ELSE n.process_ts END AS "processTs",
        n.error, n.aggregate_id AS "aggregateId", n.aggregate_type AS "aggregateType", n.aggregate_version AS "aggregateVersion",
        n.event_partition AS "eventPartition", n.event_offset AS "eventOffset", n.transaction_id AS "transactionId",
        n.read_ts AS "readTs", f.failure_id AS "failureId"
      FROM (${inner}) n
      LEFT JOIN LATERAL (
        SELECT coalesce((SELECT g.projected_ts FROM projection_range_t g WHERE g.consumer_group = ${at(scope.consumerGroup)}
            AND g.partition_id = n.event_partition AND g.first_offset <= n.event_offset AND g.last_offset >= n.event_offset
            ORDER BY g.first_offset DESC LIMIT 1), n.process_ts) AS projected_ts
        WHERE n.status = 'PENDING' AND n.event_partition = ${at(scope.partition)} AND n.event_offset < ${at(scope.projectedBelow)}
          AND NOT ${PARKED}) r ON true
      LEFT JOIN LATERAL (
        SELECT x.failure_id FROM event_failure_transaction_t x
        WHERE n.status IN ('DLQ', 'FAILED') AND x.host_id = n.host_id AND x.original_transaction_id = n.transaction_id::text
        ORDER BY x.status = 'OPEN' DESC, x.last_failed_ts DESC LIMIT 1) f ON true
      ORDER BY ${order}`,
    values,
  );
}

/** How many match, counted up to cap + 1. */
export async function countNotifications(
  tx: Tx,
  scope: NotificationScope,
  query: NotificationQuery,
  cap: number,
): Promise<number> {
  const { text, values } = matching(scope, query);
  const [row] = await tx.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM (SELECT 1 ${text} LIMIT ${cap + 1}) m`,
    values,
  );
  return row?.n ?? 0;
}

/** Unread FAILED and DLQ rows of one user (notification_unread_failure_ix). */
export async function countUnread(tx: Tx, hostId: string, userId: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM notification_t
      WHERE host_id = $1 AND user_id = $2::uuid AND read_ts IS NULL AND status IN ('FAILED', 'DLQ')`,
    [hostId, userId],
    "notifications_unread",
  );
  return row?.n ?? 0;
}

/** Marks unread FAILED and DLQ rows of one user as read, all or those named; answers how many. Nothing else of a row changes. */
export async function markRead(tx: Tx, hostId: string, userId: string, ids: readonly string[] | null): Promise<number> {
  return await tx.execute(
    `UPDATE notification_t SET read_ts = now()
      WHERE host_id = $1 AND user_id = $2::uuid AND read_ts IS NULL AND status IN ('FAILED', 'DLQ')
        AND ($3::uuid[] IS NULL OR id = ANY($3::uuid[]))`,
    [hostId, userId, ids],
    "notifications_mark_read",
  );
}
