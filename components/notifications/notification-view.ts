import type { NotificationFilter } from "@/components/api/notifications";

/** What the notification page shows, mirrored in the URL. Failures alone, unless somebody asks for more. */
export type NotificationView = {
  show: "failures" | "pending" | "projected" | "all";
  q?: string;
  type?: string;
  offset: number;
};

export const PAGE_SIZE = 25;
const MAX_OFFSET = 10_000;

const STATUSES: Record<NotificationView["show"], string | undefined> = {
  failures: "FAILED,DLQ",
  pending: "PENDING",
  projected: "SUCCEEDED,SKIPPED",
  all: undefined,
};

export function readNotificationView(params: URLSearchParams): NotificationView {
  const shown = params.get("show");
  const offset = Number(params.get("offset") ?? 0);
  const q = params.get("q") ?? params.get("transaction");
  const type = params.get("type");
  const view: NotificationView = {
    show: shown === "pending" || shown === "projected" || shown === "all" ? shown : "failures",
    offset: Number.isInteger(offset) && offset > 0 && offset <= MAX_OFFSET ? offset : 0,
  };
  if (q && q.length <= 255) view.q = q;
  if (type && type.length <= 255) view.type = type;
  return view;
}

export function writeNotificationView(view: NotificationView): string {
  const params = new URLSearchParams();
  if (view.show !== "failures") params.set("show", view.show);
  if (view.q) params.set("q", view.q);
  if (view.type) params.set("type", view.type);
  if (view.offset > 0) params.set("offset", String(view.offset));
  const query = params.toString();
  return query ? `?${query}` : "";
}

export function notificationFilter(view: NotificationView, hostId: string): NotificationFilter {
  return {
    hostId,
    offset: view.offset,
    limit: PAGE_SIZE,
    status: STATUSES[view.show],
    globalFilter: view.q,
    eventClass: view.type,
  };
}
