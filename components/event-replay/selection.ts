"use client";
import { useCallback, useMemo, useSyncExternalStore } from "react";

/**
 * A frozen selection of failures: a set of ids with the time it was last changed. Ids are what counts, never positions,
 * so paging, filters, refresh and new failures change nothing of it. Kept for this tab, per host and person: another
 * person on the same browser starts with nothing.
 */
export type Selection = { ids: ReadonlySet<string>; frozenAtMs: number };

export const SELECTION_LIMIT = 10_000;

const EMPTY: Selection = { ids: new Set(), frozenAtMs: 0 };
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const cache = new Map<string, Selection>();
const listeners = new Set<() => void>();

/** Reads what was kept; anything that is not ids and a time counts as nothing. */
export function parseSelection(text: string | null): Selection {
  if (!text) return EMPTY;
  try {
    const kept = JSON.parse(text) as { ids?: unknown; frozenAtMs?: unknown };
    if (!Array.isArray(kept.ids) || typeof kept.frozenAtMs !== "number") return EMPTY;
    const ids = kept.ids
      .filter((id): id is string => typeof id === "string" && UUID.test(id))
      .slice(0, SELECTION_LIMIT);
    return ids.length > 0 ? { ids: new Set(ids), frozenAtMs: kept.frozenAtMs } : EMPTY;
  } catch {
    return EMPTY;
  }
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
  else sessionStorage.setItem(key, JSON.stringify({ ids: [...selection.ids], frozenAtMs: selection.frozenAtMs }));
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
    (ids: readonly string[], on: boolean, nowMs: number) => {
      const next = new Set(load(key).ids);
      for (const id of ids) {
        if (!on) next.delete(id);
        else if (next.size < SELECTION_LIMIT) next.add(id);
      }
      store(key, next.size > 0 ? { ids: next, frozenAtMs: nowMs } : EMPTY);
    },
    [key],
  );
  const clear = useCallback(() => store(key, EMPTY), [key]);
  return useMemo(() => ({ selection, set, clear }), [selection, set, clear]);
}
