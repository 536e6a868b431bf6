import { expect, test } from "vitest";
import { APPLIED_EVENT, type AppliedDetail, appliedDetail, makeAnnouncer } from "./applied-event";
import { HOST, REQUEST, replay } from "./request.test-data";

const committed = { status: "SUCCEEDED", projectionCommitted: true } as const;

function listened() {
  const target = new EventTarget();
  const heard: AppliedDetail[] = [];
  target.addEventListener(APPLIED_EVENT, (event) => heard.push((event as CustomEvent<AppliedDetail>).detail));
  return { announce: makeAnnouncer(target), heard };
}

test("ER-UI-23 a committed request is told once, however often it is read, with its ids and nothing else", () => {
  const { announce, heard } = listened();
  for (let i = 0; i < 3; i++) announce(replay(committed));
  expect(heard).toEqual([{ hostId: HOST, replayRequestId: REQUEST }]);
});

test("ER-UI-23 the bound repair goes along where there is one, and another request is told on its own", () => {
  const { announce, heard } = listened();
  const repairId = "01a22f1c-0000-7000-8000-0000000000aa";
  announce(replay({ ...committed, repairId }));
  announce(replay({ ...committed, replayRequestId: repairId }));
  expect(heard).toEqual([
    { hostId: HOST, replayRequestId: REQUEST, repairId },
    { hostId: HOST, replayRequestId: repairId },
  ]);
});

test("ER-UI-22 nothing is told and nothing is read anew before the server says that the projection is committed", () => {
  const { announce, heard } = listened();
  expect(announce(replay({ status: "RUNNING" }))).toBe(false);
  expect(announce(replay({ status: "SUCCEEDED", projectionCommitted: false }))).toBe(false);
  expect(announce(replay({ status: "FAILED", projectionCommitted: true }))).toBe(false);
  expect(heard).toEqual([]);
  expect(appliedDetail(replay(committed))).toBeDefined();
});
