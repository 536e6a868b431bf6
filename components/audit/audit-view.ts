import type { AuditFilter } from "@/components/api/audit";
import { AUDIT_KINDS, type AuditKind } from "./audit-words";

/** What the audit page shows, mirrored in the URL. */
export type AuditView = {
  when?: WhenKey;
  what?: AuditKind;
  who?: string;
  /** A request, failure or barrier. */
  about?: string;
};

export const WHEN = {
  "1h": { label: "last hour", ms: 3_600_000 },
  "24h": { label: "last 24 h", ms: 86_400_000 },
  "7d": { label: "last 7 days", ms: 7 * 86_400_000 },
  "30d": { label: "last 30 days", ms: 30 * 86_400_000 },
} as const;
export type WhenKey = keyof typeof WHEN;

export const PAGE_SIZE = 50;

export const isId = (text: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text);

export function readAuditView(params: URLSearchParams): AuditView {
  const view: AuditView = {};
  const [when, what, who, about] = ["when", "what", "who", "about"].map((key) => params.get(key));
  if (when && Object.hasOwn(WHEN, when)) view.when = when as WhenKey;
  if (what && Object.hasOwn(AUDIT_KINDS, what)) view.what = what as AuditKind;
  if (who && who.length <= 255) view.who = who;
  if (about && isId(about)) view.about = about;
  return view;
}

export function writeAuditView(view: AuditView): string {
  const params = new URLSearchParams();
  for (const key of ["when", "what", "who", "about"] as const) if (view[key]) params.set(key, view[key]);
  const query = params.toString();
  return query ? `?${query}` : "";
}

/** The filter of a view; `nowMs` is where its time begins to count back, so that it doesn't move while somebody pages. */
export function auditFilter(view: AuditView, hostId: string, nowMs: number): Omit<AuditFilter, "cursor" | "pageSize"> {
  return {
    hostId,
    ...(view.when ? { from: new Date(nowMs - WHEN[view.when].ms).toISOString() } : {}),
    ...(view.what ? { events: [...AUDIT_KINDS[view.what].events] } : {}),
    ...(view.who ? { actorId: view.who } : {}),
    ...(view.about ? { subjectId: view.about } : {}),
  };
}
