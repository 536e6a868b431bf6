import { expect, test } from "vitest";
import { type TimelineFacts, timelineOf } from "./timeline";

const REQUEST = "01a22c2f-0a10-7a72-9bbb-000000000001";
const facts: TimelineFacts = {
  status: "OPEN",
  firstFailedTs: "2026-01-01T00:00:00.000000Z",
  resolvedTs: null,
  resolutionCode: null,
  deliveries: [],
  attempts: [],
};
const attempt = { replayRequestId: REQUEST, attemptNumber: 1, errorCode: null } as const;

test("ER-API-04 tries to replay stand in the timeline, newest first, each with its request, result and code", () => {
  const entries = timelineOf({
    ...facts,
    attempts: [
      { ...attempt, attemptNumber: 2, result: "RUNNING", ts: "2026-01-03T00:00:00.000000Z" },
      { ...attempt, result: "ABANDONED", errorCode: "LEASE_LOST", ts: "2026-01-02T00:00:00.000000Z" },
      { ...attempt, result: "FAILED", errorCode: "PROJECTION_FAILED", ts: "2026-01-01T12:00:00.000000Z" },
    ],
  });
  expect(entries.map((e) => e.sentence)).toEqual([
    `Replayed by request ${REQUEST}, attempt 2: running.`,
    `Replayed by request ${REQUEST}: was interrupted, LEASE_LOST.`,
    `Replayed by request ${REQUEST}: failed, PROJECTION_FAILED.`,
    "Captured whole; the source moved on. Nothing of it was written.",
  ]);
  expect(entries.map((e) => e.replayRequestId)).toEqual([REQUEST, REQUEST, REQUEST, undefined]);
});

test("ER-API-04 the longest code fits what an entry may hold", () => {
  const [entry] = timelineOf({
    ...facts,
    attempts: [
      {
        ...attempt,
        attemptNumber: 2_147_483_647,
        result: "ABANDONED",
        errorCode: "X".repeat(128),
        ts: "2026-01-02T00:00:00.000000Z",
      },
    ],
  });
  expect(entry?.sentence.length).toBeLessThanOrEqual(240);
});

test("ER-API-04 a resolution says that the transaction is projected, and nothing of what its scopes accept, and stands above its replay", () => {
  const ts = "2026-01-02T00:00:00.000000Z";
  const entries = timelineOf({
    ...facts,
    status: "RESOLVED",
    resolvedTs: ts,
    resolutionCode: "RESOLVED_BY_EXACT_REPLAY",
    attempts: [{ ...attempt, result: "SUCCEEDED", ts }],
  });
  expect(entries.map((e) => e.sentence).slice(0, 2)).toEqual([
    "Its transaction is projected, by replay of the archived bytes.",
    `Replayed by request ${REQUEST}: succeeded.`,
  ]);
});
