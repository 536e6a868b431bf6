import { expect, test } from "vitest";
import { laneVerdict } from "./proof";

const steps = (...succeeded: boolean[]) =>
  succeeded.map((done, i) => ({ ordinal: i, lastVersion: 5 + i, succeeded: done }));

test("ER-API-06 the proof of a scope says as planned only when it stands exactly where the plan leads", () => {
  expect(laneVerdict(4, 6, 6, steps(true, true))).toBe("AS_PLANNED");
  expect(laneVerdict(4, 6, 9, steps(true, true))).toBe("MOVED_ON");
  expect(laneVerdict(4, 6, 5, steps(true, true))).toBe("MOVED_OTHERWISE");
});

test("ER-API-23 a scope whose items are partly done is never called as planned", () => {
  expect(laneVerdict(4, 6, 5, steps(true, false))).toBe("PARTLY_DONE");
  expect(laneVerdict(4, 6, 6, steps(true, false))).toBe("MOVED_OTHERWISE");
  expect(laneVerdict(null, 6, null, steps(false, false))).toBe("UNCHANGED");
  expect(laneVerdict(4, 6, 6, steps(false, false))).toBe("MOVED_OTHERWISE");
});
