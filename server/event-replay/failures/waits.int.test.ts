import { beforeAll, expect, test } from "vitest";
import type { ListBlockedScopeResponse } from "@/server/contracts/overview";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { callOperation, readContext } from "@/server/testing/read-context";
import { failedUpdates, seedPlan } from "@/server/testing/replay-plans";
import { failureOperations } from "./operations";

const db = testDatabase();
beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const waits = async (hostId: string) => {
  const answer = await callOperation<ListBlockedScopeResponse>(
    failureOperations,
    "listEventReplayBlockedScope",
    readContext(db.pool, hostId),
    {},
  );
  return answer.items.map(({ state, waitsFor }) => [state, waitsFor]);
};

test("ER-OBS-05 a blocked scope says what it waits for: nobody, an approval, somebody to run it, or the run itself", async () => {
  const none = await failedUpdates(db.pool, [newId()]);
  expect(await waits(none.hostId)).toEqual([["BLOCKED", "Nobody has acted"]]);
  for (const [status, expected] of [
    ["AWAITING_APPROVAL", ["PLAN_WAITING", "A plan waits for approval"]],
    ["APPROVED", ["PLAN_APPROVED", "An approved plan waits to be run"]],
    ["INSTALLING_BARRIER", ["RUNNING", "A replay is running"]],
  ] as const) {
    const captured = await failedUpdates(db.pool, [newId()]);
    await seedPlan(db.pool, captured, { status });
    expect(await waits(captured.hostId)).toEqual([expected]);
  }
});

test("ER-OBS-05 a plan that was cancelled, ran out or is a preview leaves its scopes as they were", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const plan = await seedPlan(db.pool, captured, { status: "AWAITING_APPROVAL" });
  await db.pool.query(
    "UPDATE event_replay_request_t SET status = 'CANCELLED', completed_ts = now() WHERE replay_request_id = $1",
    [plan.replayRequestId],
  );
  expect(await waits(captured.hostId)).toEqual([["BLOCKED", "Nobody has acted"]]);
  for (const options of [{ status: "APPROVED", expiresIn: -1 }, { mode: "VALIDATE_ONLY" }] as const) {
    const other = await failedUpdates(db.pool, [newId()]);
    await seedPlan(db.pool, other, options);
    expect(await waits(other.hostId)).toEqual([["BLOCKED", "Nobody has acted"]]);
  }
});
