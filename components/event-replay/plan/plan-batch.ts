import { count, many } from "@/components/ui/format";
import { PLAN_LIMITS } from "@/server/contracts/plan-limits";
import type { Selection } from "../selection";

/** What of a frozen selection goes into the next plan. Pure: the selection, how it stands now, and how many at first. */

/** Where planning starts: from the selection of this tab, or from one failure. */
export const PLAN_PAGE = "/event-replay/plan";

export const planFailureHref = (failureId: string): string => `${PLAN_PAGE}?failureId=${failureId}`;

/** The address names the time at which the selection was frozen, so that a link never plans another set unnoticed. */
export const planSelectionHref = (selection: Selection): string => `${PLAN_PAGE}?selection=${selection.frozenAtMs}`;

/**
 * Selected, open and in no plan of this selection yet, oldest failure first: ids grow with time, and what failed first is
 * what later ones wait for.
 */
export function plannable(selection: Selection, goneIds: ReadonlySet<string>): string[] {
  return [...selection.ids].filter((id) => !goneIds.has(id) && !selection.planned.has(id)).sort();
}

/** The next plan's ids: the first `first` of them, at most what one plan may hold. */
export function nextBatch(left: readonly string[], first: number | undefined): string[] {
  return left.slice(0, Math.min(first ?? PLAN_LIMITS.transactions, PLAN_LIMITS.transactions));
}

/** What the button of the selection will really do; undefined when nothing of it is left to plan. */
export function planLabel(left: number, planned: number): string | undefined {
  if (left === 0) return undefined;
  if (left > PLAN_LIMITS.transactions) return `Plan the first ${count(PLAN_LIMITS.transactions)} of ${count(left)}`;
  return planned > 0 ? `Plan the other ${count(left)}` : `Plan replay of ${count(left)}`;
}

/** Why nothing is left to plan. `planned` and `gone` have no failure in common. */
export function nothingLeft(size: number, planned: number, gone: number): string {
  if (planned === 0) return gone === 1 ? "It is no longer open." : `All ${count(gone)} are no longer open.`;
  if (gone === 0) return size === 1 ? "A plan holds it already." : `All ${count(size)} are in a plan already.`;
  return `${count(planned)} are in a plan already, ${count(gone)} no longer open.`;
}

const STEPS = [1, 5, 25, 100, 500];

/** How many at first: a few to see that they run, or all that one plan may hold. */
export function firstOptions(left: number): { value: number; label: string }[] {
  const most = Math.min(left, PLAN_LIMITS.transactions);
  const all =
    left <= PLAN_LIMITS.transactions
      ? { value: left, label: left === 1 ? "The one selected" : `All ${count(left)} in one plan` }
      : { value: most, label: `First ${count(most)}, then the rest` };
  return [all, ...STEPS.filter((n) => n < most).map((n) => ({ value: n, label: `First ${count(n)}, then the rest` }))];
}

/** What happens to those that this plan leaves out; empty when it takes them all. */
export function restSentence(left: number, taken: number): string {
  const rest = left - taken;
  if (rest <= 0) return "";
  return `Oldest failures first. The other ${many(rest, "failure stays", "failures stay")} selected for the next plan.`;
}

/** The part of an address that says how many at first; anything else counts as not said. */
export function readFirst(text: string | null): number | undefined {
  const n = Number(text);
  return text !== null && Number.isSafeInteger(n) && n >= 1 && n <= PLAN_LIMITS.transactions ? n : undefined;
}
