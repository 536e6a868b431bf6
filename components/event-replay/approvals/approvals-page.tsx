"use client";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { asProblem } from "@/components/api/problem";
import { listEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { TableKeys } from "@/components/ui/keyboard";
import { useRowCursor } from "@/components/ui/row-cursor";
import { Empty, Failed, Stale, TableLoading } from "@/components/ui/states";
import { Age } from "@/components/ui/time";
import { personName, replayStatusWords, requestHref } from "../request/replay-words";
import { momentOf, requestTitle } from "../requests/row-words";
import { InboxTable } from "./inbox-table";
import { countOf, INBOX_SECTIONS, inboxFacts, inboxSum, newestCounts, openTotal } from "./inbox-view";
import { useInbox } from "./use-inbox";

const HEADS = ["What", "Asked by, why", "Bound to", "Expires in", "Action"];
const KEYS = [
  { keys: ["J", "K"], does: "move" },
  { keys: ["Enter"], does: "open" },
  { keys: ["?"], does: "all keys" },
];

/** Nothing awaits a decision: the last request there was, and one way on. */
function NothingWaits() {
  const { hostId } = useViewer();
  const { data } = useQuery(listEventReplay({ hostId, pageSize: 1 }));
  const last = data?.items[0];
  return (
    <Empty
      status="done"
      title="Nothing waits for a decision"
      actions={
        last ? (
          <ButtonLink href="/event-replay/requests">All requests, {count(data.total)}</ButtonLink>
        ) : (
          <ButtonLink href="/event-replay/failures">Failures</ButtonLink>
        )
      }
      foot="A plan to replay failures waits here until a second person approves it, or its time runs out."
    >
      {last ? (
        <>
          The last request, {requestTitle(last).toLowerCase()} asked for by {personName(last.requester)}, stands at{" "}
          <span className="ink">{replayStatusWords(last).word.toLowerCase()}</span> since{" "}
          <Age at={momentOf(last)} suffix="." />
        </>
      ) : data ? (
        "Nobody has planned a replay on this host yet."
      ) : null}
    </Empty>
  );
}

/** What waits for whom: for the viewer, of the viewer for others, and what others decide, with the reason. */
export function ApprovalsPage() {
  const router = useRouter();
  const inboxes = [useInbox("WAITING_FOR_ME"), useInbox("MINE_WAITING"), useInbox("NOT_MINE")];
  const sections = INBOX_SECTIONS.map((section, i) => {
    const query = inboxes[i];
    const approvers = query?.data?.pages[0]?.eligibleApprovers ?? [];
    return { section, query, approvers, items: query?.data?.pages.flatMap((page) => page.items) ?? [] };
  });
  const counts = newestCounts(inboxes.map((inbox) => inbox.data?.pages[0]));
  const read = inboxes.every((inbox) => inbox.data !== undefined);
  const failed = inboxes.find((inbox) => inbox.error)?.error;
  const problem = failed ? asProblem(failed) : undefined;
  const again = () => {
    for (const inbox of inboxes) void inbox.refetch();
  };
  const shown = sections.reduce((sum, s) => sum + s.items.length, 0);

  const { current, setCurrent } = useRowCursor(
    sections.flatMap((s) => s.items.map((item) => item.replayRequestId)),
    {
      open: (id) => router.push(requestHref(id)),
      copy: (id) => void navigator.clipboard?.writeText(id),
    },
  );

  return (
    <>
      <div className="ph">
        <div>
          <h1>Approvals</h1>
          <div className="sub">
            {counts ? (
              <>
                {inboxFacts(counts).map((fact) => (
                  <span key={fact}>{fact}</span>
                ))}
                <span>What nobody decides in time expires and changes nothing</span>
              </>
            ) : null}
          </div>
        </div>
      </div>
      {problem && read ? (
        <Stale onRetry={again}>
          The inbox could not be read again. {problem.message} What you see is the last that was read.
        </Stale>
      ) : null}
      {read && counts ? (
        openTotal(counts) === 0 && shown === 0 ? (
          <NothingWaits />
        ) : (
          <>
            {sections.map(({ section, query, approvers, items }) => (
              <section key={section.view} aria-labelledby={`inbox-${section.view}`}>
                <div className="sec-h">
                  <h2 id={`inbox-${section.view}`}>{section.heading}</h2>
                  <span className="m">
                    {items.length > 0 ? `${count(countOf(counts, section.view))}, ` : ""}
                    {section.hint}
                  </span>
                </div>
                {items.length > 0 ? (
                  <InboxTable
                    items={items}
                    section={section}
                    approvers={approvers}
                    current={current}
                    onCurrent={setCurrent}
                  />
                ) : (
                  <p className="m none">{section.none}</p>
                )}
                {query?.hasNextPage ? (
                  <div className="tf">
                    <span>
                      {count(items.length)} of {count(countOf(counts, section.view))} shown
                    </span>
                    <Button
                      small
                      aria-disabled={query.isFetchingNextPage || undefined}
                      onClick={() => void query.fetchNextPage()}
                    >
                      Show later deadlines
                    </Button>
                  </div>
                ) : null}
              </section>
            ))}
            <div className="tf">
              <span>{inboxSum(counts)}</span>
              <TableKeys lines={KEYS} />
            </div>
          </>
        )
      ) : problem ? (
        <Failed
          title="The inbox could not be read"
          sentence={problem.message}
          kept="Nothing was changed."
          requestId={problem.requestId}
          onRetry={again}
        />
      ) : (
        <TableLoading heads={HEADS} />
      )}
    </>
  );
}
