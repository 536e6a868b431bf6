import type { ReplayFilter } from "@/components/api/replay";
import type { ReplayStatus } from "@/server/contracts/replay";
import type { ReplayListItem } from "@/server/contracts/replay-list";

/** What the list of requests shows, mirrored in the URL. Unknown or malformed parts of an address are dropped. */
export type RequestsView = {
  status: StatusFilter;
  failureId?: string;
  previews?: true;
  cursor?: string;
};

/** Each choice of the status filter and the states it stands for; undefined = every state. */
export const STATUS_FILTERS = {
  all: undefined,
  open: ["PLANNING", "READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER", "RUNNING"],
  waiting: ["AWAITING_APPROVAL"],
  approved: ["APPROVED"],
  running: ["INSTALLING_BARRIER", "RUNNING"],
  succeeded: ["SUCCEEDED"],
  failed: ["FAILED"],
  cancelled: ["CANCELLED"],
  expired: ["EXPIRED"],
} as const satisfies Record<string, readonly ReplayStatus[] | undefined>;

export type StatusFilter = keyof typeof STATUS_FILTERS;

export const STATUS_FILTER_WORDS: Record<StatusFilter, string> = {
  all: "all",
  open: "not ended",
  waiting: "awaiting approval",
  approved: "approved, not run",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const MAX_CURSOR = 1024;

const isFilter = (value: string | null): value is StatusFilter =>
  value !== null && Object.hasOwn(STATUS_FILTERS, value);

/** An id of an address in its canonical form, or undefined when it is none. */
export function idOf(value: string | null | undefined): string | undefined {
  const id = value?.trim().toLowerCase();
  return id !== undefined && UUID.test(id) ? id : undefined;
}

export function readRequestsView(params: URLSearchParams): RequestsView {
  const status = params.get("status");
  const failureId = idOf(params.get("failureId"));
  const cursor = params.get("cursor");
  return {
    status: isFilter(status) ? status : "all",
    ...(failureId ? { failureId } : {}),
    ...(params.get("previews") === "with" ? { previews: true as const } : {}),
    ...(cursor && cursor.length <= MAX_CURSOR ? { cursor } : {}),
  };
}

/** The view as a query string without its defaults; equal views have equal addresses. */
export function writeRequestsView(view: RequestsView): string {
  const params = new URLSearchParams();
  if (view.status !== "all") params.set("status", view.status);
  if (view.failureId) params.set("failureId", view.failureId);
  if (view.previews) params.set("previews", "with");
  if (view.cursor) params.set("cursor", view.cursor);
  const query = params.toString();
  return query ? `?${query}` : "";
}

/** The view's request, without its place in the list. */
export function requestsFilter(view: RequestsView, hostId: string): ReplayFilter {
  const statuses = STATUS_FILTERS[view.status];
  return {
    hostId,
    ...(statuses ? { statuses: [...statuses] } : {}),
    ...(view.failureId ? { failureId: view.failureId } : {}),
    ...(view.previews ? { includePreviews: true } : {}),
  };
}

/** True when something narrows the list; previews widen it. */
export const isNarrowed = (view: RequestsView): boolean => view.status !== "all" || view.failureId !== undefined;

/** ISO-8601 instants of one form (UTC, microseconds) compare as text. */
const isLater = (ts: string, than: string): boolean => ts > than;

/**
 * Splits a reading of the first page: what was asked for after the page was opened is counted and kept out, so that
 * nothing moves under the pointer; the rest is shown, at most a page of it. In a list that was empty there is nothing to
 * move: arrivals stand in it at once.
 */
export function splitNew<T extends Pick<ReplayListItem, "requestedTs">>(
  items: readonly T[],
  openedAt: string | undefined,
  pageSize: number,
): { shown: readonly T[]; newer: number } {
  if (openedAt === undefined) return { shown: items.slice(0, pageSize), newer: 0 };
  const old = items.filter((item) => !isLater(item.requestedTs, openedAt));
  if (old.length === 0) return { shown: items.slice(0, pageSize), newer: 0 };
  return { shown: old.slice(0, pageSize), newer: items.length - old.length };
}
