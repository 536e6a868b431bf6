"use client";
import type { CandidateItem } from "@/server/contracts/failures";
import type { FailureView } from "../failure-view";
import { FailureRow } from "./failure-row";
import { FailureTableHead, type SelectAllState } from "./failure-table-head";

export type RowHandlers = {
  selected: ReadonlySet<string>;
  current: string | undefined;
  onToggle: (id: string, on: boolean, range: boolean) => void;
  onCurrent: (id: string) => void;
};

/** Failures one below the other, each with its cause. */
export function FailureList(
  props: RowHandlers & {
    items: readonly CandidateItem[];
    all: SelectAllState | undefined;
    sort: FailureView["sort"];
    onSort: (sort: FailureView["sort"]) => void;
  },
) {
  return (
    <div className="tw">
      <table className="rec fails">
        <caption className="vh">Failures</caption>
        <FailureTableHead all={props.all} sort={props.sort} onSort={props.onSort} />
        <tbody>
          {props.items.map((item) => (
            <FailureRow
              key={item.failureId}
              item={item}
              withCause
              selected={props.selected.has(item.failureId)}
              current={props.current === item.failureId}
              onToggle={props.onToggle}
              onCurrent={props.onCurrent}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
