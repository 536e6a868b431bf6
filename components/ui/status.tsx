import type { ReactElement, ReactNode } from "react";

/** Who has to act. Six keys for every state of the product; shape and word carry the meaning as well as the colour. */
export type StatusKey = "failed" | "held" | "waiting" | "running" | "done" | "closed";

const GLYPHS: Record<StatusKey, ReactElement> = {
  failed: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" stroke="none" />
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" stroke="var(--background)" />
    </>
  ),
  held: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M6.4 5.8v4.4M9.6 5.8v4.4" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="6" strokeDasharray="2.4 2.3" />
      <circle cx="8" cy="8" r="2" fill="currentColor" stroke="none" />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" stroke="none" />
    </>
  ),
  done: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" stroke="none" />
      <path d="m5.2 8.2 2 2 3.6-4.2" stroke="var(--background)" />
    </>
  ),
  closed: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M5.5 8h5" />
    </>
  ),
};

/** The glyph alone, for a timeline or an empty state; decorative, so a word must stand beside it. */
export function StatusGlyph({ status }: { status: StatusKey }) {
  return (
    <svg className={`i k-${status}`} viewBox="0 0 16 16" aria-hidden="true">
      {GLYPHS[status]}
    </svg>
  );
}

/** Glyph and word. `pill` fills it: at most once a page, under the title. */
export function Status({ status, children, pill }: { status: StatusKey; children: ReactNode; pill?: boolean }) {
  return (
    <span className={`st ${status}${pill ? " pill" : ""}`}>
      <StatusGlyph status={status} />
      {children}
    </span>
  );
}
