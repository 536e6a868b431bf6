import { expect, test } from "vitest";
import { nothingLeft } from "./plan/plan-batch";
import { changed, parseSelection, SELECTION_LIMIT, standing, withPlan, withPlanned } from "./selection";

const id = (n: number) => `01a22c2f-0a10-7a72-9aaa-${n.toString(16).padStart(12, "0")}`;

test("a kept selection comes back with its ids and its time", () => {
  const kept = parseSelection(JSON.stringify({ ids: [id(1), id(2)], frozenAtMs: 7 }));
  expect([...kept.ids]).toEqual([id(1), id(2)]);
  expect(kept.frozenAtMs).toBe(7);
});

test("anything else that stands in the browser's storage is no selection", () => {
  for (const text of [
    null,
    "",
    "x",
    "[]",
    '{"ids":"a","frozenAtMs":1}',
    '{"ids":["<b>"],"frozenAtMs":1}',
    '{"ids":[]}',
  ]) {
    expect(parseSelection(text).ids.size).toBe(0);
  }
});

test("a selection holds at most ten thousand ids", () => {
  const ids = Array.from({ length: SELECTION_LIMIT + 5 }, (_, i) => id(i));
  expect(parseSelection(JSON.stringify({ ids, frozenAtMs: 1 })).ids.size).toBe(SELECTION_LIMIT);
});

const [OVER, LIVE, NEXT] = [101, 102, 103].map(id) as [string, string, string];

test("marks count while a plan holds the failure and it is open: not when the plan is over, not when it is resolved", () => {
  let selection = changed(parseSelection(null), [1, 2, 3, 4].map(id), true, 7);
  selection = withPlanned(withPlanned(selection, [id(1)], OVER), [id(2), id(3)], LIVE);
  expect(standing(selection, undefined)).toBe(selection);
  const check = { notOpenIds: [id(3)], plans: [{ replayRequestId: LIVE, failureIds: [id(2), id(3), id(4)] }] };
  // The fourth was unmarked, or planned by somebody else: it may be planned again.
  expect([...standing(selection, check).planned]).toEqual([[id(2), LIVE]]);
});

test("a plan just made counts before the server is asked again, and moves its failures from the earlier one", () => {
  const check = { notOpenIds: [], plans: [{ replayRequestId: LIVE, failureIds: [id(1), id(2)] }] };
  const after = withPlan(check, [id(2)], NEXT);
  const selection = withPlanned(changed(parseSelection(null), [1, 2].map(id), true, 7), [id(1), id(2)], LIVE);
  expect([...standing(selection, after).planned]).toEqual([
    [id(1), LIVE],
    [id(2), NEXT],
  ]);
});

test("when all of a selection is resolved, none of it counts as in a plan as well", () => {
  const all = Array.from({ length: 86 }, (_, i) => id(i));
  const selection = withPlanned(changed(parseSelection(null), all, true, 7), all, OVER);
  const { planned } = standing(selection, { notOpenIds: all, plans: [] });
  expect(planned.size).toBe(0);
  expect(nothingLeft(86, planned.size, 86)).toBe("All 86 are no longer open.");
});
