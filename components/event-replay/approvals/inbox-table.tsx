"use client";
import Link from "next/link";
import { ButtonLink } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { Digest } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import { Who } from "@/components/ui/who";
import type { ListReplayResponse, ReplayListItem } from "@/server/contracts/replay-list";
import { requestHref } from "../request/replay-words";
import { Deadline } from "../requests/deadline";
import { requestParts, requestTitle } from "../requests/row-words";
import { type InboxSection, whoDecides, whyNotYou } from "./inbox-view";

type Section = { section: InboxSection; approvers: ListReplayResponse["eligibleApprovers"] };
type Cursor = { current: string | undefined; onCurrent: (id: string) => void };

/** The last column: the way to decide, who else decides, or why not the viewer. */
function Decision({ item, section, approvers }: { item: ReplayListItem } & Section) {
  if (section.view === "WAITING_FOR_ME") {
    return (
      <ButtonLink href={requestHref(item.replayRequestId)} small>
        Review<span className="vh"> {requestTitle(item)}</span>
      </ButtonLink>
    );
  }
  const why = whyNotYou(item);
  if (section.view === "MINE_WAITING" && !item.stale) {
    return (
      <span>
        {whoDecides(approvers)}
        <span className="sm m">{why}</span>
      </span>
    );
  }
  return (
    <span className="why">
      <Icon name="lock" small />
      <span>{why}</span>
    </span>
  );
}

function InboxRow({ item, current, onCurrent, ...rest }: Cursor & Section & { item: ReplayListItem }) {
  const title = requestTitle(item);
  const href = requestHref(item.replayRequestId);
  return (
    <tr
      className={current === item.replayRequestId ? "cur" : undefined}
      data-row={item.replayRequestId}
      onPointerDown={() => onCurrent(item.replayRequestId)}
    >
      <td>
        <span className="what">
          <Icon name="replay" />
          <span>
            <Link className="md" href={href}>
              {title}
            </Link>
            {item.stale ? (
              <>
                {" "}
                <Status status="held">Stale</Status>
              </>
            ) : null}
            <span className="sm m">{requestParts(item)}</span>
          </span>
        </span>
      </td>
      <td data-l="Asked by">
        <span>
          <span className="row asked">
            <Who name={item.requester.name} you={item.requester.isYou} />
            <span className="m sm nw">
              <Age at={item.requestedTs} units={1} suffix=" ago" />
            </span>
          </span>
          <span className="sm m t1" title={item.reason}>
            {item.reason}
          </span>
        </span>
      </td>
      <td className="hide-m" data-l="Bound to">
        {item.planHash ? <Digest value={item.planHash} /> : null}
      </td>
      <td className="nw" data-l="Expires in">
        <Deadline at={item.expiresAt} line="exact" />
      </td>
      <td className="act-c" data-l={rest.section.view === "WAITING_FOR_ME" ? undefined : rest.section.last}>
        <Decision item={item} {...rest} />
      </td>
    </tr>
  );
}

/** One section of the inbox as a table; its columns stand below those of the sections above and below it. */
export function InboxTable(props: Cursor & Section & { items: readonly ReplayListItem[] }) {
  return (
    <div className="tw">
      <table className="rec inbox">
        <caption className="vh">{props.section.heading}</caption>
        <colgroup>
          <col />
          <col className="i-who" />
          <col className="i-hash hide-m" />
          <col className="i-when" />
          <col className="i-act" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Asked by, why</th>
            <th scope="col" className="hide-m">
              Bound to
            </th>
            <th scope="col">Expires in</th>
            <th scope="col">
              {props.section.view === "WAITING_FOR_ME" ? (
                <span className="vh">{props.section.last}</span>
              ) : (
                props.section.last
              )}
            </th>
          </tr>
        </thead>
        <tbody>
          {props.items.map((item) => (
            <InboxRow
              key={item.replayRequestId}
              item={item}
              section={props.section}
              approvers={props.approvers}
              current={props.current}
              onCurrent={props.onCurrent}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
