"use client";
import { useEffect } from "react";

/** Says on `<html>` that keys and buttons answer now; programs that drive the page wait for it. */
export function useReadyMark(): void {
  useEffect(() => {
    document.documentElement.dataset.ready = "true";
  }, []);
}
