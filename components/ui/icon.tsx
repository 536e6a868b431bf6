import type { ReactElement } from "react";

/**
 * The product's own icon set: 16 by 16, stroke only, drawn in the ink of the text around it. A new icon is one line
 * here; no icon library is loaded.
 */
const SHAPES = {
  overview: <path d="M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM9 8h4.5v5.5H9zM2.5 10.5H7v3H2.5z" />,
  failures: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m6 6 4 4m0-4-4 4" />
    </>
  ),
  approvals: <path d="M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5h3.2c.3 1.2 1.2 1.8 2.3 1.8s2-.6 2.3-1.8h3.2" />,
  replay: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.5" />,
  repair: (
    <path d="M13.2 4.3 11 6.5 9.5 5l2.2-2.2a3.5 3.5 0 0 0-4.6 4.5L2.7 11.7a1.1 1.1 0 0 0 1.6 1.6l4.4-4.4a3.5 3.5 0 0 0 4.5-4.6z" />
  ),
  record: <path d="M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5" />,
  bell: <path d="M4.5 7a3.5 3.5 0 0 1 7 0v3l1 1.5h-9l1-1.5zM6.8 13.5h2.4" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4" />
      <path d="m10 10 3.5 3.5" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3l2 1.5" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.5" />
      <path d="M8 2v1.5M8 12.5V14M2 8h1.5M12.5 8H14M3.8 3.8l1 1M11.2 11.2l1 1M12.2 3.8l-1 1M4.8 11.2l-1 1" />
    </>
  ),
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  close: <path d="m4 4 8 8m0-8-8 8" />,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  copy: (
    <>
      <path d="M5.5 5.5h8v8h-8z" />
      <path d="M10.5 5.5v-3h-8v8h3" />
    </>
  ),
  check: <path d="m3.5 8.5 3 3 6-7" />,
  right: <path d="m6 4 4 4-4 4" />,
  left: <path d="m10 4-4 4 4 4" />,
  down: <path d="m4 6 4 4 4-4" />,
  updown: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
  lock: <path d="M4 7.5h8v6H4zM5.5 7.5V5.5a2.5 2.5 0 0 1 5 0v2" />,
  info: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 7.5V11M8 5.2v.01" />
    </>
  ),
  warning: <path d="M8 2.5 14 13H2zM8 6.5v3M8 11.2v.01" />,
  play: <path d="M5 3.5v9l7-4.5z" />,
  exit: <path d="M9.5 3.5H3.5v9h6M7 8h7m-2.5-2.5L14 8l-2.5 2.5" />,
  person: (
    <>
      <circle cx="8" cy="5.5" r="2.5" />
      <path d="M3 13.5a5 5 0 0 1 10 0" />
    </>
  ),
  keys: <path d="M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6" />,
} satisfies Record<string, ReactElement>;

export type IconName = keyof typeof SHAPES;

/** Draws one icon, hidden from assistive technology: the word beside it, or the control's label, carries the meaning. */
export function Icon({ name, small }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? "i s" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[name]}
    </svg>
  );
}

/** The product's mark: a projected version, the bar where the projection stands, the version that is still open. */
export function Mark() {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" fill="none">
      <rect x="1" y="6.5" width="5" height="7" rx="1.5" fill="currentColor" />
      <path d="M8.25 3.5v13" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
      <rect
        x="11.25"
        y="7.25"
        width="7"
        height="5.5"
        rx="1.5"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeDasharray="2.2 1.6"
      />
    </svg>
  );
}
