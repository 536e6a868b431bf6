import { expect, test } from "vitest";
import { DEMO_STEPS, demoStep } from "./demo-steps";

const name = (now: Parameters<typeof demoStep>[0]) => DEMO_STEPS[demoStep(now)];

test("the demo leads from a broken projection over plan and second person to a recovered one", () => {
  expect(name({ broken: false, open: 0, planned: 0 })).toBe("Break a projection");
  expect(name({ broken: true, open: 0, planned: 0 })).toBe("Find the cause");
  expect(name({ broken: true, open: 12, planned: 1 })).toBe("Find the cause");
  expect(name({ broken: false, open: 12, planned: 0 })).toBe("Plan");
  expect(name({ broken: false, open: 12, planned: 1 })).toBe("Approve as a second person, run");
  expect(name({ broken: false, open: 0, planned: 1 })).toBe("Break a projection");
});
