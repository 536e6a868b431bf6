import type { FailureFilter } from "@/components/api/failures";

/**
 * What the failures page shows, mirrored in the URL: a link is a saved view. Unknown or malformed parts of an address are
 * dropped, so an old link never breaks the page.
 */
export type FailureView = {
  layout: "cause" | "flat";
  status: "OPEN" | "RESOLVED" | "WAIVED";
  sort: "lastFailed" | "firstFailed";
  q?: string;
  projection?: string;
  code?: string;
  type?: string;
  policy?: NonNullable<FailureFilter["policy"]>;
  cause?: string;
  scopeType?: "AGGREGATE" | "GRAPH_ROOT";
  scopeKey?: string;
  first?: "1h" | "24h" | "7d" | "30d";
  evidence?: "without";
  cursor?: string;
  direction?: "older" | "newer";
};

/** Parts of a view that narrow it and can be removed one by one. */
export type FilterKey = "q" | "projection" | "code" | "type" | "policy" | "cause" | "scope" | "first" | "evidence";

const MAX = 1024;
const text = (value: string | null): string | undefined => (value && value.length <= MAX ? value : undefined);
const oneOf = <T extends string>(value: string | null, allowed: readonly T[]): T | undefined =>
  allowed.find((a) => a === value);

export function readView(params: URLSearchParams): FailureView {
  const scopeType = oneOf(params.get("scopeType"), ["AGGREGATE", "GRAPH_ROOT"] as const);
  const scopeKey = text(params.get("scopeKey"));
  const view: FailureView = {
    layout: params.get("view") === "flat" ? "flat" : "cause",
    status: oneOf(params.get("status"), ["OPEN", "RESOLVED", "WAIVED"] as const) ?? "OPEN",
    sort: params.get("sort") === "firstFailed" ? "firstFailed" : "lastFailed",
  };
  const rest: Partial<FailureView> = {
    q: text(params.get("q")),
    projection: text(params.get("projection")),
    code: text(params.get("code")),
    type: text(params.get("type")),
    policy: oneOf(params.get("policy"), [
      "GRAPH_ROOT",
      "AGGREGATE_VERSION",
      "TRANSACTION_ONLY",
      "NOT_REPLAYABLE",
    ] as const),
    cause: text(params.get("cause")),
    scopeType: scopeKey ? scopeType : undefined,
    scopeKey: scopeType ? scopeKey : undefined,
    first: oneOf(params.get("first"), ["1h", "24h", "7d", "30d"] as const),
    evidence: oneOf(params.get("evidence"), ["without"] as const),
    cursor: text(params.get("cursor")),
    direction: oneOf(params.get("direction"), ["older", "newer"] as const),
  };
  for (const [key, value] of Object.entries(rest)) if (value !== undefined) Object.assign(view, { [key]: value });
  return view;
}

const DEFAULTS: Partial<Record<keyof FailureView, string>> = { layout: "cause", status: "OPEN", sort: "lastFailed" };

/** The view as a query string without its defaults; keys in a fixed order, so that equal views have equal addresses. */
export function writeView(view: FailureView): string {
  const params = new URLSearchParams();
  const keys = [
    "layout",
    "status",
    "q",
    "projection",
    "code",
    "type",
    "policy",
    "cause",
    "scopeType",
    "scopeKey",
    "first",
    "evidence",
    "sort",
    "cursor",
    "direction",
  ] as const;
  for (const key of keys) {
    const value = view[key];
    if (value !== undefined && value !== DEFAULTS[key]) params.set(key === "layout" ? "view" : key, value);
  }
  const query = params.toString();
  return query ? `?${query}` : "";
}

/** Another view of the same list; changing what is shown goes back to its first page. */
export function withView(view: FailureView, change: Partial<FailureView>): FailureView {
  const next = { ...view, cursor: undefined, direction: undefined, ...change };
  return Object.fromEntries(Object.entries(next).filter(([, v]) => v !== undefined)) as FailureView;
}

/** The view without one of its filters. */
export function withoutFilter(view: FailureView, key: FilterKey): FailureView {
  if (key === "scope") return withView(view, { scopeType: undefined, scopeKey: undefined });
  return withView(view, { [key]: undefined });
}

/** Filters in use, in the order of their chips. */
export function filtersOf(view: FailureView): FilterKey[] {
  const keys: FilterKey[] = ["q", "projection", "first", "code", "type", "policy", "cause", "evidence"];
  const used = keys.filter((k) => view[k as keyof FailureView] !== undefined);
  return view.scopeKey ? [...used, "scope"] : used;
}

const HOUR_MS = 3_600_000;
const SPAN_HOURS: Record<NonNullable<FailureView["first"]>, number> = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 };

/**
 * The request of a view. "Last 7 days" counts back from the running hour, so that the request, and with it the position
 * in the list, stays the same while one pages.
 */
export function filterOf(view: FailureView, hostId: string, nowMs: number): FailureFilter {
  const filter: FailureFilter = { hostId, status: view.status, includeDiagnostic: view.evidence !== "without" };
  if (view.q) filter.search = view.q;
  if (view.projection) filter.projectionName = view.projection;
  if (view.code) filter.errorCode = view.code;
  if (view.type) filter.eventType = view.type;
  if (view.policy) filter.policy = view.policy;
  if (view.cause) filter.causeKey = view.cause;
  if (view.scopeType && view.scopeKey) Object.assign(filter, { scopeType: view.scopeType, scopeKey: view.scopeKey });
  if (view.first) {
    const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    filter.firstFailedAfter = new Date(hour - SPAN_HOURS[view.first] * HOUR_MS).toISOString();
  }
  return filter;
}
