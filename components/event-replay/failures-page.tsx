"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useMemo } from "react";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/ui/clock";
import { count, duration, many } from "@/components/ui/format";
import { TableKeys, usePageKeys } from "@/components/ui/keyboard";
import { useRowCursor } from "@/components/ui/row-cursor";
import { Failed, Stale, TableLoading } from "@/components/ui/states";
import { type FailureView, filterOf, filtersOf, withView } from "./failure-view";
import { FailureFilters } from "./panels/failure-filters";
import { NoMatch, NothingOpen } from "./panels/failures-states";
import { SelectionBar, useSelectionCheck } from "./panels/selection-bar";
import { planFailureHref, plannable, planSelectionHref } from "./plan/plan-batch";
import { selectedMatching } from "./selected-matching";
import { standing, useSelection } from "./selection";
import { FailureGroups } from "./tables/failure-groups";
import { FailureList } from "./tables/failure-list";
import { notSelectable } from "./tables/failure-row";
import { GROUP_LIMIT, useFailureRows } from "./use-failure-rows";
import { useFailureView } from "./use-failure-view";
import { useSelecting } from "./use-selecting";
import { causeHref, failureHref, STATUS_WORDS } from "./words";

const LOADING_HEADS = ["Event type", "Failure", "Scope and version", "Last failed"];
const KEYS = [
  { keys: ["J", "K"], does: "move" },
  { keys: ["X"], does: "select" },
  { keys: ["P"], does: "plan" },
  { keys: ["Enter"], does: "open" },
  { keys: ["?"], does: "all keys" },
];

/** "74 of 336 open match", "336 open", "1,204 resolved": totals that add up with what the filters leave. */
function headline(view: FailureView, total: number, causes: { totalCapped: boolean; openTotal: number }): string {
  const n = `${count(total)}${causes.totalCapped ? "+" : ""}`;
  const word = STATUS_WORDS[view.status].word.toLowerCase();
  if (view.status !== "OPEN") return `${n} ${word}, ${count(causes.openTotal)} open`;
  return filtersOf(view).length > 0 ? `${n} of ${count(causes.openTotal)} open match` : `${n} open`;
}

/** How old the reading is that the rows come from. */
function Updated({ at }: { at: number }) {
  const now = useNow();
  return <span>Updated {duration(now - at, 1)} ago</span>;
}

/** Everything that did not project, by cause or one below the other, with a selection that stays what it is. */
export function FailuresPage() {
  const { hostId, personKey } = useViewer();
  const router = useRouter();
  const client = useQueryClient();
  const now = useNow();
  const [view, go] = useFailureView();
  const hour = Math.floor(now / 3_600_000);
  const filter = useMemo(() => filterOf(view, hostId, hour * 3_600_000), [view, hostId, hour]);
  const rows = useFailureRows(view, filter);
  const { selection: kept, set, clear, unmark } = useSelection(hostId, personKey);
  const check = useSelectionCheck(hostId, kept);
  const selection = useMemo(() => standing(kept, check), [kept, check]);

  const flat = view.layout === "flat";
  const items = flat ? (rows.list.data?.items ?? []) : rows.groups.flatMap((g) => (g.open ? [...(g.items ?? [])] : []));
  const ids = items.map((i) => i.failureId);
  const byId = new Map(items.map((i) => [i.failureId, i]));

  const { toggle, selectMatching, selectProblem } = useSelecting({ items, filter, asOf: rows.asOf, set });

  const { current, setCurrent } = useRowCursor(ids, {
    open: (id) => router.push(failureHref(id)),
    toggle: (id, range) => toggle(id, !selection.ids.has(id), range),
    toggleGroup: (id) => {
      const key = byId.get(id)?.cause.key;
      if (key && view.status === "OPEN") void selectMatching(key, !selection.ids.has(id));
    },
    copy: (id) => void navigator.clipboard?.writeText(id),
    escape: () => selection.ids.size > 0 && clear(),
  });

  // `p` plans the selection; without one, the row under the keyboard.
  usePageKeys((key) => {
    if (key !== "p" || check?.permissions.plan.allowed === false) return false;
    const row = current === undefined ? undefined : byId.get(current);
    if (plannable(selection, new Set(check?.notOpenIds ?? [])).length > 0) router.push(planSelectionHref(selection));
    else if (selection.ids.size === 0 && row && !notSelectable(row)) router.push(planFailureHref(row.failureId));
    else return false;
    return true;
  });

  const selectedIn = (key: string): number => {
    const seen =
      rows.groups.find((g) => g.group.cause.key === key)?.items?.filter((i) => selection.ids.has(i.failureId)).length ??
      0;
    return selection.ids.size === 0 ? 0 : Math.max(seen, check?.byCause.find((c) => c.causeKey === key)?.count ?? 0);
  };

  const causes = rows.causes.data;
  const total = causes?.total ?? 0;
  const matched = selectedMatching({
    causes: (causes?.groups ?? []).map((g) => ({ count: g.count, selected: selectedIn(g.cause.key) })),
    byCauseOnly: filtersOf(view).every((key) => key === "cause"),
    shown: ids.length,
    shownSelected: ids.filter((id) => selection.ids.has(id)).length,
  });
  const all =
    view.status === "OPEN" && total > 0
      ? {
          checked: matched >= total,
          mixed: matched > 0 && matched < total,
          label: `Select all ${count(total)} matching${matched > 0 ? `, ${count(matched)} are selected` : ""}`,
          // What is selected and does not match stays selected.
          onChange: () =>
            matched > 0 && matched >= selection.ids.size ? clear() : void selectMatching(undefined, matched === 0),
        }
      : undefined;
  const handlers = { selected: selection.ids, current, onToggle: toggle, onCurrent: setCurrent };
  const onSort = (sort: typeof view.sort) => go(withView(view, { sort }));

  const listProblem = (flat ? rows.list.error : null) ?? rows.causes.error;
  const problem = listProblem ? asProblem(listProblem) : undefined;
  const staleCursor = problem?.code === "INVALID_REQUEST" && view.cursor !== undefined;
  const again = () => {
    if (staleCursor) go(withView(view, {}), "replace");
    void client.invalidateQueries({ queryKey: ["listEventReplayCause"] });
    void client.invalidateQueries({ queryKey: ["listEventReplayCandidate"] });
  };
  const shown = flat ? rows.list.data : causes;
  const narrowed = filtersOf(view).length > 0;

  return (
    <>
      <div className="ph">
        <div>
          <h1>Failures</h1>
          <div className="sub">
            {causes ? (
              <>
                <span>
                  {headline(view, total, causes)}
                  {total > 0 ? `, in ${many(causes.causeCount, "cause")}` : ""}
                </span>
                <Updated at={flat ? rows.list.dataUpdatedAt || rows.causes.dataUpdatedAt : rows.causes.dataUpdatedAt} />
                {rows.newerCount > 0 || rows.goneCount > 0 ? (
                  <button className="plain link" type="button" onClick={rows.refresh}>
                    {rows.newerCount > 0
                      ? `${count(rows.newerCount)}${rows.newerCount >= 1000 ? "+" : ""} new since you opened the page, show`
                      : `${count(rows.goneCount)} left the list since you opened the page, refresh`}
                  </button>
                ) : null}
              </>
            ) : null}
          </div>
        </div>
      </div>
      <FailureFilters view={view} groups={causes?.groups ?? []} go={go} />
      <SelectionBar
        selection={selection}
        check={check}
        onClear={clear}
        onUnmark={unmark}
        onRemove={(gone) => set(gone, false, selection.frozenAtMs)}
      />
      {selectProblem ? (
        <p className="note held stale" role="alert">
          {selectProblem}
        </p>
      ) : null}
      {problem && shown ? (
        <Stale onRetry={again}>
          {staleCursor
            ? "This place in the list is gone. Try again shows its first page."
            : `The list could not be read again. ${problem.message}`}{" "}
          The rows below are the last ones read.
        </Stale>
      ) : null}
      {problem && !shown ? (
        <Failed
          title="The list could not be read"
          sentence={problem.message}
          kept={`Nothing was changed${selection.ids.size > 0 ? ` and your selection of ${count(selection.ids.size)} is kept` : ""}.`}
          requestId={problem.requestId}
          onRetry={again}
        />
      ) : !shown ? (
        <TableLoading heads={LOADING_HEADS} />
      ) : total === 0 && (!flat || (rows.list.data?.items.length ?? 0) === 0) ? (
        narrowed ? (
          <NoMatch view={view} openTotal={causes?.openTotal ?? 0} go={go} />
        ) : (
          <NothingOpen view={view} go={go} />
        )
      ) : flat ? (
        <FailureList {...handlers} items={rows.list.data?.items ?? []} all={all} sort={view.sort} onSort={onSort} />
      ) : (
        <FailureGroups
          rows={rows.groups.map((g) => ({
            ...g,
            selectedCount: selectedIn(g.group.cause.key),
            selectable:
              view.status === "OPEN" &&
              g.group.cause.wayOut.code !== "NOT_REPLAYABLE" &&
              g.group.cause.wayOut.code !== "REGISTER_AND_SEND_AGAIN",
          }))}
          handlers={handlers}
          on={{
            onOpen: rows.openGroup,
            onMore: rows.showMore,
            onSelectAll: (key, on) => void selectMatching(key, on),
            flatHref: (key) => `${causeHref(key)}&view=flat`,
            limit: GROUP_LIMIT,
          }}
          all={all}
          sort={view.sort}
          onSort={onSort}
        />
      )}
      {total > 0 && shown ? (
        <div className="tf">
          <span>
            {count(items.length)} of {count(total)} shown, newest first; the place is kept while new ones arrive
          </span>
          {flat ? (
            <span className="row">
              <Button
                small
                icon="left"
                aria-disabled={!rows.list.data?.newerCursor || undefined}
                onClick={() => {
                  const cursor = rows.list.data?.newerCursor;
                  if (cursor) go({ ...view, cursor, direction: "newer" });
                }}
              >
                Newer
              </Button>
              <Button
                small
                aria-disabled={!rows.list.data?.olderCursor || undefined}
                onClick={() => {
                  const cursor = rows.list.data?.olderCursor;
                  if (cursor) go({ ...view, cursor, direction: "older" });
                }}
              >
                Older
              </Button>
            </span>
          ) : null}
          <TableKeys lines={KEYS} />
        </div>
      ) : null}
    </>
  );
}
