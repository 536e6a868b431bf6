"use client";
import { useState } from "react";

const FIRST = 25;

/** The first 25 of a list, how many more there are, and a function that shows them all. */
export function useShown<T>(
  list: readonly T[],
  first = FIRST,
): { shown: readonly T[]; hidden: number; all: () => void } {
  const [whole, setWhole] = useState(false);
  const shown = whole ? list : list.slice(0, first);
  return { shown, hidden: list.length - shown.length, all: () => setWhole(true) };
}
