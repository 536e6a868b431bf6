"use client";
import { useCallback, useEffect, useState } from "react";
import { usePageKeys } from "./keyboard";

export type RowActions = {
  open: (id: string) => void;
  toggle?: ((id: string, range: boolean) => void) | undefined;
  toggleGroup?: ((id: string) => void) | undefined;
  copy?: ((id: string) => void) | undefined;
  escape?: (() => void) | undefined;
};

/**
 * The row under the keyboard: j and k move, x selects (shift x a range), a all of the cause, Enter opens, c copies the
 * id, Escape clears. `ids` are the rows in the order on screen; the cursor stays on its id when rows come and go.
 */
export function useRowCursor(ids: readonly string[], actions: RowActions) {
  const [current, setCurrent] = useState<string>();
  const at = current === undefined ? -1 : ids.indexOf(current);

  const move = useCallback(
    (step: number) => {
      const next = ids[Math.min(ids.length - 1, Math.max(0, at + step))];
      if (next !== undefined) setCurrent(next);
    },
    [ids, at],
  );

  useEffect(() => {
    if (current === undefined) return;
    document.querySelector(`[data-row="${CSS.escape(current)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  usePageKeys((key, event) => {
    if (key === "j" || key === "k") {
      move(key === "j" ? 1 : -1);
      return true;
    }
    if (key === "Escape" && actions.escape) {
      actions.escape();
      return true;
    }
    if (current === undefined || at < 0) return false;
    const onControl = event.target instanceof HTMLElement && event.target.closest("a,button,input") !== null;
    if (key === "Enter" && !onControl) actions.open(current);
    else if (key.toLowerCase() === "x" && actions.toggle) actions.toggle(current, event.shiftKey);
    else if (key === "a" && actions.toggleGroup) actions.toggleGroup(current);
    else if (key === "c" && actions.copy) actions.copy(current);
    else return false;
    return true;
  });

  return { current: at < 0 ? undefined : current, setCurrent };
}
