"use client";
import { useEffect, useRef } from "react";
import { Dialog } from "./dialog";

const TYPING = new Set(["INPUT", "TEXTAREA", "SELECT"]);

/** True while the key belongs to a text field, an open dialog, or a shortcut of the browser. */
export function ownsKey(event: KeyboardEvent): boolean {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector("dialog[open]")) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || (TYPING.has(target.tagName) && (target as HTMLInputElement).type !== "checkbox"))
    return true;
  return false;
}

/** Calls `handle` with every key that no field, dialog or browser shortcut owns; return true to say it was used. */
export function usePageKeys(handle: (key: string, event: KeyboardEvent) => boolean): void {
  const latest = useRef(handle);
  useEffect(() => {
    latest.current = handle;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (ownsKey(event)) return;
      if (latest.current(event.key, event)) event.preventDefault();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

export type KeyLine = { keys: readonly string[]; does: string };

/** All keys of the console, grouped by where they work. */
export function KeyHelp({
  groups,
  onClose,
}: {
  groups: readonly { name: string; lines: readonly KeyLine[] }[];
  onClose: () => void;
}) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {groups.map((g) => (
        <section key={g.name}>
          <div className="sec-h">
            <h3>{g.name}</h3>
          </div>
          <dl className="keys-list">
            {g.lines.map((l) => (
              <KeyRow key={l.does} line={l} />
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

function KeyRow({ line }: { line: KeyLine }) {
  return (
    <>
      <dt>
        {line.keys.map((k) => (
          <kbd key={k}>{k}</kbd>
        ))}
      </dt>
      <dd>{line.does}</dd>
    </>
  );
}

/** The keys named under a table. */
export function TableKeys({ lines }: { lines: readonly KeyLine[] }) {
  return (
    <span className="keys hide-s">
      {lines.map((l) => (
        <span key={l.does}>
          {l.keys.map((k) => (
            <kbd key={k}>{k}</kbd>
          ))}
          {l.does}
        </span>
      ))}
    </span>
  );
}
