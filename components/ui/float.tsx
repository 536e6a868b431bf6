"use client";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";

/**
 * A small panel under its button: closes on Escape (focus returns to the button), on a press outside, and when the
 * content calls `close`. The button carries aria-expanded and aria-controls.
 */
export function Float(props: {
  button: (attributes: { "aria-expanded": boolean; "aria-controls": string; onClick: () => void }) => ReactNode;
  children: (close: () => void) => ReactNode;
  side?: "left" | "right";
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>("[aria-controls]")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: catches Escape from the controls inside
    <div
      className="float"
      ref={root}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          close();
        }
      }}
    >
      {props.button({ "aria-expanded": open, "aria-controls": id, onClick: () => setOpen(!open) })}
      {open ? (
        <div className={props.side === "left" ? "menu left" : "menu"} id={id}>
          {props.children(close)}
        </div>
      ) : (
        <span id={id} hidden />
      )}
    </div>
  );
}
