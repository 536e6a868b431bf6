"use client";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";

/**
 * The console's clock and zone. "Now" is the server's time (browser time plus the offset that the last answer showed),
 * read once a second and shared, so that no deadline depends on the viewer's machine. The zone is a cookie: the server
 * renders with the same zone as the browser, and nothing shifts on hydration.
 */

let offsetMs = 0;
let current = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

const tick = () => {
  current = Math.floor((Date.now() + offsetMs) / 1000) * 1000;
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  if (!timer) {
    timer = setInterval(tick, 1000);
    queueMicrotask(tick);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = undefined;
    }
  };
};

/** Takes the server's time from an answer's Date header; a difference below two seconds is noise and is ignored. */
export function noteServerTime(dateHeader: string | null, receivedAtMs: number): void {
  const at = dateHeader ? Date.parse(dateHeader) : Number.NaN;
  if (Number.isNaN(at)) return;
  const seen = at - receivedAtMs;
  if (Math.abs(seen - offsetMs) > 2000) offsetMs = Math.abs(seen) > 2000 ? seen : 0;
}

const Start = createContext(0);
const Zone = createContext<{ zone: string; local: string; choose: (zone: string) => void }>({
  zone: "UTC",
  local: "UTC",
  choose: () => {},
});

const YEAR_SECONDS = 31_536_000;

/** Keeps a preference of this browser for a year; the server reads it while rendering. Never an identity or a value. */
export function rememberPreference(name: string, value: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox and Safari.
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${YEAR_SECONDS}; SameSite=Lax`;
}

/** Provides clock and zone. `zone` is the cookie's value or undefined on a first visit, where the browser's zone follows. */
export function ClockProvider({
  startMs,
  zone,
  children,
}: {
  startMs: number;
  zone?: string | undefined;
  children: ReactNode;
}) {
  const [chosen, setChosen] = useState(zone ?? "UTC");
  const [local, setLocal] = useState(zone ?? "UTC");
  const choose = useCallback((next: string) => {
    rememberPreference("ea_zone", next);
    setChosen(next);
  }, []);
  useEffect(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    setLocal(own);
    if (zone === undefined) choose(own);
  }, [zone, choose]);
  const value = useMemo(() => ({ zone: chosen, local, choose }), [chosen, local, choose]);
  return (
    <Start.Provider value={startMs}>
      <Zone.Provider value={value}>{children}</Zone.Provider>
    </Start.Provider>
  );
}

/** The server's now in milliseconds, whole seconds. Equal on server render and first browser render. */
export function useNow(): number {
  const start = useContext(Start);
  return useSyncExternalStore(
    subscribe,
    () => current || start,
    () => start,
  );
}

/** The chosen zone, the browser's own zone, and a function to choose. */
export const useZone = () => useContext(Zone);
