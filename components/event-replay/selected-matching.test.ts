import { expect, test } from "vitest";
import { selectedMatching } from "./selected-matching";

test("a selection of other failures, however large, selects nothing of what matches", () => {
  const causes = [{ count: 3, selected: 0 }];
  expect(selectedMatching({ causes, byCauseOnly: true, shown: 3, shownSelected: 0 })).toBe(0);
  expect(
    selectedMatching({ causes: [{ count: 3, selected: 80 }], byCauseOnly: false, shown: 3, shownSelected: 0 }),
  ).toBe(0);
});

test("without filters, or by cause, what is selected of each cause counts, also beyond the rows on the page", () => {
  const causes = [
    { count: 300, selected: 300 },
    { count: 12, selected: 2 },
  ];
  expect(selectedMatching({ causes, byCauseOnly: true, shown: 25, shownSelected: 0 })).toBe(302);
  expect(selectedMatching({ causes: [{ count: 5, selected: 9 }], byCauseOnly: true, shown: 5, shownSelected: 5 })).toBe(
    5,
  );
});

test("where other filters narrow, the rows on the page tell; all of them selected, so are the rest as far as causes allow", () => {
  const causes = [{ count: 40, selected: 40 }];
  expect(selectedMatching({ causes, byCauseOnly: false, shown: 25, shownSelected: 24 })).toBe(24);
  expect(selectedMatching({ causes, byCauseOnly: false, shown: 25, shownSelected: 25 })).toBe(40);
});
