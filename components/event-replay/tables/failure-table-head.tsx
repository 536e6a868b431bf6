import { Icon } from "@/components/ui/icon";
import type { FailureView } from "../failure-view";

export const FAILURE_COLUMNS = 9;

export type SelectAllState = { checked: boolean; mixed: boolean; label: string; onChange: () => void };

/** Sorting is shown on one head only; the other time column offers to take over. */
function TimeHead(props: {
  name: string;
  sort: FailureView["sort"];
  own: FailureView["sort"];
  onSort: (sort: FailureView["sort"]) => void;
  className?: string;
}) {
  const active = props.sort === props.own;
  return (
    <th scope="col" className={props.className} aria-sort={active ? "descending" : undefined}>
      {active ? (
        <span className="sort">
          {props.name}
          <Icon name="down" small />
        </span>
      ) : (
        <button
          className="headbtn"
          type="button"
          onClick={() => props.onSort(props.own)}
          aria-label={`Sort by ${props.name.toLowerCase()}`}
        >
          {props.name}
        </button>
      )}
    </th>
  );
}

export function FailureTableHead({
  all,
  sort,
  onSort,
}: {
  all: SelectAllState | undefined;
  sort: FailureView["sort"];
  onSort: (sort: FailureView["sort"]) => void;
}) {
  return (
    <>
      <colgroup>
        <col className="k0" />
        <col />
        <col className="k2" />
        <col className="k3" />
        <col className="k4 hide-l" />
        <col className="k7" />
        <col className="k5 hide-m" />
        <col className="k6" />
        <col className="k7" />
      </colgroup>
      <thead>
        <tr>
          <th className="c">
            {all ? (
              <input
                type="checkbox"
                className={all.mixed ? "mixed" : undefined}
                ref={(box) => {
                  if (box) box.indeterminate = all.mixed;
                }}
                checked={all.checked}
                aria-label={all.label}
                onChange={all.onChange}
              />
            ) : (
              <span className="vh">Selected</span>
            )}
          </th>
          <th scope="col">Event type</th>
          <th scope="col">Failure</th>
          <th scope="col">Scope and version</th>
          <th scope="col" className="hide-l">
            Policy
          </th>
          <th scope="col" className="r">
            Members
          </th>
          <TimeHead className="hide-m" name="First failed" sort={sort} own="firstFailed" onSort={onSort} />
          <TimeHead name="Last failed" sort={sort} own="lastFailed" onSort={onSort} />
          <th scope="col" className="r">
            Attempts
          </th>
        </tr>
      </thead>
    </>
  );
}
