import type { Tx } from "@/server/platform/db/transaction";
import type { CauseFacts } from "./domain/cause-catalog";
import { matchingIds, matchingRows, Parameters, type ResolvedFilter, type Window } from "./failure-query";

/** A failure as lists and the detail page know it. The columns are named one by one: no payload, key or header is ever read. */
export type FailureRow = {
  readonly failureId: string;
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly originalTransactionId: string;
  readonly eventCount: number;
  readonly replayPolicy: "GRAPH_ROOT" | "AGGREGATE_VERSION" | "TRANSACTION_ONLY" | "NOT_REPLAYABLE";
  readonly executable: boolean;
  readonly errorCode: string | null;
  readonly sqlState: string | null;
  readonly constraint: string | null;
  readonly failedEventType: string | null;
  readonly failureCount: number;
  readonly decryptedPayloadBytes: number;
  readonly firstFailedTs: string;
  readonly lastFailedTs: string;
  readonly resolvedTs: string | null;
  readonly resolvedByRequestId: string | null;
  /** Failing member, else the first that is there. Null only when no member is. */
  readonly headType: string | null;
  readonly headSchemaVersion: string | null;
  readonly headAggregateType: string | null;
  readonly headAggregateId: string | null;
  readonly headAggregateVersion: number | null;
  readonly headRootInstanceId: string | null;
  readonly headGraphRevision: number | null;
  readonly typeCount: number;
  readonly payloadAvailable: boolean;
  readonly scopeCount: number;
};

const COLUMNS = `f.failure_id AS "failureId", f.status, f.projection_name AS "projectionName", f.consumer_group AS "consumerGroup",
  f.original_transaction_id AS "originalTransactionId", f.event_count AS "eventCount", f.replay_policy AS "replayPolicy",
  f.executable, f.error_code AS "errorCode", f.error_type AS "sqlState", f.error_constraint AS "constraint",
  f.failed_event_type AS "failedEventType", f.failure_count AS "failureCount",
  f.decrypted_payload_bytes AS "decryptedPayloadBytes", f.first_failed_ts AS "firstFailedTs",
  f.last_failed_ts AS "lastFailedTs", f.resolved_ts AS "resolvedTs", f.resolved_by_request_id AS "resolvedByRequestId",
  m."headType", m."headSchemaVersion", m."headAggregateType", m."headAggregateId", m."headAggregateVersion",
  m."headRootInstanceId", m."headGraphRevision", m."typeCount",
  m."payloadAvailable", c."scopeCount"`;

/**
 * Joins of the columns above: two index ranges a row, both by (host, failure). Members are read once; the head is the failing
 * member, else the first.
 */
const HEAD_ORDER = "ORDER BY (e.event_ordinal = coalesce(f.failed_ordinal, 0)) DESC, e.event_ordinal";
const head = (column: string, name: string) => `(array_agg(e.${column} ${HEAD_ORDER}))[1] AS "${name}"`;
const JOINS = `CROSS JOIN LATERAL (
    SELECT ${head("event_type", "headType")}, ${head("event_schema_version", "headSchemaVersion")},
      ${head("aggregate_type", "headAggregateType")}, ${head("aggregate_id", "headAggregateId")},
      ${head("aggregate_version", "headAggregateVersion")}, ${head("root_instance_id", "headRootInstanceId")},
      ${head("graph_revision", "headGraphRevision")}, count(DISTINCT e.event_type)::int AS "typeCount",
      coalesce(bool_and(e.payload_storage = 'DATABASE_PLAIN'), false) AS "payloadAvailable"
    FROM event_failure_event_t e WHERE e.host_id = f.host_id AND e.failure_id = f.failure_id) m
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS "scopeCount" FROM event_failure_scope_t s
    WHERE s.host_id = f.host_id AND s.failure_id = f.failure_id) c`;

/** What COLUMNS and JOINS read of the failure itself. */
const PAGE_COLUMNS = [
  "host_id",
  "status",
  "projection_name",
  "consumer_group",
  "original_transaction_id",
  "event_count",
  "replay_policy",
  "executable",
  "error_code",
  "error_type",
  "error_constraint",
  "failed_event_type",
  "failed_ordinal",
  "failure_count",
  "decrypted_payload_bytes",
  "first_failed_ts",
  "last_failed_ts",
  "resolved_ts",
  "resolved_by_request_id",
];

export type PageRow = FailureRow & { readonly sortTs: string };

/** One page of matching failures, in the window's order. */
export async function loadPage(tx: Tx, hostId: string, resolved: ResolvedFilter, window: Window): Promise<PageRow[]> {
  if (resolved.causes.length === 0) return [];
  const p = new Parameters();
  const page = matchingIds(p, hostId, resolved, window, PAGE_COLUMNS);
  const direction = window.after === undefined ? "DESC" : "ASC";
  return await tx.query<PageRow>(
    `SELECT ${COLUMNS}, f.sort_ts AS "sortTs" FROM (${page}) f ${JOINS} ORDER BY f.sort_ts ${direction}, f.failure_id ${direction}`,
    p.values,
  );
}

/** Ids of matching failures, newest first. */
export async function loadIds(tx: Tx, hostId: string, resolved: ResolvedFilter, window: Window): Promise<string[]> {
  if (resolved.causes.length === 0) return [];
  const p = new Parameters();
  const rows = await tx.query<{ failure_id: string }>(matchingIds(p, hostId, resolved, window), p.values);
  return rows.map((row) => row.failure_id);
}

/** Number of matching failures, counted up to the window's limit and no further. */
export async function countMatching(tx: Tx, hostId: string, resolved: ResolvedFilter, window: Window): Promise<number> {
  if (resolved.causes.length === 0) return 0;
  const p = new Parameters();
  const rows = matchingRows(p, hostId, resolved, window, "1");
  const [row] = await tx.query<{ n: number }>(`SELECT count(*)::int AS n FROM (${rows}) m`, p.values);
  return row?.n ?? 0;
}

/** Matching failures by stored cause, over at most the window's limit of rows. */
export async function countByCause(
  tx: Tx,
  hostId: string,
  resolved: ResolvedFilter,
  window: Window,
): Promise<{ projectionName: string; consumerGroup: string; storedKey: string; n: number }[]> {
  if (resolved.causes.length === 0) return [];
  const p = new Parameters();
  const rows = matchingRows(p, hostId, resolved, window, "f.projection_name, f.consumer_group, f.cause_key");
  return await tx.query(
    `SELECT m.projection_name AS "projectionName", m.consumer_group AS "consumerGroup", m.cause_key AS "storedKey", count(*)::int AS n
      FROM (${rows}) m GROUP BY 1, 2, 3`,
    p.values,
  );
}

/** Evidence-only rows among stored causes of one status (event_failure_diagnostic_ix; few by nature). */
export async function countDiagnostic(
  tx: Tx,
  hostId: string,
  causes: readonly { projectionName: string; consumerGroup: string; storedKey: string }[],
  status: string,
): Promise<Map<string, number>> {
  const rows = await tx.query<{ projectionName: string; consumerGroup: string; storedKey: string; n: number }>(
    `SELECT projection_name AS "projectionName", consumer_group AS "consumerGroup", cause_key AS "storedKey", count(*)::int AS n
      FROM event_failure_transaction_t
      WHERE host_id = $1 AND status = '${status === "OPEN" ? "OPEN" : status === "WAIVED" ? "WAIVED" : "RESOLVED"}' AND NOT executable
      GROUP BY 1, 2, 3`,
    [hostId],
  );
  const wanted = new Set(causes.map(storedCauseId));
  return new Map(rows.map((row) => [storedCauseId(row), row.n] as const).filter(([id]) => wanted.has(id)));
}

export function storedCauseId(cause: { projectionName: string; consumerGroup: string; storedKey: string }): string {
  return `${cause.projectionName}\u0000${cause.consumerGroup}\u0000${cause.storedKey}`;
}

/** One failure of this host, whatever its status. */
export async function loadFailure(tx: Tx, hostId: string, failureId: string): Promise<FailureRow | null> {
  const [row] = await tx.query<FailureRow>(
    `SELECT ${COLUMNS} FROM event_failure_transaction_t f ${JOINS} WHERE f.host_id = $1 AND f.failure_id = $2`,
    [hostId, failureId],
    "failures_one",
  );
  return row ?? null;
}

/** The database's clock for the statement's transaction, as its own text. */
export async function loadNow(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ now: string }>("SELECT now() AS now", [], "failures_now");
  if (row === undefined) throw new Error("SELECT now() answered no row");
  return row.now;
}

export type SelectedRow = CauseFacts & {
  readonly failureId: string;
  readonly executable: boolean;
  readonly projectionName: string;
  readonly consumerGroup: string;
};

/** Those of the ids that are OPEN on this host. */
export async function checkSelection(tx: Tx, hostId: string, ids: readonly string[]): Promise<SelectedRow[]> {
  return await tx.query<SelectedRow>(
    `SELECT failure_id AS "failureId", executable, error_code AS "errorCode", error_type AS "sqlState",
        error_constraint AS "constraint", failed_event_type AS "eventType", projection_name AS "projectionName",
        consumer_group AS "consumerGroup"
      FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = ANY($2::uuid[]) AND status = 'OPEN'`,
    [hostId, ids],
    "failures_selected",
  );
}
