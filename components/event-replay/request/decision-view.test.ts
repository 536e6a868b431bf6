import { expect, test } from "vitest";
import { Problem } from "@/components/api/problem";
import { isAmbiguous, pollEvery } from "@/components/api/replay";
import { checksOf, denialOf, offersRetry, reasonProblem, retryLabel, whyNotApprove } from "./decision-view";
import { ALICE, BOB, item, replay } from "./request.test-data";

test("ER-UI-17 the requester reads that someone else decides, and who can", () => {
  const request = replay({
    people: { requester: { ...ALICE, isYou: true }, approver: null, executor: null, eligibleApprovers: [BOB] },
    permissions: {
      ...replay().permissions,
      approve: { allowed: false, reason: "You asked for it, so someone else decides." },
    },
  });
  expect(whyNotApprove(request)).toBe("You asked for it, so someone else decides. Bob Okafor can.");
});

test("ER-UI-20 an execution without a readable answer is unknown, and the request is read every 3 s until it has ended", () => {
  for (const code of ["OFFLINE", "UNREADABLE", "INTERNAL", "REPLAY_EXECUTION_UNAVAILABLE"] as const) {
    expect(isAmbiguous(new Problem(code, true))).toBe(true);
  }
  expect(isAmbiguous(new Problem("STALE_PLAN", true))).toBe(false);
  expect(pollEvery(replay({ status: "APPROVED" }), true)).toBe(3_000);
  expect(pollEvery(replay({ status: "RUNNING" }), false)).toBe(3_000);
  expect(pollEvery(replay({ status: "APPROVED" }), false)).toBeGreaterThan(3_000);
  expect(pollEvery(replay({ status: "SUCCEEDED" }), true)).toBe(false);
});

test("ER-UI-21 retry is offered when the server says retryable and never otherwise", () => {
  const items = [item(0, { status: "SUCCEEDED" }), item(1, { status: "RUNNING" })];
  expect(offersRetry(replay({ status: "RUNNING", items, retryable: true }))).toBe(true);
  expect(offersRetry(replay({ status: "RUNNING", items, retryable: false }))).toBe(false);
  expect(offersRetry(replay({ status: "FAILED", items, retryable: true }))).toBe(false);
  expect(retryLabel(replay({ items }))).toBe("Retry from item 2 of 2");
});

test("ER-UI-05 a denial is our sentence with what follows from it and the code", () => {
  const denial = denialOf("approve", new Problem("INVALID_REPLAY_STATE", false), replay({ status: "CANCELLED" }));
  expect(denial).toMatchObject({
    sentence: "Not approved. The current state does not allow this.",
    advice: "The page was read again. State now: cancelled.",
    code: "INVALID_REPLAY_STATE",
  });
});

test("ER-UI-05 a reason of 1 to 2,048 characters after trimming is taken, and nothing else", () => {
  expect(reasonProblem("  ")).toContain("Give a reason");
  expect(reasonProblem(` ${"x".repeat(2_048)} `)).toBeUndefined();
  expect(reasonProblem("x".repeat(2_049))).toContain("2,048");
});

test("ER-UI-04 what the server found moved turns its check beside the decision", () => {
  const bad = (request: ReturnType<typeof replay>) => checksOf(request).filter((c) => !c.ok);
  expect(bad(replay())).toEqual([]);
  const moved = replay({ stale: true, staleReasons: [{ code: "SCOPE_MOVED", message: "A scope has moved." }] });
  expect(bad(moved)).toEqual([{ ok: false, words: "A scope has moved since planning" }]);
});
