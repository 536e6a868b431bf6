"use client";
import Link from "next/link";
import { Fragment } from "react";
import { count } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import type { CandidateItem, CauseGroup } from "@/server/contracts/failures";
import type { FailureView } from "../failure-view";
import { causeCode, causeWhere } from "../words";
import type { RowHandlers } from "./failure-list";
import { FailureRow } from "./failure-row";
import { FAILURE_COLUMNS, FailureTableHead, type SelectAllState } from "./failure-table-head";

export type GroupRows = {
  group: CauseGroup;
  open: boolean;
  /** Undefined while they are being read. */
  items: readonly CandidateItem[] | undefined;
  failed: boolean;
  /** How many open failures of this cause are in the selection. */
  selectedCount: number;
  selectable: boolean;
};

type GroupHandlers = {
  onOpen: (key: string, open: boolean) => void;
  onMore: (key: string) => void;
  onSelectAll: (key: string, on: boolean) => void;
  /** Address of the flat list of one cause, where there are more rows than a group shows. */
  flatHref: (key: string) => string;
  /** Most rows a group shows in place. */
  limit: number;
};

function GroupHead({ row, on }: { row: GroupRows; on: GroupHandlers }) {
  const { group } = row;
  const whole = row.selectedCount >= group.count;
  const mixed = row.selectedCount > 0 && !whole;
  return (
    <tr className="grp">
      <td className="c">
        <input
          type="checkbox"
          className={mixed ? "mixed" : undefined}
          ref={(box) => {
            if (box) box.indeterminate = mixed;
          }}
          checked={row.selectable && whole && row.selectedCount > 0}
          disabled={!row.selectable}
          aria-label={`Select all ${count(group.count)} of this cause: ${group.cause.sentence}${mixed ? `, ${count(row.selectedCount)} are selected` : ""}`}
          onChange={() => on.onSelectAll(group.cause.key, !whole)}
        />
      </td>
      <td colSpan={FAILURE_COLUMNS - 1}>
        <span className="row">
          <button
            type="button"
            className={row.open ? "tw-b open" : "tw-b"}
            aria-expanded={row.open}
            aria-label={`${row.open ? "Collapse" : "Expand"} ${group.cause.sentence}`}
            onClick={() => on.onOpen(group.cause.key, !row.open)}
          >
            <Icon name="right" small />
          </button>
          <span className="b">{group.cause.sentence}</span>
          <span className="b">{count(group.count)}</span>
          <span className="code hide-s">{causeCode(group.cause)}</span>
          <span className="m hide-s t1">{causeWhere(group, " · ")}</span>
          <span className="push m hide-s nw">{group.cause.wayOut.words}</span>
        </span>
      </td>
    </tr>
  );
}

function GroupRest({ row, on, selected }: { row: GroupRows; on: GroupHandlers; selected: ReadonlySet<string> }) {
  const shown = row.items?.length ?? 0;
  const left = row.group.count - shown;
  if (!row.items || left <= 0) return null;
  const shownSelected = row.items.filter((i) => selected.has(i.failureId)).length;
  const restSelected = Math.max(0, row.selectedCount - shownSelected);
  return (
    <tr className="grp">
      <td className="c hide-s" />
      <td colSpan={FAILURE_COLUMNS - 1}>
        {shown < on.limit ? (
          <button type="button" className="plain link" onClick={() => on.onMore(row.group.cause.key)}>
            Show {count(Math.min(left, on.limit - shown))} more of this cause
          </button>
        ) : (
          <Link className="link" href={on.flatHref(row.group.cause.key)}>
            All {count(row.group.count)} of this cause in a list
          </Link>
        )}{" "}
        {restSelected > 0 ? (
          <span className="m">
            {restSelected >= left
              ? `all ${count(left)} are in the selection`
              : `${count(restSelected)} of them are selected`}
          </span>
        ) : null}
      </td>
    </tr>
  );
}

function GroupBody({ row, handlers }: { row: GroupRows; handlers: RowHandlers }) {
  if (!row.open) return null;
  if (row.failed && !row.items) {
    return (
      <tr className="grp">
        <td className="c hide-s" />
        <td colSpan={FAILURE_COLUMNS - 1} className="m">
          These rows could not be read. They are read again shortly.
        </td>
      </tr>
    );
  }
  if (!row.items) {
    return Array.from({ length: Math.min(3, row.group.count) }, (_, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: placeholder rows have no identity
      <tr key={i}>
        <td className="c hide-s" />
        <td colSpan={FAILURE_COLUMNS - 1}>
          <span className="bars" style={{ width: 240 - i * 30 }} />
        </td>
      </tr>
    ));
  }
  return row.items.map((item) => (
    <FailureRow
      key={item.failureId}
      item={item}
      withCause={false}
      selected={handlers.selected.has(item.failureId)}
      current={handlers.current === item.failureId}
      onToggle={handlers.onToggle}
      onCurrent={handlers.onCurrent}
    />
  ));
}

/** The same rows, grouped by cause: a group is a row of the table; what it hides is counted and can be opened in place. */
export function FailureGroups(props: {
  rows: readonly GroupRows[];
  handlers: RowHandlers;
  on: GroupHandlers;
  all: SelectAllState | undefined;
  sort: FailureView["sort"];
  onSort: (sort: FailureView["sort"]) => void;
}) {
  return (
    <div className="tw">
      <table className="rec fails">
        <caption className="vh">Failures by cause</caption>
        <FailureTableHead all={props.all} sort={props.sort} onSort={props.onSort} />
        <tbody>
          {props.rows.map((row) => (
            <Fragment key={row.group.cause.key}>
              <GroupHead row={row} on={props.on} />
              <GroupBody row={row} handlers={props.handlers} />
              {row.open ? <GroupRest row={row} on={props.on} selected={props.handlers.selected} /> : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}
