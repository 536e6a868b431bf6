import { expect, test } from "vitest";
import { historyOf } from "./history-view";
import { item, replay } from "./request.test-data";
import { countdown, deadline } from "./request-times";
import { leadOf, openSelection, titleOf, totalsSentence } from "./request-view";
import { requestScore } from "./score-view";
import { stepSentence, stepsOf } from "./steps-view";

const RAN = { startedTs: "2026-12-01T09:09:00.000000Z" } as const;

test("ER-UI-04 the totals of a run add up to the whole plan", () => {
  const items = [item(0, { status: "SUCCEEDED" }), item(1, { status: "RUNNING" }), item(2)];
  const { bold, rest } = totalsSentence(replay({ status: "RUNNING", items, ...RAN }));
  expect(bold + rest).toBe("1 succeeded, 1 running, 1 waiting, 0 failed. Together 3.");
});

test("ER-UI-04 an early end says which item failed, what stays and what did not run", () => {
  const items = [item(0, { status: "SUCCEEDED", failureStatus: "RESOLVED" }), item(1, { status: "FAILED" }), item(2)];
  const request = replay({ status: "FAILED", items, ...RAN });
  expect(titleOf(request)).toBe("1 of 3 transactions recovered");
  const { bold, rest } = leadOf(request);
  expect(bold + rest).toContain("Item 2 failed. 1 succeeded and stay, 1 did not run.");
  expect(openSelection(request)).toHaveLength(2);
});

test("ER-UI-04 the steps say where the request is, and who is waited for", () => {
  const steps = stepsOf(replay());
  expect(steps.map((s) => s.state)).toEqual(["ok", "now", "next", "next", "next", "next"]);
  expect(stepSentence(steps)).toBe("Step 2 of 6: awaiting approval, you");
  const ended = stepsOf(replay({ status: "CANCELLED", completedTs: "2026-12-01T09:20:00.000000Z" }));
  expect(ended[1]).toMatchObject({ word: "Cancelled", state: "now", status: "closed" });
});

test("ER-UI-03 the score shows selected and added before, and what became of each after", () => {
  expect(requestScore(replay()).lanes[0]?.boxes.map((b) => [b.column, b.version, b.look])).toEqual([
    [1, 2, "add"],
    [2, 3, "sel"],
  ]);
  const items = [item(0, { status: "SUCCEEDED" }), item(1, { status: "RUNNING" })];
  const score = requestScore(replay({ status: "RUNNING", items, ...RAN }));
  expect(score.lanes[0]?.boxes.map((b) => b.look)).toEqual(["ok", "run"]);
  expect(score.highlight).toBe(2);
});

test("ER-UI-04 a deadline is a countdown to the second and an instant in the viewer's zone and in UTC", () => {
  expect(countdown(85_812_000)).toBe("23 h 50 min 12 s");
  expect(countdown(-5)).toBe("0 s");
  const at = Date.parse("2026-12-01T14:22:41Z");
  expect(deadline(at, "America/Toronto")).toBe("1 Dec 2026 09:22:41 Toronto, 14:22:41 UTC");
});

test("ER-UI-04 the history counts commits and keeps persons with their reasons", () => {
  const entry = (event: string, second: number, user = false) => ({
    ts: `2026-12-01T09:09:0${second}.000000Z`,
    event,
    actorType: user ? ("USER" as const) : ("WORKER" as const),
    actorId: user ? "i|alice" : "w",
    actorName: null,
    reason: user ? "Now." : null,
  });
  const history = [
    entry("EVENT_REPLAY_REQUEST_SUCCEEDED", 6),
    entry("EVENT_REPLAY_ATTEMPT_SUCCEEDED", 5),
    entry("EVENT_REPLAY_ATTEMPT_STARTED", 4),
    entry("EVENT_REPLAY_ATTEMPT_SUCCEEDED", 3),
    entry("EVENT_REPLAY_ATTEMPT_STARTED", 2),
    entry("EVENT_REPLAY_EXECUTION_REQUESTED", 1, true),
  ];
  const lines = historyOf(replay({ history }));
  expect(lines.map((l) => l.words)).toEqual(["Succeeded", "2 items committed", "Run by Alice Moreau"]);
  expect(lines[2]?.reason).toBe("Now.");
});

test("ER-UI-04 a success whose scope has later versions open doesn't say that commands on it are taken", () => {
  const [lane] = replay().lanes;
  if (!lane) throw new Error("the request has a scope");
  const after = (appendedVersion: number) =>
    leadOf(
      replay({
        status: "SUCCEEDED",
        lanes: [{ ...lane, nowVersion: lane.afterVersion, verdict: "AS_PLANNED", appendedVersion }],
      }),
    ).rest;
  expect(after(lane.afterVersion)).toContain("New commands are taken again");
  expect(after(lane.afterVersion + 2)).toContain("commands on it are refused");
});
