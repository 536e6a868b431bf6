"use client";
import { usePathname, useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";
import { type FailureView, readView, writeView } from "./failure-view";

/** The view in the address bar, and a function to go to another: a step of the browser's history, no page load. */
export function useFailureView(): [FailureView, (next: FailureView, how?: "push" | "replace") => void] {
  const params = useSearchParams();
  const path = usePathname();
  const view = useMemo(() => readView(new URLSearchParams(params.toString())), [params]);
  const go = useCallback(
    (next: FailureView, how: "push" | "replace" = "push") => {
      const address = `${path}${writeView(next)}`;
      if (how === "push") window.history.pushState(null, "", address);
      else window.history.replaceState(null, "", address);
    },
    [path],
  );
  return [view, go];
}
