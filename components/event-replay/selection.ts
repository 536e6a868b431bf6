"use client";
import { useCallback, useMemo, useSyncExternalStore } from "react";

/**
 * A frozen selection of failures: a set of ids with the time it was last changed. Ids are what counts, never positions,
 * so paging, filters, refresh and new failures change nothing of it. Kept for this tab, per host and person: another
 * person on the same browser starts with nothing.
 */
export type Selection = {
  ids: ReadonlySet<string>;
  frozenAtMs: number;
  /** What of it a plan holds already, and which plan: a large selection is planned in several steps, nothing twice. */
  planned: ReadonlyMap<string, string>;
};

export const SELECTION_LIMIT = 10_000;

const EMPTY: Selection = { ids: new Set(), frozenAtMs: 0, planned: new Map() };
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const isId = (id: unknown): id is string => typeof id === "string" && UUID.test(id);

const cache = new Map<string, Selection>();
const listeners = new Set<() => void>();

/** Reads what was kept; anything that is not ids and a time counts as nothing. */
export function parseSelection(text: string | null): Selection {
  if (!text) return EMPTY;
  try {
    const kept = JSON.parse(text) as { ids?: unknown; frozenAtMs?: unknown; planned?: unknown };
    if (!Array.isArray(kept.ids) || typeof kept.frozenAtMs !== "number") return EMPTY;
    const ids = new Set(kept.ids.filter(isId).slice(0, SELECTION_LIMIT));
    if (ids.size === 0) return EMPTY;
    const marks = Array.isArray(kept.planned) ? kept.planned : [];
    const planned = marks.filter((m): m is [string, string] => Array.isArray(m) && m.length === 2 && m.every(isId));
    return { ids, frozenAtMs: kept.frozenAtMs, planned: new Map(planned.filter(([id]) => ids.has(id))) };
  } catch {
    return EMPTY;
  }
}

/** What is kept: ids, a time and marks, nothing of the failures themselves. */
export function writeSelection({ ids, frozenAtMs, planned }: Selection): string {
  return JSON.stringify({ ids: [...ids], frozenAtMs, planned: [...planned] });
}

/** Adds ids or takes them out; a mark goes with its id. */
export function changed(selection: Selection, ids: readonly string[], on: boolean, nowMs: number): Selection {
  const next = new Set(selection.ids);
  for (const id of ids) {
    if (!on) next.delete(id);
    else if (next.size < SELECTION_LIMIT) next.add(id);
  }
  if (next.size === 0) return EMPTY;
  return { ids: next, frozenAtMs: nowMs, planned: new Map([...selection.planned].filter(([id]) => next.has(id))) };
}

/** Marks those of the ids that are selected as held by a plan; the set itself stays frozen. */
export function withPlanned(selection: Selection, ids: readonly string[], replayRequestId: string): Selection {
  const planned = new Map(selection.planned);
  for (const id of ids) if (selection.ids.has(id)) planned.set(id, replayRequestId);
  return { ...selection, planned };
}

type Standing = {
  notOpenIds: readonly string[];
  plans: readonly { replayRequestId: string; failureIds: readonly string[] }[];
};

/**
 * The selection with those marks alone that say what is: the failure is open, and a plan that can still run holds it. Marks of
 * plans that are over don't count. Until the server has told how it stands, the marks count as they are.
 */
export function standing(selection: Selection, check: Standing | undefined): Selection {
  if (!check || selection.planned.size === 0) return selection;
  const gone = new Set(check.notOpenIds);
  const planned = new Map<string, string>();
  for (const { replayRequestId, failureIds } of check.plans) {
    for (const id of failureIds) if (selection.planned.has(id) && !gone.has(id)) planned.set(id, replayRequestId);
  }
  return { ...selection, planned };
}

/** The check as it is once this plan was made: so that nothing is planned twice before it is read again. */
export function withPlan<T extends Standing>(check: T, failureIds: readonly string[], replayRequestId: string): T {
  const ids = new Set(failureIds);
  const others = check.plans.map((p) => ({ ...p, failureIds: p.failureIds.filter((id) => !ids.has(id)) }));
  return { ...check, plans: [...others, { replayRequestId, failureIds: [...ids] }] };
}

const load = (key: string): Selection => {
  let selection = cache.get(key);
  if (!selection) {
    selection = parseSelection(sessionStorage.getItem(key));
    cache.set(key, selection);
  }
  return selection;
};

const store = (key: string, selection: Selection) => {
  cache.set(key, selection);
  if (selection.ids.size === 0) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, writeSelection(selection));
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The selection of this host and person, and the ways to change it. `nowMs` is the server's time. */
export function useSelection(hostId: string, personKey: string) {
  const key = `ea.failures.selection.${hostId}.${personKey}`;
  const selection = useSyncExternalStore(
    subscribe,
    () => load(key),
    () => EMPTY,
  );
  const set = useCallback(
    (ids: readonly string[], on: boolean, nowMs: number) => store(key, changed(load(key), ids, on, nowMs)),
    [key],
  );
  const clear = useCallback(() => store(key, EMPTY), [key]);
  const markPlanned = useCallback(
    (ids: readonly string[], replayRequestId: string) => store(key, withPlanned(load(key), ids, replayRequestId)),
    [key],
  );
  /** Takes the marks off: a plan that was cancelled or ran out leaves its failures to the next one. */
  const unmark = useCallback(() => store(key, { ...load(key), planned: new Map() }), [key]);
  return useMemo(() => ({ selection, set, clear, markPlanned, unmark }), [selection, set, clear, markPlanned, unmark]);
}
