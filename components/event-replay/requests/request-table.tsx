"use client";
import Link from "next/link";
import { Id } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { Age, ExactTime } from "@/components/ui/time";
import { Who } from "@/components/ui/who";
import type { ReplayListItem } from "@/server/contracts/replay-list";
import { replayStatusWords, requestHref } from "../request/replay-words";
import { Deadline } from "./deadline";
import { progressOf, requestParts, requestTitle } from "./row-words";

const WAITS: readonly ReplayListItem["status"][] = ["AWAITING_APPROVAL", "APPROVED", "READY"];

/** Below the state: why it failed, until when it waits, or when it ended. */
function StateNote({ item }: { item: ReplayListItem }) {
  if (item.failureCode !== null) return <span className="sm code">{item.failureCode}</span>;
  if (WAITS.includes(item.status)) {
    return (
      <span className="sm">
        <Deadline at={item.expiresAt} line="inline" />
      </span>
    );
  }
  if (item.completedTs === null) return null;
  return (
    <span className="sm m">
      <Age at={item.completedTs} suffix=" ago" />
    </span>
  );
}

function RequestRow(props: { item: ReplayListItem; current: boolean; onCurrent: (id: string) => void }) {
  const { item } = props;
  const { status, word } = replayStatusWords(item);
  const { done, rest } = progressOf(item);
  return (
    <tr
      className={props.current ? "cur" : undefined}
      data-row={item.replayRequestId}
      onPointerDown={() => props.onCurrent(item.replayRequestId)}
    >
      <td className="lead-s">
        <Link className="md" href={requestHref(item.replayRequestId)}>
          {requestTitle(item)}
        </Link>
        <span className="sm m">{requestParts(item)}</span>
      </td>
      <td className="hide-m" data-l="Request">
        <Id value={item.replayRequestId} />
      </td>
      <td data-l="Asked by">
        <span>
          <Who name={item.requester.name} you={item.requester.isYou} />
          <span className="sm m t1" title={item.reason}>
            {item.reason}
          </span>
        </span>
      </td>
      <td className="hide-m" data-l="Approved by">
        {item.approver ? (
          <Who name={item.approver.name} you={item.approver.isYou} />
        ) : (
          <span className="m">{item.status === "AWAITING_APPROVAL" ? "nobody yet" : "nobody"}</span>
        )}
      </td>
      <td className="nw q-asked" data-l="Asked">
        <ExactTime at={item.requestedTs} />
      </td>
      <td className="nw" data-l="Progress">
        <span>
          {done}
          {rest ? <span className="sm m">{rest}</span> : null}
        </span>
      </td>
      <td data-l="State">
        <span>
          <Status status={status}>{word}</Status>
          <StateNote item={item} />
        </span>
      </td>
    </tr>
  );
}

/** Requests one below the other: what, id, who and why, when, how far, and how it stands. The first cell is the link. */
export function RequestTable(props: {
  items: readonly ReplayListItem[];
  current: string | undefined;
  onCurrent: (id: string) => void;
}) {
  return (
    <div className="tw">
      <table className="rec reqs">
        <caption className="vh">Replay requests</caption>
        <colgroup>
          <col />
          <col className="q-id hide-m" />
          <col className="q-who" />
          <col className="q-ok hide-m" />
          <col className="q-when q-asked" />
          <col className="q-far" />
          <col className="q-state" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" className="hide-m">
              Request
            </th>
            <th scope="col">Asked by, why</th>
            <th scope="col" className="hide-m">
              Approved by
            </th>
            <th scope="col" className="q-asked">
              Asked
            </th>
            <th scope="col">Progress</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {props.items.map((item) => (
            <RequestRow
              key={item.replayRequestId}
              item={item}
              current={props.current === item.replayRequestId}
              onCurrent={props.onCurrent}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
