import { beforeAll, expect, test } from "vitest";
import type { CreatePlanResponse, GetReplayResponse } from "@/server/contracts/replay";
import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { putOutbox } from "@/server/testing/outbox";
import { as, call, planRequest } from "@/server/testing/planning";
import { account, captureWithDefect, failedUpdates, seedPlan } from "@/server/testing/replay-plans";
import { processReplay } from "./process-event-replay";

/* What went wrong in other systems, tried on this one. */

const db = testDatabase();
const ledger = ledgerProjection();
const good = LEDGER_HANDLERS.AccountUpdatedEvent as Extract<EventHandler, { kind: "rows" }>;

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

/** The ledger, refusing what `bad` says of an account's version. */
const refusing = (bad: (id: string, version: number) => boolean) =>
  ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "rows",
        project: (event) =>
          good
            .project(event)
            .map((row) =>
              "set" in row && bad(event.aggregateId as string, event.aggregateVersion as number)
                ? { ...row, set: { ...row.set, balance: -1 } }
                : row,
            ),
      },
    },
  });

const run = (plan: Parameters<typeof processReplay>[1], projection = ledger) =>
  processReplay({ pool: db.pool, projection }, plan);

test("ER-EXE-14 twenty replays leave the source's position and its ranges as they were, and live goes on right there", async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `source-${i}`);
  const captured = await failedUpdates(db.pool, ids);
  const { hostId } = captured;
  const source = async () =>
    (
      await db.pool.query(
        `SELECT (SELECT jsonb_agg(to_jsonb(o) ORDER BY group_id, partition_id) FROM consumer_offsets o) AS offsets,
                (SELECT jsonb_agg(to_jsonb(r) ORDER BY partition_id, first_offset) FROM projection_range_t r) AS ranges,
                (SELECT jsonb_agg(to_jsonb(c) ORDER BY partition_id) FROM event_offset_counter_t c) AS written`,
      )
    ).rows[0];
  const before = await source();
  for (const failureId of captured.failureIds) {
    const plan = await seedPlan(db.pool, { hostId, failureIds: [failureId] }, { status: "INSTALLING_BARRIER" });
    expect(await run(plan)).toMatchObject({ status: "SUCCEEDED" });
  }
  expect(await source()).toEqual(before);
  await putOutbox(db.pool, { hostId, members: [account("source-0", 3, 33)] });
  expect(await drainLane(db.pool, ledger, partitionOfHost(hostId))).toMatchObject({ transactions: 1, captured: 0 });
  const { rows } = await db.pool.query("SELECT balance FROM account_t WHERE account_id = 'source-0'");
  expect(rows).toEqual([{ balance: 33 }]);
});

test("ER-API-23 a plan of ten whose fourth item fails: three succeeded, one failed, six not run, and they add up to ten", async () => {
  const id = newId();
  const captured = await failedUpdates(db.pool, [id], 10);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const answer = await run(
    plan,
    refusing((_, version) => version === 5),
  );
  expect(answer).toMatchObject({ status: "FAILED", failureCode: "PROJECTION_FAILED" });
  const alice = as(db.pool, { hostId: plan.hostId, name: "alice" });
  const shown = await call<GetReplayResponse>(alice, "getEventReplay", { replayRequestId: plan.replayRequestId });
  expect(shown).toMatchObject({
    status: "FAILED",
    projectionCommitted: false,
    transactionCount: 10,
    totals: { pending: 6, running: 0, succeeded: 3, failed: 1 },
  });
  expect(shown.items.map((item) => item.status)).toEqual([
    ...Array(3).fill("SUCCEEDED"),
    "FAILED",
    ...Array(6).fill("PENDING"),
  ]);
  const { rows } = await db.pool.query("SELECT aggregate_version FROM account_t WHERE account_id = $1", [id]);
  expect(rows).toEqual([{ aggregate_version: 4 }]);
});

test("ER-PLN-17 what runs is what the preview showed, though new failures of the scope came in between", async () => {
  const id = newId();
  const { hostId, failureIds } = await failedUpdates(db.pool, [id], 3);
  const alice = as(db.pool, { hostId, name: "alice" });
  const plan = (validationMode: string) =>
    call<CreatePlanResponse>(
      alice,
      "createEventReplayPlan",
      planRequest([failureIds[2] as string], { validationMode }),
    );
  const read = async (replayRequestId: string) =>
    (await call<GetReplayResponse>(alice, "getEventReplay", { replayRequestId })).items.map((item) => item.failureId);
  const preview = await plan("VALIDATE_ONLY");
  expect(await read(preview.replayRequestId)).toEqual(failureIds);
  for (const version of [5, 6, 7]) await putOutbox(db.pool, { hostId, members: [account(id, version, version)] });
  expect(await drainLane(db.pool, ledger, partitionOfHost(hostId))).toMatchObject({ captured: 3 });
  const real = await plan("EXECUTE");
  expect(await read(real.replayRequestId)).toEqual(failureIds);
  const decision = { replayRequestId: real.replayRequestId, planHash: real.planHash, reason: "seen" };
  await call(as(db.pool, { hostId, name: "bob" }), "approveEventReplay", decision);
  await db.pool.query(
    `UPDATE event_replay_request_t SET status = 'INSTALLING_BARRIER', started_by = requested_by, started_ts = now()
      WHERE replay_request_id = $1`,
    [real.replayRequestId],
  );
  expect(await run({ hostId, ...decision })).toMatchObject({ status: "SUCCEEDED" });
  const { rows } = await db.pool.query(
    "SELECT failure_id, status FROM event_failure_transaction_t WHERE host_id = $1 ORDER BY first_failed_ts",
    [hostId],
  );
  expect(rows.map((row) => row.status)).toEqual([...Array(3).fill("RESOLVED"), ...Array(3).fill("OPEN")]);
});

test("ER-EXE-04 a transaction whose second member fails leaves nothing of the first; its replay runs each member once", async () => {
  const ids = ["member-1", "member-2", "member-3"];
  await db.pool.query(
    `CREATE TABLE applied_t (account_id text, version bigint);
     CREATE FUNCTION note_applied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO applied_t VALUES (NEW.account_id, NEW.aggregate_version); RETURN NULL; END $$;
     CREATE TRIGGER note_applied AFTER INSERT OR UPDATE ON account_t FOR EACH ROW EXECUTE FUNCTION note_applied()`,
  );
  const applied = async () =>
    (
      await db.pool.query<{ account_id: string }>(
        "SELECT account_id FROM applied_t WHERE version = 2 AND account_id = ANY ($1) ORDER BY account_id",
        [ids],
      )
    ).rows.map((row) => row.account_id);
  const secondFails = refusing((id) => id === "member-2");
  const captured = await captureWithDefect(
    db.pool,
    ids.map((id) => [account(id, 1, 1)]),
  );
  const { hostId } = captured;
  await putOutbox(db.pool, { hostId, members: ids.map((id) => account(id, 2, 2)) });
  expect(await drainLane(db.pool, secondFails, partitionOfHost(hostId))).toMatchObject({ captured: 1 });
  expect(await applied()).toEqual([]);
  const { rows } = await db.pool.query("SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1", [
    hostId,
  ]);
  const failed = { hostId, failureIds: [rows[0].failure_id as string] };
  const still = await seedPlan(db.pool, failed, { status: "INSTALLING_BARRIER" });
  expect(await run(still, secondFails)).toMatchObject({ status: "FAILED" });
  expect(await applied()).toEqual([]);
  const again = await seedPlan(db.pool, failed, { status: "INSTALLING_BARRIER" });
  expect(await run(again)).toMatchObject({ status: "SUCCEEDED" });
  expect(await applied()).toEqual(ids);
});

test("ER-APR-10 markup and direction signs in a reason are kept as they were written, up to their bound, and nothing is run of them", async () => {
  const reason = `<img src=x onerror=alert(1)> javascript:alert(1) \u202E=HYPERLINK("x") ${"z".repeat(500)}`;
  const captured = await failedUpdates(db.pool, [newId()]);
  const alice = as(db.pool, { hostId: captured.hostId, name: "alice" });
  const plan = await call<CreatePlanResponse>(
    alice,
    "createEventReplayPlan",
    planRequest(captured.failureIds, { reason }),
  );
  const shown = await call<GetReplayResponse>(alice, "getEventReplay", { replayRequestId: plan.replayRequestId });
  expect(shown.reason).toBe(reason);
  const million = call(
    alice,
    "createEventReplayPlan",
    planRequest(captured.failureIds, { reason: "z".repeat(1_000_000) }),
  );
  await expect(million).rejects.toThrow();
});
