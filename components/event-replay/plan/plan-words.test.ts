import { expect, test } from "vitest";
import type { Replay } from "../request/request-view";
import { addedSentence, afterCreating, closureHint, exactHint, nobodyCanApprove, planTitle } from "./plan-words";

const person = (name: string, isYou = false) => ({ personId: name, name, isYou });
const preview = (change: object = {}): Replay =>
  ({
    strategy: "DEPENDENCY_CLOSURE",
    transactionCount: 10,
    selectedTransactionCount: 7,
    addedDependencyTransactionCount: 3,
    lanes: Array.from({ length: 6 }),
    requestedTs: "2026-12-01T00:00:00Z",
    expiresAt: "2026-12-02T00:00:00Z",
    people: { eligibleApprovers: [person("Bob Okafor")] },
    ...change,
  }) as unknown as Replay;

test("ER-UI-03 the preview tells selected from added, and what the other strategy would lack", () => {
  expect(planTitle(preview())).toBe("Replay 10 transactions in 6 scopes");
  expect(planTitle(undefined)).toBe("Plan a replay");
  expect(closureHint(preview())).toBe("Adds what must run first. 3 added.");
  expect(exactHint(preview())).toBe("Not possible: 3 transactions are open before them.");
  expect(addedSentence(preview())).toBe("3 added because a projection never skips a version");
  const alone = preview({ addedDependencyTransactionCount: 0 });
  expect(closureHint(alone)).toBe("Adds what must run first. Nothing has to.");
  expect(exactHint(alone)).toBe("Nothing must run before them.");
  expect(exactHint(undefined)).toBe("Refused when something must run before them.");
});

test("ER-UI-17 before it is created the page says that somebody else approves, by name, and when nobody could", () => {
  expect(afterCreating(preview())).toBe(
    "Creates an immutable plan with a hash, good for 24 h. Bob Okafor can approve it; you can't. Nothing runs before that, and the failures stay open.",
  );
  expect(nobodyCanApprove(preview())).toBe(false);
  expect(nobodyCanApprove(preview({ people: { eligibleApprovers: [person("Alice", true)] } }))).toBe(true);
});
