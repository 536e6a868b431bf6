"use client";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button";
import { Icon } from "./icon";
import { StatusGlyph, type StatusKey } from "./status";

const QUIET_MS = 300;

/** True once `ms` have passed since the first render: what is faster than this shows nothing at all. */
export function useAfter(ms = QUIET_MS): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return passed;
}

const WIDTHS = [220, 180, 260, 200, 240, 160];

/** A table that is being read: nothing for 300 ms, then grey bars of the final row height, without movement. */
export function TableLoading({ heads, rows = 6 }: { heads: readonly string[]; rows?: number }) {
  const show = useAfter();
  return (
    <div className="tw" aria-busy="true" data-state="loading">
      <span className="vh" role="status">
        {show ? "Loading" : ""}
      </span>
      {show ? (
        <table aria-hidden="true">
          <thead>
            <tr>
              {heads.map((h) => (
                <th key={h}>{h}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, r) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: placeholder rows have no identity
              <tr key={r}>
                {heads.map((h, c) => (
                  <td key={h}>
                    <span
                      className="bars"
                      style={{ width: Math.max(48, (WIDTHS[(r + c) % WIDTHS.length] ?? 200) - c * 32) }}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </div>
  );
}

/** Lines of text that are being read. */
export function LinesLoading({ lines = 4 }: { lines?: number }) {
  const show = useAfter();
  return (
    <div aria-busy="true" data-state="loading">
      <span className="vh" role="status">
        {show ? "Loading" : ""}
      </span>
      {show
        ? Array.from({ length: lines }, (_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: placeholder lines have no identity
            <span className="bars" key={i} style={{ width: WIDTHS[i % WIDTHS.length] }} />
          ))
        : null}
    </div>
  );
}

/** Empty: why it is empty, the last good fact, and one way on. */
export function Empty(props: {
  title: string;
  children: ReactNode;
  status?: StatusKey;
  actions?: ReactNode;
  foot?: ReactNode;
  state?: "empty" | "no-match";
}) {
  return (
    <div className="empty" data-state={props.state ?? "empty"}>
      {props.status ? (
        <span className={`st ${props.status}`}>
          <StatusGlyph status={props.status} />
        </span>
      ) : null}
      <h2 className="sec">{props.title}</h2>
      <p>{props.children}</p>
      {props.actions ? <div className="row acts">{props.actions}</div> : null}
      {props.foot ? <p className="sm foot">{props.foot}</p> : null}
    </div>
  );
}

/** A read that failed: what failed, what was not changed, what was kept, the request id, Try again. */
export function Failed(props: {
  title: string;
  sentence: string;
  kept?: string | undefined;
  requestId?: string | undefined;
  onRetry?: () => void;
}) {
  return (
    <div className="empty" role="alert" data-state="error">
      <Icon name="warning" />
      <h2 className="sec">{props.title}</h2>
      <p>
        {props.sentence} {props.kept ?? ""}
        {props.requestId ? (
          <>
            {" "}
            Request <span className="mono">{props.requestId}</span>.
          </>
        ) : null}
      </p>
      {props.onRetry ? (
        <div className="row acts">
          <Button onClick={props.onRetry}>Try again</Button>
        </div>
      ) : null}
    </div>
  );
}

/** Rows are shown but could not be refreshed: their age and a way to try again; never an error page over good rows. */
export function Stale({
  children,
  onRetry,
  label = "Try again",
}: {
  children: ReactNode;
  onRetry: () => void;
  label?: string;
}) {
  return (
    <div className="note held stale" role="status">
      <Icon name="warning" />
      <span>{children}</span>
      <span className="push">
        <Button small onClick={onRetry}>
          {label}
        </Button>
      </span>
    </div>
  );
}
