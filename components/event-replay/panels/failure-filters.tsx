"use client";
import { AddFilter, type ChipOption, FilterChip, Find, Segments } from "@/components/ui/chip";
import { shortId } from "@/components/ui/format";
import type { CauseGroup } from "@/server/contracts/failures";
import { type FailureView, type FilterKey, withoutFilter, withView } from "../failure-view";
import { POLICY_WORDS, STATUS_WORDS, scopeParts } from "../words";

const STATUS: readonly ChipOption[] = (["OPEN", "RESOLVED", "WAIVED"] as const).map((s) => ({
  value: s,
  label: STATUS_WORDS[s].word.toLowerCase(),
}));

const FIRST: readonly ChipOption[] = [
  { value: "1h", label: "last hour" },
  { value: "24h", label: "last 24 h" },
  { value: "7d", label: "last 7 days" },
  { value: "30d", label: "last 30 days" },
];

const POLICIES: readonly ChipOption[] = Object.entries(POLICY_WORDS).map(([value, label]) => ({ value, label }));
const EVIDENCE: readonly ChipOption[] = [{ value: "without", label: "without" }];

export const FILTER_NAMES: Record<FilterKey, string> = {
  q: "Search",
  projection: "Projection",
  first: "First failed",
  code: "Error code",
  type: "Event type",
  policy: "Policy",
  cause: "Cause",
  evidence: "Evidence only",
  scope: "Scope",
};

const distinct = (values: readonly (string | null | undefined)[]): ChipOption[] =>
  [...new Set(values.filter((v): v is string => Boolean(v)))].sort().map((v) => ({ value: v, label: v }));

type Choice = { key: FilterKey; name: string; options: readonly ChipOption[] };

/** What can be filtered by, from the causes that are open now; a value in use is always among its options. */
function choices(view: FailureView, groups: readonly CauseGroup[]): Choice[] {
  const own = (value: string | undefined) => (value ? [value] : []);
  return [
    {
      key: "projection",
      name: FILTER_NAMES.projection,
      options: distinct([...groups.flatMap((g) => g.projections), ...own(view.projection)]),
    },
    { key: "first", name: FILTER_NAMES.first, options: FIRST },
    {
      key: "code",
      name: FILTER_NAMES.code,
      options: distinct([...groups.map((g) => g.cause.code), ...own(view.code)]),
    },
    {
      key: "type",
      name: FILTER_NAMES.type,
      options: distinct([...groups.flatMap((g) => g.eventTypes.names), ...own(view.type)]),
    },
    { key: "policy", name: FILTER_NAMES.policy, options: POLICIES },
    { key: "cause", name: FILTER_NAMES.cause, options: causeOptions(view, groups) },
    { key: "evidence", name: FILTER_NAMES.evidence, options: EVIDENCE },
  ];
}

function causeOptions(view: FailureView, groups: readonly CauseGroup[]): ChipOption[] {
  const options = groups.map((g) => ({ value: g.cause.key, label: g.cause.sentence }));
  return view.cause && !options.some((o) => o.value === view.cause)
    ? [...options, { value: view.cause, label: view.cause }]
    : options;
}

/** Search, one chip a filter, the way to add one, and the layout. Everything it changes stands in the URL. */
export function FailureFilters({
  view,
  groups,
  go,
}: {
  view: FailureView;
  groups: readonly CauseGroup[];
  go: (view: FailureView) => void;
}) {
  const all = choices(view, groups);
  const used = all.filter((c) => view[c.key as keyof FailureView] !== undefined);
  const free = all.filter((c) => view[c.key as keyof FailureView] === undefined && c.options.length > 0);
  const set = (key: string, value: string) => go(withView(view, { [key]: value }));
  const scope =
    view.scopeType && view.scopeKey ? scopeParts({ scopeType: view.scopeType, scopeKey: view.scopeKey }) : undefined;
  return (
    <div className="bar chips">
      <Find
        label="Search failures"
        placeholder="Event type, scope, id, code"
        value={view.q ?? ""}
        onChange={(q) => go(withView(view, { q: q || undefined }))}
      />
      <FilterChip name="Status" value={view.status} options={STATUS} onChange={(v) => set("status", v)} />
      {used.map((c) => (
        <FilterChip
          key={c.key}
          name={c.name}
          value={String(view[c.key as keyof FailureView])}
          options={c.options}
          onChange={(v) => set(c.key, v)}
          onRemove={() => go(withoutFilter(view, c.key))}
        />
      ))}
      {scope ? (
        <FilterChip
          name="Scope"
          value="own"
          options={[{ value: "own", label: `${scope.type}:${shortId(scope.keyText)}` }]}
          onChange={() => {}}
          onRemove={() => go(withoutFilter(view, "scope"))}
        />
      ) : null}
      <AddFilter filters={free} onAdd={set} />
      <span className="push row">
        <Segments
          label="Layout"
          value={view.layout}
          options={[
            { value: "cause", label: "By cause" },
            { value: "flat", label: "Flat" },
          ]}
          onChange={(layout) => go(withView(view, { layout: layout as FailureView["layout"] }))}
        />
      </span>
    </div>
  );
}
