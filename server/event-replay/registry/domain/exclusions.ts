import { isOrderedPolicy } from "./derive-policy";
import type { PolicyRegistry } from "./policy";

export type ExclusionRule = "NOT_AN_EXACT_NAME" | "UNKNOWN_EVENT_TYPE" | "ORDERED_EVENT_TYPE" | "DUPLICATE_NAME";
export type ExclusionDefect = { readonly index: number; readonly rule: ExclusionRule };

export type ExclusionCheck =
  | { readonly ok: true; readonly excluded: ReadonlySet<string> }
  | { readonly ok: false; readonly defects: readonly ExclusionDefect[] };

/** A type name as producers write it: no pattern character, no space. */
const EXACT_NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/;

/**
 * `excludedEventTypes`: exact registered names of unordered events, each once (ER-APP-47, ER-EXE-13). An ordered type is refused under
 * any of its schema versions: excluding it would leave a gap that can neither be replayed nor waived. One bad name refuses
 * the whole list, so that a reload never applies half of it.
 */
export function validateExclusions(registry: PolicyRegistry, names: readonly unknown[]): ExclusionCheck {
  const defects: ExclusionDefect[] = [];
  const excluded = new Set<string>();
  names.forEach((name, index) => {
    if (typeof name !== "string" || !EXACT_NAME.test(name)) {
      defects.push({ index, rule: "NOT_AN_EXACT_NAME" });
      return;
    }
    const entries = registry.entries.filter((entry) => entry.eventType === name);
    if (entries.length === 0) defects.push({ index, rule: "UNKNOWN_EVENT_TYPE" });
    else if (entries.some((entry) => isOrderedPolicy(entry.replayPolicy))) {
      defects.push({ index, rule: "ORDERED_EVENT_TYPE" });
    } else if (excluded.has(name)) defects.push({ index, rule: "DUPLICATE_NAME" });
    excluded.add(name);
  });
  return defects.length === 0 ? { ok: true, excluded } : { ok: false, defects };
}
