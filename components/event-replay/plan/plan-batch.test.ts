import { expect, test } from "vitest";
import { changed, parseSelection, type Selection, withPlanned, writeSelection } from "../selection";
import { firstOptions, nextBatch, nothingLeft, planLabel, plannable, readFirst, restSentence } from "./plan-batch";

const id = (n: number) => `01a22c2f-0a10-7a72-9aaa-${n.toString(16).padStart(12, "0")}`;
const ids = (n: number) => Array.from({ length: n }, (_, i) => id(i));
const REQUEST = "01a22c2f-0a10-7a72-9bbb-000000000001";
const frozen = (n: number): Selection => changed(parseSelection(null), ids(n), true, 7);

test("ER-UI-24 the button of a selection says how many will really be planned: named ones, never everything there is", () => {
  const selection = frozen(37);
  expect(planLabel(plannable(selection, new Set([id(3)])).length, 0)).toBe("Plan replay of 36");
  expect(planLabel(plannable(frozen(812), new Set()).length, 0)).toBe("Plan the first 500 of 812");
  expect(planLabel(312, 500)).toBe("Plan the other 312");
  expect(planLabel(0, 37)).toBeUndefined();
});

test("ER-PLN-16 a selection above the limit becomes a series of plans from the same frozen set, each failure in one of them", () => {
  let selection = frozen(1_203);
  const seen: string[] = [];
  for (let plans = 0; plans < 3; plans++) {
    const batch = nextBatch(plannable(selection, new Set()), undefined);
    expect(batch.length).toBeLessThanOrEqual(500);
    seen.push(...batch);
    // What is kept survives a reload of the page.
    selection = parseSelection(writeSelection(withPlanned(selection, batch, REQUEST)));
  }
  expect(seen).toEqual(ids(1_203));
  expect(plannable(selection, new Set())).toEqual([]);
  expect([selection.ids.size, selection.frozenAtMs]).toEqual([1_203, 7]);
});

test("a plan takes the oldest failures first, whatever order they were selected in", () => {
  const selection = changed(parseSelection(null), [id(9), id(2), id(5)], true, 7);
  expect(nextBatch(plannable(selection, new Set()), 2)).toEqual([id(2), id(5)]);
});

test("marks of what is planned touch no other failure and go with the ids that are dropped", () => {
  const marked = withPlanned(frozen(3), [id(0), id(1), id(99)], REQUEST);
  expect([...marked.planned.keys()]).toEqual([id(0), id(1)]);
  expect([...changed(marked, [id(0)], false, 8).planned.keys()]).toEqual([id(1)]);
  expect(
    parseSelection(`{"ids":["${id(0)}"],"frozenAtMs":1,"planned":[["${id(5)}","${REQUEST}"],["x"],7]}`).planned.size,
  ).toBe(0);
});

test("how many at first offers smaller steps only, and says what becomes of the rest", () => {
  expect(firstOptions(10).map((o) => o.label)).toEqual([
    "All 10 in one plan",
    "First 1, then the rest",
    "First 5, then the rest",
  ]);
  expect(firstOptions(812)[0]).toEqual({ value: 500, label: "First 500, then the rest" });
  expect(firstOptions(1)).toEqual([{ value: 1, label: "The one selected" }]);
  expect(restSentence(10, 10)).toBe("");
  expect(restSentence(812, 500)).toBe("Oldest failures first. The other 312 failures stay selected for the next plan.");
  for (const text of [null, "", "x", "0", "-1", "501", "1.5"]) expect(readFirst(text)).toBeUndefined();
  expect(readFirst("25")).toBe(25);
});

test("what is left to plan being nothing is explained", () => {
  expect(nothingLeft(9, 9, 0)).toBe("All 9 are in a plan already.");
  expect(nothingLeft(2, 0, 2)).toBe("All 2 are no longer open.");
  expect(nothingLeft(9, 6, 3)).toBe("6 are in a plan already, 3 no longer open.");
});
