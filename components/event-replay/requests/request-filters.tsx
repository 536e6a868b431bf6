"use client";
import { AddFilter, type ChipOption, FilterChip } from "@/components/ui/chip";
import { shortId } from "@/components/ui/format";
import { type RequestsView, STATUS_FILTER_WORDS, type StatusFilter } from "./requests-view";

const STATUS: readonly ChipOption[] = Object.entries(STATUS_FILTER_WORDS).map(([value, label]) => ({ value, label }));
const PREVIEWS: readonly ChipOption[] = [{ value: "with", label: "with" }];

/** One chip a filter, each a key of the URL. Changing one goes back to the first page. */
export function RequestFilters({ view, go }: { view: RequestsView; go: (view: RequestsView) => void }) {
  const { status, failureId, previews } = view;
  const next = (change: Partial<RequestsView>) => {
    const { cursor: _, ...rest } = view;
    go({ ...rest, ...change });
  };
  const without = (key: "failureId" | "previews") => {
    const { cursor: _, [key]: __, ...rest } = view;
    go(rest);
  };
  return (
    <div className="bar chips">
      <FilterChip
        name="Status"
        value={status}
        options={STATUS}
        onChange={(value) => next({ status: value as StatusFilter })}
        onRemove={status === "all" ? undefined : () => next({ status: "all" })}
      />
      {failureId ? (
        <FilterChip
          name="Failure"
          value={failureId}
          options={[{ value: failureId, label: shortId(failureId) }]}
          onChange={() => {}}
          onRemove={() => without("failureId")}
        />
      ) : null}
      {previews ? (
        <FilterChip
          name="Previews"
          value="with"
          options={PREVIEWS}
          onChange={() => {}}
          onRemove={() => without("previews")}
        />
      ) : (
        <AddFilter
          filters={[{ key: "previews", name: "Previews", options: PREVIEWS }]}
          onAdd={() => next({ previews: true })}
        />
      )}
    </div>
  );
}
