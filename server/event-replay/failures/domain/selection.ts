import { type CauseFacts, causeKeyOf } from "./cause-catalog";

/** One row of the rollup: how many failures of one stored cause are in one status. Few per host, however many failures. */
export type RollupRow = CauseFacts & {
  readonly projectionName: string;
  readonly consumerGroup: string;
  /** cause_key as capture stored it; finer than or equal to the cause shown. */
  readonly storedKey: string;
  readonly n: number;
};

export type FailureStatus = "OPEN" | "RESOLVED" | "WAIVED";

/** Filters of a list, as validated. All are optional; together they narrow. */
export type FailureFilter = {
  readonly status: FailureStatus;
  readonly projectionName?: string | undefined;
  readonly consumerGroup?: string | undefined;
  readonly projectionNames?: readonly string[] | undefined;
  readonly eventType?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly causeKey?: string | undefined;
  readonly scopeType?: string | undefined;
  readonly scopeKey?: string | undefined;
  readonly policy?: string | undefined;
  readonly firstFailedAfter?: string | undefined;
  readonly firstFailedBefore?: string | undefined;
  readonly search?: string | undefined;
  readonly includeDiagnostic: boolean;
};

/**
 * Stored causes that pass the filters the rollup can judge: projection, group, type, code, cause. A cause without a type (a gap
 * is one cause over all types) passes the type filter here; its rows are then asked for their members' types.
 */
export function selectRollup(rows: readonly RollupRow[], filter: FailureFilter): RollupRow[] {
  return rows.filter(
    (row) =>
      (filter.projectionName === undefined || row.projectionName === filter.projectionName) &&
      (filter.consumerGroup === undefined || row.consumerGroup === filter.consumerGroup) &&
      (filter.projectionNames === undefined || filter.projectionNames.includes(row.projectionName)) &&
      (filter.eventType === undefined || row.eventType === null || row.eventType === filter.eventType) &&
      (filter.errorCode === undefined || row.errorCode === filter.errorCode) &&
      (filter.causeKey === undefined || causeKeyOf(row) === filter.causeKey),
  );
}

/** True when nothing but the rollup (and a search that found causes alone) decides: its sum is then the exact number. */
export function rollupAnswers(filter: FailureFilter, causes: readonly RollupRow[]): boolean {
  return (
    !asksMembers(filter, causes) &&
    filter.scopeType === undefined &&
    filter.policy === undefined &&
    filter.firstFailedAfter === undefined &&
    filter.firstFailedBefore === undefined
  );
}

/** True when the type filter meets causes that hold several types. */
export function asksMembers(filter: FailureFilter, causes: readonly RollupRow[]): boolean {
  return filter.eventType !== undefined && causes.some((cause) => cause.eventType === null);
}

export function sumRollup(rows: readonly RollupRow[]): number {
  return rows.reduce((total, row) => total + row.n, 0);
}

/** Stored causes whose code or failing type equals or begins with the text, ignoring case. */
export function searchRollup(rows: readonly RollupRow[], search: string): RollupRow[] {
  const text = search.toLowerCase();
  const begins = (value: string | null) => value?.toLowerCase().startsWith(text) === true;
  return rows.filter((row) => begins(row.errorCode) || begins(row.eventType) || begins(row.sqlState));
}

/** Rows grouped by the cause that is shown, most failures first; ties by key, so that refreshes don't shuffle. */
export function groupByCause(rows: readonly RollupRow[]): { key: string; rows: RollupRow[]; n: number }[] {
  const groups = new Map<string, RollupRow[]>();
  for (const row of rows) {
    const key = causeKeyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([key, members]) => ({ key, rows: members, n: sumRollup(members) }))
    .sort((a, b) => b.n - a.n || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

export type IdSearch = { readonly exact: string } | { readonly from: string; readonly to: string } | null;

const FULL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID, or its first eight hex digits or more, as the range of ids it can begin. Null for any other text. */
export function idSearch(search: string): IdSearch {
  const text = search.toLowerCase();
  if (FULL.test(text)) return { exact: text };
  const hex = text.replaceAll("-", "");
  if (hex.length < 8 || hex.length >= 32 || !/^[0-9a-f]+$/.test(hex) || !wellPlacedHyphens(text)) return null;
  const uuid = (h: string) => `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}`;
  return { from: uuid(hex.padEnd(32, "0")), to: uuid(hex.padEnd(32, "f")) };
}

function wellPlacedHyphens(text: string): boolean {
  return [...text].every((char, i) => (char === "-") === [8, 13, 18, 23].includes(i));
}

/** Text for use inside a LIKE pattern: the three characters that mean something there are taken literally. */
export function likeLiteral(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
