"use client";
import { useQuery } from "@tanstack/react-query";
import { listEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { many, shortId } from "@/components/ui/format";
import { Empty } from "@/components/ui/states";
import { type RequestsView, STATUS_FILTER_WORDS } from "./requests-view";

/** No request of this host yet: how one comes to be. */
export function NoRequests() {
  return (
    <Empty title="Nothing was planned yet" actions={<ButtonLink href="/event-replay/failures">Failures</ButtonLink>}>
      A request is a plan to replay failures that someone selected. It stays here whatever becomes of it.
    </Empty>
  );
}

/** The filters match nothing: names them, and how many requests there are without. */
export function NoRequestMatches({ view, go }: { view: RequestsView; go: (view: RequestsView) => void }) {
  const { hostId } = useViewer();
  const all = useQuery(listEventReplay({ hostId, pageSize: 1, ...(view.previews ? { includePreviews: true } : {}) }));
  const names = [
    ...(view.status === "all" ? [] : [`Status: ${STATUS_FILTER_WORDS[view.status]}`]),
    ...(view.failureId ? [`Failure: ${shortId(view.failureId)}`] : []),
  ];
  const clear: RequestsView = { status: "all", ...(view.previews ? { previews: true } : {}) };
  return (
    <Empty
      state="no-match"
      title={`No request matches ${names.length === 1 ? "this filter" : "these filters"}`}
      actions={<Button onClick={() => go(clear)}>{names.length === 1 ? "Remove that filter" : "Clear all"}</Button>}
    >
      Removing <span className="md ink">{names.join(" and ")}</span> would show{" "}
      {all.data ? many(all.data.total, "request") : "every request"}.
    </Empty>
  );
}
