"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePathname, useSearchParams } from "next/navigation";
import { useMemo, useState } from "react";
import { listAuditEvents } from "@/components/api/audit";
import { asProblem } from "@/components/api/problem";
import { useViewer } from "@/components/api/session";
import { Button, ButtonLink } from "@/components/ui/button";
import { AddFilter, type ChipOption, FilterChip, Find } from "@/components/ui/chip";
import { useNow } from "@/components/ui/clock";
import { shortId } from "@/components/ui/format";
import { Empty, Failed, Stale, TableLoading } from "@/components/ui/states";
import type { AuditItem } from "@/server/contracts/audit";
import { AuditExportButtons } from "./audit-export";
import { AuditTable } from "./audit-table";
import { type AuditView, auditFilter, isId, PAGE_SIZE, readAuditView, WHEN, writeAuditView } from "./audit-view";
import { AUDIT_KINDS } from "./audit-words";

const WHEN_OPTIONS: readonly ChipOption[] = Object.entries(WHEN).map(([value, { label }]) => ({ value, label }));
const WHAT_OPTIONS: readonly ChipOption[] = Object.entries(AUDIT_KINDS).map(([value, { label }]) => ({ value, label }));

function whoOptions(items: readonly AuditItem[], chosen: string | undefined): ChipOption[] {
  const names = new Map(items.filter((i) => i.actorType === "USER").map((i) => [i.actor.personId, i.actor.name]));
  if (chosen !== undefined && !names.has(chosen)) names.set(chosen, null);
  return [...names].map(([value, name]) => ({ value, label: name ?? value }));
}

function Filters({ view, items, go }: { view: AuditView; items: readonly AuditItem[]; go: (view: AuditView) => void }) {
  const [typed, setTyped] = useState("");
  const filters = [
    { key: "when", name: "When", options: WHEN_OPTIONS },
    { key: "what", name: "What", options: WHAT_OPTIONS },
    { key: "who", name: "Who", options: whoOptions(items, view.who) },
  ] as const;
  const set = (key: string, value: string | undefined) => go(readAuditView(paramsOf({ ...view, [key]: value })));
  return (
    <div className="bar chips">
      <Find
        label="Find by id"
        placeholder="Id of a request, failure or barrier"
        value={view.about ?? typed}
        onChange={(text) => {
          const id = text.trim().toLowerCase();
          setTyped(isId(id) ? "" : text);
          if (isId(id) || view.about) set("about", isId(id) ? id : undefined);
        }}
      />
      {filters
        .filter(({ key }) => view[key] !== undefined)
        .map(({ key, name, options }) => (
          <FilterChip
            key={key}
            name={name}
            value={view[key] ?? ""}
            options={options}
            onChange={(value) => set(key, value)}
            onRemove={() => set(key, undefined)}
          />
        ))}
      <AddFilter
        filters={filters.filter(({ key, options }) => view[key] === undefined && options.length > 0)}
        onAdd={set}
      />
      {typed && !view.about ? (
        <span className="sm" role="status">
          An id has 36 characters, as its copy button gives it.
        </span>
      ) : null}
    </div>
  );
}

const paramsOf = (view: AuditView) => new URLSearchParams(writeAuditView(view));

function Nothing({ view, go }: { view: AuditView; go: (view: AuditView) => void }) {
  if (Object.keys(view).length === 0) {
    return (
      <Empty title="Nothing has been recorded" actions={<ButtonLink href="/">Overview</ButtonLink>}>
        The first plan, decision, run, sign-in or refused call of this host appears here.
      </Empty>
    );
  }
  return (
    <Empty state="no-match" title="No record matches" actions={<Button onClick={() => go({})}>Clear filters</Button>}>
      {view.about
        ? `Nothing is recorded about ${shortId(view.about)} under these filters.`
        : "The filters leave nothing of this host."}
    </Empty>
  );
}

/** Who did what, when and why on this host, refused calls included: for reading and export. */
export function AuditPage() {
  const { hostId } = useViewer();
  const params = useSearchParams();
  const path = usePathname();
  const key = params.toString();
  const view = useMemo(() => readAuditView(new URLSearchParams(key)), [key]);
  const now = useNow();
  // Where the filter's time counts back from stays put, and so does the place in the list, until the filters change.
  const [place, setPlace] = useState<{ key: string; nowMs: number; cursors: readonly string[] }>();
  const { nowMs, cursors } = place?.key === key ? place : { nowMs: minute(now), cursors: [] };
  const filter = auditFilter(view, hostId, nowMs);
  const cursor = cursors.at(-1);
  const query = useQuery({
    ...listAuditEvents({ ...filter, pageSize: PAGE_SIZE, ...(cursor ? { cursor } : {}) }),
    placeholderData: keepPreviousData,
  });
  const go = (next: AuditView) => window.history.pushState(null, "", `${path}${writeAuditView(next)}`);
  const { data } = query;
  const problem = query.error ? asProblem(query.error) : undefined;
  return (
    <>
      <div className="ph">
        <div>
          <h1>Audit</h1>
          <div className="sub">
            <span>Records are added, never changed: each is bound to all before it by its number.</span>
          </div>
        </div>
        <AuditExportButtons filter={filter} mayExport={data?.mayExport} />
      </div>
      <Filters view={view} items={data?.items ?? []} go={go} />
      {problem && data ? (
        <Stale onRetry={() => void query.refetch()}>
          The list could not be read again. {problem.message} The rows below are the last ones read.
        </Stale>
      ) : null}
      {!data && problem ? (
        <Failed
          title="The audit could not be read"
          sentence={problem.message}
          kept="Nothing was changed."
          requestId={problem.requestId}
          onRetry={() => void query.refetch()}
        />
      ) : !data ? (
        <TableLoading heads={["What", "About", "Who", "Why, and what was recorded", "When", "No."]} />
      ) : data.items.length === 0 ? (
        <Nothing view={view} go={go} />
      ) : (
        <>
          <AuditTable items={data.items} onWho={(who) => go({ ...view, who })} />
          <div className="tf">
            <span>
              {cursors.length === 0 ? "Newest first" : `Page ${cursors.length + 1}, newest first`}
              {data.nextCursor ? "" : ", up to the oldest"}
            </span>
            <span className="row">
              <Button
                small
                icon="left"
                aria-disabled={cursors.length === 0 || undefined}
                onClick={() => cursors.length > 0 && setPlace({ key, nowMs, cursors: cursors.slice(0, -1) })}
              >
                Newer
              </Button>
              <Button
                small
                aria-disabled={data.nextCursor === null || undefined}
                onClick={() => data.nextCursor && setPlace({ key, nowMs, cursors: [...cursors, data.nextCursor] })}
              >
                Older
              </Button>
            </span>
          </div>
        </>
      )}
    </>
  );
}

const minute = (ms: number) => Math.floor(ms / 60_000) * 60_000;
