"use client";
import Link from "next/link";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { count, many } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { Status, type StatusKey } from "@/components/ui/status";
import { ScopeLabel } from "../scope-label";
import { failureHref, STATUS_WORDS } from "../words";
import { between } from "./request-times";
import type { Replay } from "./request-view";
import { useShown } from "./use-shown";

type Item = Replay["items"][number];

const RESULT: Record<Item["status"], { status: StatusKey; word: string } | undefined> = {
  PENDING: undefined,
  RUNNING: { status: "running", word: "Running" },
  SUCCEEDED: { status: "done", word: "Succeeded" },
  FAILED: { status: "failed", word: "Failed" },
};

const eventTypes = (item: Item): string => {
  const more = item.eventTypes.count - 1;
  return more > 0 ? `${item.eventTypes.first} and ${many(more, "more type")}` : item.eventTypes.first;
};

const SCOPES_SHOWN = 3;

/** The scopes an item moves, and to which version. */
function Moves({ item }: { item: Item }) {
  if (item.scopes.length === 0) return <span className="m">no ordered scope</span>;
  const rest = item.scopes.length - SCOPES_SHOWN;
  return (
    <span>
      {item.scopes.slice(0, SCOPES_SHOWN).map((s) => (
        <span className="nw line" key={`${s.scopeType} ${s.scopeKey}`}>
          <ScopeLabel scope={s} />{" "}
          <span className="m">
            v{s.firstVersion}
            {s.lastVersion !== s.firstVersion ? ` to v${s.lastVersion}` : ""}
          </span>
        </span>
      ))}
      {rest > 0 ? <span className="m sm">and {count(rest)} more</span> : null}
    </span>
  );
}

function Result({ item, request }: { item: Item; request: Replay }) {
  const result = RESULT[item.status];
  if (!result) return <span className="m">{request.completedTs === null ? "Waiting" : "Not run"}</span>;
  const own = request.attempts.filter((a) => a.itemOrdinal === item.ordinal);
  const last = own.at(-1);
  const time = between(last?.startedTs, last?.completedTs);
  return (
    <span>
      <Status status={result.status}>{result.word}</Status>
      <span className="m sm">
        {[time, item.attemptCount > 1 ? `attempt ${count(item.attemptCount)}` : ""].filter(Boolean).join(", ")}
      </span>
    </span>
  );
}

/** Why an item is in the plan; a failure that is no longer open is said here too. */
function Why({ item }: { item: Item }) {
  const { status, word } = STATUS_WORDS[item.failureStatus];
  return (
    <span>
      <span className={item.addedDependency ? "nw" : "nw m"}>{item.dependencyReason}</span>
      {item.failureStatus === "OPEN" ? null : (
        <span className="sm">
          <Status status={status}>{word}</Status>
        </span>
      )}
    </span>
  );
}

/** The items in the order they run: what, which failure, where it moves, why it is in, and what became of it. */
export function ItemTable({ request: r, sub: said, action }: { request: Replay; sub?: string; action?: ReactNode }) {
  const { shown, hidden, all } = useShown(r.items);
  const ran = r.startedTs !== null;
  const n = r.transactionCount;
  const covers =
    ran || r.validationMode === "VALIDATE_ONLY"
      ? ""
      : `the approval covers ${n === 1 ? "this one and no other" : `these ${count(n)} and no others`}`;
  return (
    <section>
      <div className="sec-h">
        <h2>Items</h2>
        <span className="m">{said ?? covers}</span>
        {action}
      </div>
      <div className="tw scroll">
        <table className="rec">
          <caption className="vh">Items of the plan</caption>
          <thead>
            <tr>
              <th scope="col" className="no-col">
                #
              </th>
              <th scope="col">Transaction</th>
              <th scope="col">Failure</th>
              <th scope="col">Moves</th>
              {ran ? null : <th scope="col">Why it is in</th>}
              {ran ? <th scope="col">Result</th> : null}
              <th scope="col" className="r">
                Events
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <tr key={item.ordinal}>
                <td className="m hide-s">{item.ordinal + 1}</td>
                <td className="lead-s">
                  <span className="only-i m">{item.ordinal + 1} </span>
                  <Link href={failureHref(item.failureId)}>{eventTypes(item)}</Link>
                  {ran ? <span className="m sm">{item.dependencyReason}</span> : null}
                </td>
                <td data-l="Failure">
                  <Id value={item.failureId} />
                </td>
                <td data-l="Moves">
                  <Moves item={item} />
                </td>
                {ran ? null : (
                  <td data-l="Why it is in">
                    <Why item={item} />
                  </td>
                )}
                {ran ? (
                  <td data-l="Result">
                    <Result item={item} request={r} />
                  </td>
                ) : null}
                <td className="r" data-l="Events">
                  {count(item.eventCount)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 ? (
        <div className="tf">
          <Button small onClick={all}>
            Show {count(hidden)} more items
          </Button>
        </div>
      ) : null}
    </section>
  );
}
