import Link from "next/link";
import { failureHref } from "@/components/event-replay/words";
import { shortId } from "@/components/ui/format";
import { ScopeText } from "@/components/ui/id-text";
import { Status, type StatusKey } from "@/components/ui/status";
import { ExactTime } from "@/components/ui/time";
import type { NotificationItem } from "@/server/contracts/notifications";

const OUTCOMES: Record<NotificationItem["status"], { status: StatusKey; word: string }> = {
  PENDING: { status: "running", word: "Pending" },
  SUCCEEDED: { status: "done", word: "Projected" },
  FAILED: { status: "failed", word: "Failed" },
  DLQ: { status: "failed", word: "DLQ" },
  SKIPPED: { status: "closed", word: "Skipped" },
};

const unread = (n: NotificationItem): boolean => n.readTs === null && (n.status === "FAILED" || n.status === "DLQ");

/** Where the transaction can be recovered: at its failure, if one was captured. Never here. */
function WayOut({ item }: { item: NotificationItem }) {
  if (item.failureId) {
    return (
      <Link
        className="link"
        href={failureHref(item.failureId)}
        aria-label={`Replay happens at failure ${shortId(item.failureId)}`}
      >
        at failure {shortId(item.failureId)}
      </Link>
    );
  }
  const failed = item.status === "FAILED" || item.status === "DLQ";
  return <span className="m">{failed ? "for reading; not replayable" : "nothing to do"}</span>;
}

/** One row an event outcome. It has no checkbox and no action: these rows are for reading. */
export function NotificationTable({ items }: { items: readonly NotificationItem[] }) {
  return (
    <div className="tw">
      <table className="rec notes">
        <caption className="vh">Notifications, for reading only</caption>
        <thead>
          <tr>
            <th scope="col">Event type</th>
            <th scope="col">Aggregate</th>
            <th scope="col">Outcome</th>
            <th scope="col">Why</th>
            <th scope="col">Processed</th>
            <th scope="col">Where it is recovered</th>
          </tr>
        </thead>
        <tbody>
          {items.map((n) => (
            <tr key={n.id} data-unread={unread(n) || undefined}>
              <td className="lead-s">
                {n.eventClass}
                {unread(n) ? <span className="vh"> unread</span> : null}
              </td>
              <td data-l="Aggregate">
                {n.aggregateType && n.aggregateId ? (
                  <span>
                    <ScopeText type={n.aggregateType} keyText={n.aggregateId} copy={false} />
                    {n.aggregateVersion === null ? null : <span className="m"> v{n.aggregateVersion}</span>}
                  </span>
                ) : (
                  <span className="m">none</span>
                )}
              </td>
              <td data-l="Outcome">
                <Status status={OUTCOMES[n.status].status}>{OUTCOMES[n.status].word}</Status>
              </td>
              <td data-l="Why">
                <span>
                  {n.errorSentence ?? (n.error ? "" : <span className="m">–</span>)}
                  {n.error ? <span className="code"> {n.error}</span> : null}
                </span>
              </td>
              <td className="nw" data-l="Processed">
                <ExactTime at={n.processTs} />
              </td>
              <td className="nw" data-l="Recovery">
                <WayOut item={n} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
