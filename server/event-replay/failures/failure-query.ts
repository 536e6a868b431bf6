import { asksMembers, type FailureFilter, type RollupRow } from "./domain/selection";

/** Values of one statement; `add` returns the placeholder. Only placeholders and fixed text ever become SQL. */
export class Parameters {
  readonly values: unknown[] = [];
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

export type SortColumn = "last_failed_ts" | "first_failed_ts";
export type Position = { readonly ts: string; readonly id: string };

/** What the filters became after the rollup and the search look-up; see resolve-filter.ts. */
export type ResolvedFilter = {
  readonly filter: FailureFilter;
  /** Every stored cause the filters leave, all with n > 0. Empty: nothing can match. */
  readonly causes: readonly RollupRow[];
  /** True when `causes` leaves out some stored cause of its projections, so that the cause must be tested. */
  readonly narrowsCauses: boolean;
  /** Failures of the same projections under every other cause. */
  readonly others: number;
  /** Result of a search: rows match by stored cause or by id. Null without search. */
  readonly search: { readonly causes: readonly RollupRow[]; readonly ids: readonly string[] } | null;
};

export type Window = {
  readonly sort: SortColumn;
  readonly limit: number;
  /** Rows strictly on this side of the position. */
  readonly before?: Position;
  readonly after?: Position;
  /** Rows at or before / strictly after this instant. */
  readonly notAfter?: string;
  readonly laterThan?: string;
  readonly offset?: number;
};

/** Long reads of causes that hold more than this share of their projections walk the projections in order. */
const WALK_SHARE = 0.25;
const FEW_CAUSES = 16;
const PAGE_ROWS = 256;

/**
 * Ids of matching failures, newest first (oldest first when `after` is set), as a SELECT of sort_ts, failure_id and
 * the further columns named.
 *
 * A page costs the page, not the table: without a rare cause it is an ordered walk of one index range per projection
 * (event_failure_open_ix, _open_first_ix, _closed_last_ix, _closed_first_ix) that tests each row. Rare causes are read by cause
 * (_open_cause_ix, _closed_cause_ix): only the causes with the best heads can hold a row of the page, so those are cut first.
 */
export function matchingIds(
  p: Parameters,
  hostId: string,
  resolved: ResolvedFilter,
  window: Window,
  columns: readonly string[] = [],
): string {
  const ascending = window.after !== undefined;
  const order = `f.${window.sort} ${ascending ? "ASC" : "DESC"}, f.failure_id ${ascending ? "ASC" : "DESC"}`;
  const outer = `sort_ts ${ascending ? "ASC" : "DESC"}, failure_id ${ascending ? "ASC" : "DESC"}`;
  const host = p.add(hostId);
  const conditions = [
    `f.host_id = ${host}`,
    `f.status = '${resolved.filter.status}'`,
    ...rowConditions(p, host, resolved),
    ...windowConditions(p, window),
  ];
  const offset = window.offset ?? 0;
  const tail = `LIMIT ${p.add(window.limit)} OFFSET ${p.add(offset)}`;
  const from = "FROM event_failure_transaction_t f";
  const picked = ["failure_id", ...columns];
  const select = `SELECT f.${window.sort} AS sort_ts, ${picked.map((column) => `f.${column}`).join(", ")}`;
  const rows = window.limit + offset;
  const byCause = readByCause(resolved, window);
  const streams = byCause ? resolved.causes : distinctProjections(resolved.causes);
  const key = byCause ? "projection_name, consumer_group, cause_key" : "projection_name, consumer_group";
  const arrays = [
    streams.map((s) => s.projectionName),
    streams.map((s) => s.consumerGroup),
    ...(byCause ? [streams.map((s) => s.storedKey)] : []),
  ].map((list) => `${p.add(list)}::text[]`);
  const where = [
    ...conditions,
    "f.projection_name = s.projection_name",
    "f.consumer_group = s.consumer_group",
    ...(byCause ? ["f.cause_key = s.cause_key"] : causeCondition(p, resolved)),
  ].join(" AND ");
  const take = p.add(rows);
  const read = (limit: string) =>
    `CROSS JOIN LATERAL (${select} ${from} WHERE ${where} ORDER BY ${order} LIMIT ${limit}) m`;
  const all = `unnest(${arrays.join(", ")}) AS s(${key})`;
  const source =
    streams.length > rows
      ? `(SELECT s.* FROM ${all} ${read("1")} ORDER BY m.${outer.replace(", ", ", m.")} LIMIT ${take}) s`
      : all;
  return `SELECT m.* FROM ${source} ${read(take)} ORDER BY ${outer} ${tail}`;
}

/** Matching failures in no order, as a SELECT of the named columns that stops at `limit` rows. */
export function matchingRows(
  p: Parameters,
  hostId: string,
  resolved: ResolvedFilter,
  window: Window,
  columns: string,
): string {
  const host = p.add(hostId);
  const where = [
    `f.host_id = ${host}`,
    `f.status = '${resolved.filter.status}'`,
    ...rowConditions(p, host, resolved),
    ...windowConditions(p, window),
    projectionCondition(p, resolved),
    ...causeCondition(p, resolved),
  ].join(" AND ");
  return `SELECT ${columns} FROM event_failure_transaction_t f WHERE ${where} LIMIT ${p.add(window.limit)}`;
}

/**
 * A page is read by cause: bounded wherever in time its causes lie. Long reads of many frequent causes are found quicker by
 * walking. Cause indexes are in the order of the last failure: by first failure only a rare cause is worth its sort.
 */
function readByCause({ filter, narrowsCauses, causes, others }: ResolvedFilter, window: Window): boolean {
  // A test of members costs a probe a row: one walk that stops at the page makes fewer than every cause for itself.
  if (!narrowsCauses || asksMembers(filter, causes)) return false;
  const rows = window.limit + (window.offset ?? 0);
  if (window.sort === "last_failed_ts" && (causes.length <= FEW_CAUSES || rows <= PAGE_ROWS)) return true;
  const matching = causes.reduce((sum, cause) => sum + cause.n, 0);
  return matching <= rows || matching < (matching + others) * WALK_SHARE;
}

/** Equal stored keys are equal causes in every projection, so that the key alone decides; projections are tested beside it. */
function causeCondition(p: Parameters, resolved: ResolvedFilter): string[] {
  return resolved.narrowsCauses ? [`f.cause_key = ANY(${p.add(resolved.causes.map((c) => c.storedKey))}::text[])`] : [];
}

function projectionCondition(p: Parameters, resolved: ResolvedFilter): string {
  const streams = distinctProjections(resolved.causes);
  const names = p.add(streams.map((s) => s.projectionName));
  const groups = p.add(streams.map((s) => s.consumerGroup));
  return `(f.projection_name, f.consumer_group) IN (SELECT * FROM unnest(${names}::text[], ${groups}::text[]))`;
}

function rowConditions(p: Parameters, host: string, { filter, causes, search }: ResolvedFilter): string[] {
  const conditions: string[] = [];
  if (filter.eventType !== undefined && asksMembers(filter, causes)) {
    const type = p.add(filter.eventType);
    // OFFSET 0 keeps it a probe by key: hashed, it would read every member of that type first.
    conditions.push(
      `(f.failed_event_type = ${type} OR (f.failed_event_type IS NULL AND EXISTS (SELECT 1 FROM event_failure_event_t e
        WHERE e.host_id = ${host} AND e.failure_id = f.failure_id AND e.event_type = ${type} OFFSET 0)))`,
    );
  }
  if (!filter.includeDiagnostic) conditions.push("f.executable");
  if (filter.policy !== undefined) conditions.push(`f.replay_policy = ${p.add(filter.policy)}`);
  if (filter.firstFailedAfter !== undefined) {
    conditions.push(`f.first_failed_ts >= ${p.add(filter.firstFailedAfter)}::timestamptz`);
  }
  if (filter.firstFailedBefore !== undefined) {
    conditions.push(`f.first_failed_ts < ${p.add(filter.firstFailedBefore)}::timestamptz`);
  }
  if (filter.scopeType !== undefined) {
    const key = filter.scopeKey === undefined ? "" : ` AND c.scope_key = ${p.add(filter.scopeKey)}`;
    conditions.push(
      `f.failure_id IN (SELECT c.failure_id FROM event_failure_scope_t c WHERE c.host_id = ${host}
        AND c.status = '${filter.status}' AND c.scope_type = ${p.add(filter.scopeType)}${key})`,
    );
  }
  if (search !== null) {
    const ids = p.add(search.ids);
    const keys = p.add(search.causes.map((c) => c.storedKey));
    conditions.push(`(f.failure_id = ANY(${ids}::uuid[]) OR f.cause_key = ANY(${keys}::text[]))`);
  }
  return conditions;
}

function windowConditions(p: Parameters, window: Window): string[] {
  const conditions: string[] = [];
  const side = (position: Position, operator: "<" | ">") =>
    `(f.${window.sort}, f.failure_id) ${operator} (${p.add(position.ts)}::timestamptz, ${p.add(position.id)}::uuid)`;
  if (window.before !== undefined) conditions.push(side(window.before, "<"));
  if (window.after !== undefined) conditions.push(side(window.after, ">"));
  if (window.notAfter !== undefined) conditions.push(`f.${window.sort} <= ${p.add(window.notAfter)}::timestamptz`);
  if (window.laterThan !== undefined) conditions.push(`f.${window.sort} > ${p.add(window.laterThan)}::timestamptz`);
  return conditions;
}

function distinctProjections(rows: readonly RollupRow[]): RollupRow[] {
  return [...new Map(rows.map((row) => [`${row.projectionName}\u0000${row.consumerGroup}`, row])).values()];
}
