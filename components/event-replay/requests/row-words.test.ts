import { expect, test } from "vitest";
import type { ReplayListItem } from "@/server/contracts/replay-list";
import { deadlineOf, momentOf, outcomeOf, progressOf, requestParts, requestTitle } from "./row-words";

const item = (change: Partial<ReplayListItem>) =>
  ({
    status: "RUNNING",
    validationMode: "EXECUTE",
    transactionCount: 9,
    scopeCount: 4,
    succeededCount: 6,
    failedCount: 0,
    approver: null,
    completedTs: null,
    requestedTs: "2026-12-01T00:00:00.000000Z",
    expiresAt: "2026-12-02T00:00:00.000000Z",
    ...change,
  }) as ReplayListItem;

test("a request says what it does, how many transactions, and in how many scopes", () => {
  expect(requestTitle(item({}))).toBe("Replay 9 transactions in 4 scopes");
  expect(requestTitle(item({ transactionCount: 1, scopeCount: 0 }))).toBe("Replay 1 transaction");
  expect(requestTitle(item({ validationMode: "ROLLBACK_DRY_RUN", scopeCount: 1 }))).toBe(
    "Dry run of 9 transactions in 1 scope",
  );
});

test("selected and added are told apart, and nothing added is not mentioned", () => {
  const parts = { projectionName: "portal-query", eventCount: 12, selectedTransactionCount: 7 };
  expect(requestParts({ ...parts, addedDependencyTransactionCount: 3 })).toBe(
    "portal-query, 12 events, 7 selected, 3 added",
  );
  expect(requestParts({ ...parts, addedDependencyTransactionCount: 0 })).toBe("portal-query, 12 events, 7 selected");
});

test("progress adds up: done, failed, and what is left of it", () => {
  expect(progressOf(item({}))).toEqual({ done: "6 of 9", rest: "3 to go" });
  expect(progressOf(item({ status: "FAILED", failedCount: 1 }))).toEqual({
    done: "6 of 9",
    rest: "1 failed, 2 not run",
  });
  expect(progressOf(item({ status: "SUCCEEDED", succeededCount: 9 }))).toEqual({ done: "9 of 9", rest: null });
  expect(progressOf(item({ status: "AWAITING_APPROVAL", succeededCount: 0 }))).toEqual({ done: "0 of 9", rest: null });
});

test("only a request that succeeded claims to have replayed; a dry run says that it was rolled back", () => {
  expect(outcomeOf(item({ status: "SUCCEEDED", succeededCount: 9 }))).toBe("9 of 9 replayed");
  expect(outcomeOf(item({ status: "SUCCEEDED", succeededCount: 9, validationMode: "ROLLBACK_DRY_RUN" }))).toBe(
    "9 of 9 would pass, rolled back",
  );
  expect(outcomeOf(item({ status: "FAILED", failedCount: 1 }))).toBe("6 done, 1 failed, 2 not run");
  for (const status of ["CANCELLED", "EXPIRED"] as const) {
    expect(outcomeOf(item({ status, succeededCount: 0 }))).toBe("9 transactions, nothing ran");
  }
  expect(outcomeOf(item({}))).toBe("6 of 9 done, 3 to go");
});

test("ER-UI-04 a deadline is counted down by the server's clock, urgent in its last hour and past at its end", () => {
  const end = "2026-12-02T00:00:00.000000Z";
  const before = (ms: number) => deadlineOf(end, Date.parse(end) - ms);
  expect(before(3_600_000)).toEqual({ words: "1 h", look: "calm" });
  expect(before(3_599_000)).toEqual({ words: "59 min", look: "urgent" });
  expect(before(0)).toEqual({ words: "expired", look: "past" });
  expect(before(-5_000).look).toBe("past");
});

test("a request that expired unnoticed ended at its deadline, another at its end, a running one began when asked", () => {
  expect(momentOf(item({ status: "EXPIRED" }))).toBe("2026-12-02T00:00:00.000000Z");
  expect(momentOf(item({ status: "FAILED", completedTs: "2026-12-01T03:00:00.000000Z" }))).toBe(
    "2026-12-01T03:00:00.000000Z",
  );
  expect(momentOf(item({}))).toBe("2026-12-01T00:00:00.000000Z");
});
