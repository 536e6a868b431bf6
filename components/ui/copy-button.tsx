"use client";
import { useEffect, useState } from "react";
import { Icon } from "./icon";

const SHOWN_MS = 1500;

/** Copies `text` to the clipboard and says so by a check in its place and to assistive technology. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <>
      <button
        className="copy"
        type="button"
        aria-label={label}
        onClick={(event) => {
          event.preventDefault();
          event.stopPropagation();
          navigator.clipboard?.writeText(text).then(
            () => setDone(true),
            () => setDone(false),
          );
        }}
      >
        <Icon name={done ? "check" : "copy"} />
      </button>
      <span className="vh" role="status">
        {done ? "Copied" : ""}
      </span>
    </>
  );
}
