"use client";
import { useQueries, useQuery } from "@tanstack/react-query";
import { listCauses } from "@/components/api/failures";
import { getOverview } from "@/components/api/overview";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { useNow } from "@/components/ui/clock";
import { count, many } from "@/components/ui/format";
import { Empty } from "@/components/ui/states";
import { Age } from "@/components/ui/time";
import { type FailureView, filterOf, filtersOf, withoutFilter, withView } from "../failure-view";
import { STATUS_WORDS } from "../words";
import { FILTER_NAMES } from "./failure-filters";

const ONLY_CANONICAL =
  "Only failures captured whole appear here, with the bytes to replay them. Rows of the notification page, also those marked DLQ, cannot be replayed; they stay there for reading.";

/** Nothing is open: why, the last good fact, and one way on. */
export function NothingOpen({ view, go }: { view: FailureView; go: (view: FailureView) => void }) {
  const { hostId } = useViewer();
  const { data } = useQuery(getOverview(hostId));
  if (view.status !== "OPEN") {
    return (
      <Empty
        title={`Nothing is ${STATUS_WORDS[view.status].word.toLowerCase()}`}
        actions={<Button onClick={() => go(withView(view, { status: "OPEN" }))}>Show open failures</Button>}
      >
        {view.status === "RESOLVED"
          ? "No failure of this host was resolved yet."
          : "No failure of this host was waived."}
      </Empty>
    );
  }
  const resolved = data?.totals.resolved ?? 0;
  return (
    <Empty
      status="done"
      title="Everything projected"
      foot={ONLY_CANONICAL}
      actions={
        <>
          {resolved > 0 ? (
            <Button onClick={() => go(withView(view, { status: "RESOLVED", layout: "flat" }))}>
              Show resolved, {count(resolved)}
            </Button>
          ) : null}
          <ButtonLink href="/notifications" look={resolved > 0 ? "ghost" : "secondary"}>
            Notifications
          </ButtonLink>
        </>
      }
    >
      No failure is open on this host.{" "}
      {data?.lastResolved ? (
        <>
          The last one was resolved <Age at={data.lastResolved.resolvedTs} suffix=" ago" />.{" "}
        </>
      ) : null}
      {data?.capture.sentence}
    </Empty>
  );
}

/** The filters match nothing: names the one filter whose removal shows most, and how many that would be. */
export function NoMatch({
  view,
  openTotal,
  go,
}: {
  view: FailureView;
  openTotal: number;
  go: (view: FailureView) => void;
}) {
  const { hostId } = useViewer();
  const now = useNow();
  const keys = filtersOf(view);
  const without = useQueries({
    queries: keys.map((key) => listCauses(filterOf(withoutFilter(view, key), hostId, now), { limit: 1 })),
  });
  const best = keys
    .map((key, i) => ({ key, total: without[i]?.data?.total ?? 0 }))
    .sort((a, b) => b.total - a.total)[0];
  const word = STATUS_WORDS[view.status].word.toLowerCase();
  const clear = keys.reduce((v, key) => withoutFilter(v, key), view);
  return (
    <Empty
      state="no-match"
      title={`No ${word} failure matches ${keys.length === 1 ? "this filter" : "these filters"}`}
      actions={
        <>
          {best && best.total > 0 ? (
            <Button onClick={() => go(withoutFilter(view, best.key))}>Remove that filter</Button>
          ) : null}
          <Button look={best && best.total > 0 ? "ghost" : "secondary"} onClick={() => go(clear)}>
            Clear all
          </Button>
        </>
      }
    >
      {many(openTotal, "failure is", "failures are")} open on this host.{" "}
      {best && best.total > 0 ? (
        <>
          Removing <span className="md ink">{FILTER_NAMES[best.key]}</span> would show {count(best.total)}.
        </>
      ) : (
        "No single filter is to blame."
      )}
    </Empty>
  );
}
