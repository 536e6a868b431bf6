"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { usePathname, useSearchParams } from "next/navigation";
import { useMemo } from "react";
import {
  getNotifications,
  getUnreadNotificationCount,
  useMarkFailureNotificationsRead,
} from "@/components/api/notifications";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { FilterChip, Find } from "@/components/ui/chip";
import { count, many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Empty, Failed, Stale, TableLoading } from "@/components/ui/states";
import { NotificationTable } from "./notification-table";
import {
  type NotificationView,
  notificationFilter,
  PAGE_SIZE,
  readNotificationView,
  writeNotificationView,
} from "./notification-view";
import { PatternTable } from "./pattern-table";

const SHOW = [
  { value: "failures", label: "failed and DLQ" },
  { value: "pending", label: "pending" },
  { value: "projected", label: "projected or skipped" },
  { value: "all", label: "any" },
] as const;

function useNotificationView(): [NotificationView, (next: NotificationView) => void] {
  const params = useSearchParams();
  const path = usePathname();
  const view = useMemo(() => readNotificationView(new URLSearchParams(params.toString())), [params]);
  return [view, (next) => window.history.pushState(null, "", `${path}${writeNotificationView(next)}`)];
}

function Nothing({ view, go }: { view: NotificationView; go: (view: NotificationView) => void }) {
  const narrowed = view.q !== undefined || view.type !== undefined || view.offset > 0;
  if (narrowed) {
    return (
      <Empty
        state="no-match"
        title="No notification matches"
        actions={<Button onClick={() => go({ show: view.show, offset: 0 })}>Clear filters</Button>}
      >
        The search and filters leave nothing of this host.
      </Empty>
    );
  }
  const failures = view.show === "failures";
  return (
    <Empty
      status={failures ? "done" : undefined}
      title={failures ? "No event failed to project" : "Nothing to show"}
      actions={
        failures ? (
          <Button onClick={() => go({ show: "all", offset: 0 })}>Show every outcome</Button>
        ) : (
          <ButtonLink href="/">Overview</ButtonLink>
        )
      }
    >
      {failures
        ? "No notification of this host is marked failed or DLQ."
        : "No notification of this host has this outcome."}
    </Empty>
  );
}

/** Outcomes of events, for reading. Nothing here can be replayed, and every failed row says where it is recovered. */
export function NotificationsPage() {
  const { hostId } = useViewer();
  const [view, go] = useNotificationView();
  const query = useQuery({ ...getNotifications(notificationFilter(view, hostId)), placeholderData: keepPreviousData });
  const unread = useQuery(getUnreadNotificationCount(hostId)).data?.count ?? 0;
  const markRead = useMarkFailureNotificationsRead(hostId);
  const problem = query.error ? asProblem(query.error) : undefined;
  const { data } = query;
  const last = data ? view.offset + data.notifications.length : 0;
  return (
    <>
      <div className="ph">
        <div>
          <h1>Notifications</h1>
          <div className="sub">
            {data ? (
              <span>
                {count(data.total)}
                {data.totalCapped ? "+" : ""} {SHOW.find((s) => s.value === view.show)?.label}
              </span>
            ) : null}
            {unread > 0 ? <span>{many(unread, "unread failure")} of yours</span> : null}
          </div>
        </div>
        {unread > 0 ? (
          <div className="acts">
            <Button
              small
              icon="check"
              aria-disabled={markRead.isPending}
              onClick={() => !markRead.isPending && markRead.mutate()}
            >
              Mark {count(unread)} as read
            </Button>
          </div>
        ) : null}
      </div>
      <div className="note only-read">
        <Icon name="info" />
        <span>
          Rows of this page are for reading. None of them can be replayed, also not those marked DLQ: they keep an
          outcome, not the bytes. Where a transaction was captured whole, its row leads to the{" "}
          <Link href="/event-replay/failures">failure</Link>, and replay happens there.
        </span>
      </div>
      {markRead.error ? (
        <p className="note held stale" role="alert">
          The rows were not marked. {asProblem(markRead.error).message}
        </p>
      ) : null}
      <PatternTable hostId={hostId} onType={(type) => go({ ...view, show: "failures", type, offset: 0 })} />
      <div className="bar chips">
        <Find
          label="Search notifications"
          placeholder="Event type, aggregate, transaction"
          value={view.q ?? ""}
          onChange={(q) => go({ ...view, q: q || undefined, offset: 0 })}
        />
        <FilterChip
          name="Outcome"
          value={view.show}
          options={SHOW}
          onChange={(show) => go({ ...view, show: show as NotificationView["show"], offset: 0 })}
        />
        {view.type ? (
          <FilterChip
            name="Event type"
            value={view.type}
            options={[{ value: view.type, label: view.type }]}
            onChange={() => {}}
            onRemove={() => go({ ...view, type: undefined, offset: 0 })}
          />
        ) : null}
      </div>
      {problem && data ? (
        <Stale onRetry={() => void query.refetch()}>
          The list could not be read again. {problem.message} The rows below are the last ones read.
        </Stale>
      ) : null}
      {!data && problem ? (
        <Failed
          title="The notifications could not be read"
          sentence={problem.message}
          kept="Nothing was changed."
          requestId={problem.requestId}
          onRetry={() => void query.refetch()}
        />
      ) : !data ? (
        <TableLoading heads={["Event type", "Aggregate", "Outcome", "Why", "Processed"]} />
      ) : data.notifications.length === 0 ? (
        <Nothing view={view} go={go} />
      ) : (
        <>
          <NotificationTable items={data.notifications} />
          <div className="tf">
            <span>
              {count(view.offset + 1)} to {count(last)} of {count(data.total)}
              {data.totalCapped ? "+" : ""}, newest first
            </span>
            <span className="row">
              <Button
                small
                icon="left"
                aria-disabled={view.offset === 0 || undefined}
                onClick={() => view.offset > 0 && go({ ...view, offset: Math.max(0, view.offset - PAGE_SIZE) })}
              >
                Newer
              </Button>
              <Button
                small
                aria-disabled={last >= data.total || undefined}
                onClick={() => last < data.total && go({ ...view, offset: view.offset + PAGE_SIZE })}
              >
                Older
              </Button>
            </span>
          </div>
        </>
      )}
    </>
  );
}
