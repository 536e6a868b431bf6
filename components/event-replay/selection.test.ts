import { expect, test } from "vitest";
import { parseSelection, SELECTION_LIMIT } from "./selection";

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
