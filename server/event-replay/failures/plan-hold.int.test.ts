import { beforeAll, expect, test } from "vitest";
import type { CheckSelectionResponse } from "@/server/contracts/failures";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { callOperation, readContext } from "@/server/testing/read-context";
import { failedUpdates, seedPlan } from "@/server/testing/replay-plans";
import { failureOperations } from "./operations";

const db = testDatabase();
beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const plansOf = async (hostId: string, failureIds: readonly string[]) => {
  const ctx = { ...readContext(db.pool, hostId), projection: ledgerProjection() };
  const request = { failureIds: [...failureIds, newId()] };
  return (await callOperation<CheckSelectionResponse>(failureOperations, "checkEventReplaySelection", ctx, request))
    .plans;
};

test("ER-UI-24 a selection's check names the plan that holds each failure, from the request to the run", async () => {
  for (const status of ["AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER"] as const) {
    const captured = await failedUpdates(db.pool, [newId(), newId()]);
    const [first] = captured.failureIds as [string];
    const { replayRequestId } = await seedPlan(db.pool, { ...captured, failureIds: [first] }, { status });
    expect(await plansOf(captured.hostId, captured.failureIds)).toEqual([{ replayRequestId, failureIds: [first] }]);
  }
});

test("ER-UI-24 a plan that ended, ran out, is a preview or became stale holds nothing of a selection", async () => {
  const captured = await failedUpdates(db.pool, [newId()]);
  const { hostId, failureIds } = captured;
  for (const end of [
    { mode: "VALIDATE_ONLY" },
    { status: "APPROVED", expiresIn: -1 },
    { status: "AWAITING_APPROVAL", after: "CANCELLED" },
    { status: "INSTALLING_BARRIER", after: "FAILED" },
  ] as const) {
    const { replayRequestId } = await seedPlan(db.pool, captured, end);
    if ("after" in end) {
      expect(await plansOf(hostId, failureIds)).toHaveLength(1);
      await db.pool.query(
        "UPDATE event_replay_request_t SET status = $2, completed_ts = now() WHERE replay_request_id = $1",
        [replayRequestId, end.after],
      );
    }
    expect(await plansOf(hostId, failureIds)).toEqual([]);
  }
  await seedPlan(db.pool, captured, { status: "APPROVED" });
  expect(await plansOf(hostId, failureIds)).toHaveLength(1);
  await db.pool.query("UPDATE projection_scope_t SET projected_version = projected_version + 1 WHERE host_id = $1", [
    hostId,
  ]);
  expect(await plansOf(hostId, failureIds)).toEqual([]);
});
