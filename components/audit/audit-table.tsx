import Link from "next/link";
import { failureHref } from "@/components/event-replay/words";
import { many, shortDigest, shortId } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { ExactTime } from "@/components/ui/time";
import type { AuditItem } from "@/server/contracts/audit";
import { isId } from "./audit-view";
import { auditWords, factWord } from "./audit-words";

/** Long values by their ends; what is short is shown as it is. */
function factText(text: string): string {
  if (text.startsWith("sha256:")) return shortDigest(text);
  return isId(text) ? shortId(text) : text;
}

function Facts({ item }: { item: AuditItem }) {
  // One refused call began when it was recorded.
  const once = item.facts.some(({ name, text }) => name === "calls" && text === "1");
  const facts = item.facts.filter(
    ({ name }) => name !== "operation" && !(once && (name === "calls" || name === "since")),
  );
  if (facts.length === 0) return null;
  return (
    <ul className="facts sm">
      {facts.map(({ name, text }) => (
        <li key={name} title={text}>
          {factWord(name)} <span className="mono">{factText(text)}</span>
        </li>
      ))}
    </ul>
  );
}

function About({ item }: { item: AuditItem }) {
  const { replayRequestId, failureId, barrierId, failureIds } = item;
  const operation = item.facts.find(({ name }) => name === "operation")?.text;
  const parts = [
    operation ? (
      <span key="operation" className="mono">
        {operation}
      </span>
    ) : null,
    replayRequestId ? (
      <Link key="request" className="link" href={`/event-replay/requests/${replayRequestId}`}>
        request <span className="mono">{shortId(replayRequestId)}</span>
      </Link>
    ) : null,
    failureId ? (
      <Link key="failure" className="link" href={failureHref(failureId)}>
        failure <span className="mono">{shortId(failureId)}</span>
      </Link>
    ) : null,
    barrierId ? (
      <span key="barrier">
        barrier <Id value={barrierId} copy={false} />
      </span>
    ) : null,
    failureIds.length > 0 ? <span key="many">{many(failureIds.length, "failure")}</span> : null,
  ].filter((part) => part !== null);
  return parts.length > 0 ? <span className="about">{parts}</span> : <span className="m">the host</span>;
}

/** Processes are named by their service and an id of their own. */
function shortenedWorker(id: string): string {
  const [, service, instance] = /^(.*:)([0-9a-f-]{36})$/.exec(id) ?? [];
  return service && instance ? `${service}${shortId(instance)}` : id;
}

function Who({ item, onWho }: { item: AuditItem; onWho: (actorId: string) => void }) {
  const { actor, actorType } = item;
  const id = shortenedWorker(actor.personId);
  if (actorType === "SYSTEM") return <span className="m">nobody, time ran out</span>;
  return (
    <span>
      <button
        className="link who"
        type="button"
        title={actor.personId}
        aria-label={`Only records of ${actor.name ?? actor.personId}`}
        onClick={() => onWho(actor.personId)}
      >
        <bdi>{actor.name ?? (actorType === "WORKER" ? id : actor.personId)}</bdi>
        {actor.isYou ? " (you)" : ""}
      </button>
      {actorType === "WORKER" ? (
        <span className="sm">process or client</span>
      ) : actor.name === null ? null : (
        <span className="sm">
          <bdi>{actor.personId}</bdi>
        </span>
      )}
    </span>
  );
}

/** One row a record, newest first, as it was written. Nothing here can be changed, by anybody. */
export function AuditTable({ items, onWho }: { items: readonly AuditItem[]; onWho: (actorId: string) => void }) {
  return (
    <div className="tw">
      <table className="rec audit">
        <caption className="vh">Audit records, newest first</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">About</th>
            <th scope="col">Who</th>
            <th scope="col">Why, and what was recorded</th>
            <th scope="col">When</th>
            <th scope="col" className="r">
              No.
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.auditId}>
              <td className="lead-s">
                {auditWords(item.event)}
                <span className="code">{item.event}</span>
              </td>
              <td data-l="About">
                <About item={item} />
              </td>
              <td data-l="Who">
                <Who item={item} onWho={onWho} />
              </td>
              <td data-l="Why">
                <div>
                  {item.reason ? <bdi className="reason">{item.reason}</bdi> : null}
                  <Facts item={item} />
                  {item.reason || item.facts.length > 0 ? null : <span className="m">–</span>}
                </div>
              </td>
              <td className="nw" data-l="When">
                <ExactTime at={item.at} />
              </td>
              <td className="r nw" data-l="No." title={item.chainDigest}>
                {item.chainNo}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
