import { beforeAll, expect, test } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { AppError } from "@/server/platform/errors";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import {
  account,
  brokenLedger,
  captureWithDefect,
  failedUpdates,
  type SeededPlan,
  seedPlan,
} from "@/server/testing/replay-plans";
import { processReplay } from "./process-event-replay";
import { EXECUTION } from "./settings";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const run = (plan: SeededPlan, definition = ledger, settings = EXECUTION) =>
  processReplay({ pool: db.pool, projection: definition }, plan, settings);

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

async function one<T = Record<string, unknown>>(sql: string, values: unknown[]): Promise<T> {
  return (await db.pool.query(sql, values)).rows[0] as T;
}

const requestOf = ({ hostId, replayRequestId }: SeededPlan) =>
  one<{ status: string; failure_code: string | null; fencing_token: number }>(
    "SELECT status, failure_code, fencing_token FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2",
    [hostId, replayRequestId],
  );

const itemsOf = async ({ hostId, replayRequestId }: SeededPlan) =>
  (
    await db.pool.query<{ status: string }>(
      "SELECT status FROM event_replay_item_t WHERE host_id = $1 AND replay_request_id = $2 ORDER BY item_ordinal",
      [hostId, replayRequestId],
    )
  ).rows.map((row) => row.status);

const attemptsOf = async ({ hostId, replayRequestId }: SeededPlan) =>
  (
    await db.pool.query(
      `SELECT item_ordinal, attempt_number, result, projection_committed, error_code FROM event_replay_attempt_t
        WHERE host_id = $1 AND replay_request_id = $2 ORDER BY item_ordinal, attempt_number`,
      [hostId, replayRequestId],
    )
  ).rows;

test("ER-EXE-06 ER-ISO-22 an item commits projection, scope, attempt, item and resolution together", async () => {
  const captured = await failedUpdates(db.pool, ["exe06"], 2);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  expect(await run(plan)).toEqual({
    replayRequestId: plan.replayRequestId,
    status: "SUCCEEDED",
    retryable: false,
    failureCode: null,
    leaseExpiresAt: null,
  });
  expect(await one("SELECT owner, balance, aggregate_version FROM account_t WHERE account_id = 'exe06'", [])).toEqual({
    owner: "exe06 v3",
    balance: 30,
    aggregate_version: 3,
  });
  expect(await itemsOf(plan)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  expect(await attemptsOf(plan)).toEqual([
    { item_ordinal: 0, attempt_number: 1, result: "SUCCEEDED", projection_committed: true, error_code: null },
    { item_ordinal: 1, attempt_number: 1, result: "SUCCEEDED", projection_committed: true, error_code: null },
  ]);
  const { rows } = await db.pool.query(
    "SELECT status, resolution_code, resolved_by_request_id FROM event_failure_transaction_t WHERE host_id = $1",
    [plan.hostId],
  );
  for (const row of rows) {
    expect(row).toEqual({
      status: "RESOLVED",
      resolution_code: "RESOLVED_BY_EXACT_REPLAY",
      resolved_by_request_id: plan.replayRequestId,
    });
  }
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});

test("ER-API-28 asked again after success, the stored outcome is answered and nothing runs", async () => {
  const captured = await failedUpdates(db.pool, ["api28"]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const first = await run(plan);
  const before = await one("SELECT xmin::text FROM account_t WHERE account_id = 'api28'", []);
  expect(await run(plan)).toEqual(first);
  expect(await one("SELECT xmin::text FROM account_t WHERE account_id = 'api28'", [])).toEqual(before);
  expect((await requestOf(plan)).fencing_token).toBe(1);
  expect(await attemptsOf(plan)).toHaveLength(1);
});

test("ER-API-09 only a committed intent with its hash is processed: an approved, foreign or changed one is refused unchanged", async () => {
  const approved = await seedPlan(db.pool, await failedUpdates(db.pool, ["api09"]), { status: "APPROVED" });
  expect(await codeOf(run(approved))).toBe("INVALID_REPLAY_STATE");
  const intent = await seedPlan(db.pool, await failedUpdates(db.pool, ["api09b"]), { status: "INSTALLING_BARRIER" });
  expect(await codeOf(run({ ...intent, planHash: approved.planHash }))).toBe("STALE_PLAN");
  expect(await codeOf(run({ ...intent, hostId: approved.hostId }))).toBe("REQUEST_NOT_FOUND");
  for (const plan of [approved, intent]) {
    expect((await requestOf(plan)).fencing_token).toBe(0);
    expect(await attemptsOf(plan)).toEqual([]);
  }
});

test("ER-ISO-14 processing touches the named request alone: another eligible one stays as it is", async () => {
  const named = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso14a"]), { status: "INSTALLING_BARRIER" });
  const other = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso14b"]), { status: "INSTALLING_BARRIER" });
  await run(named);
  expect(await requestOf(other)).toEqual({ status: "INSTALLING_BARRIER", failure_code: null, fencing_token: 0 });
  expect(await itemsOf(other)).toEqual(["PENDING"]);
});

test("ER-ISO-17 two direct requests for one plan at once: one runs it, the other is refused or told its outcome", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso17"], 5), { status: "INSTALLING_BARRIER" });
  const answers = await Promise.all([codeOf(run(plan)), codeOf(run(plan))]);
  expect(answers.sort()).toEqual(["REPLAY_EXECUTION_IN_PROGRESS", "ok"]);
  expect(await attemptsOf(plan)).toHaveLength(5);
  expect((await requestOf(plan)).status).toBe("SUCCEEDED");
});

test("ER-ISO-21 ER-ISO-19 ER-CAP-37 a failing item stops the plan: earlier items stay committed, its scope is quarantined, no new failure", async () => {
  const captured = await failedUpdates(db.pool, ["iso21"], 3);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const halfFixed = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "rows",
        project: (event) => [
          {
            table: "account_t",
            key: [event.aggregateId],
            set: { balance: event.aggregateVersion === 3 ? -1 : 7, aggregate_version: event.aggregateVersion },
          },
        ],
      },
    },
  });
  expect(await run(plan, halfFixed)).toMatchObject({
    status: "FAILED",
    failureCode: "PROJECTION_FAILED",
    retryable: false,
  });
  expect(await itemsOf(plan)).toEqual(["SUCCEEDED", "FAILED", "PENDING"]);
  expect((await attemptsOf(plan)).map(({ result, error_code }) => [result, error_code])).toEqual([
    ["SUCCEEDED", null],
    ["FAILED", "PROJECTION_FAILED"],
  ]);
  expect(
    await one(
      `SELECT state, owner_type, quarantine_failure_id, replay_request_id, released_ts FROM event_replay_barrier_t WHERE host_id = $1`,
      [plan.hostId],
    ),
  ).toEqual({
    state: "QUARANTINED",
    owner_type: "FAILURE_QUARANTINE",
    quarantine_failure_id: captured.failureIds[1],
    replay_request_id: null,
    released_ts: null,
  });
  expect(
    await one(
      `SELECT count(*)::int AS failures, count(*) FILTER (WHERE status = 'OPEN')::int AS open, max(failure_count) AS most
         FROM event_failure_transaction_t WHERE host_id = $1`,
      [plan.hostId],
    ),
  ).toEqual({ failures: 3, open: 2, most: 1 });
  expect(await one("SELECT aggregate_version FROM account_t WHERE account_id = 'iso21'", [])).toEqual({
    aggregate_version: 2,
  });
});

test("ER-ISO-21 scopes that are done drain and are released before the request ends FAILED; the others wait", async () => {
  const captured = await captureWithDefect(db.pool, [
    [account("done", 1, 1)],
    [account("bad", 1, 1)],
    [account("done", 2, 5)],
    [account("bad", 2, 5)],
  ]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const stillBad = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "rows",
        project: (event) => [
          {
            table: "account_t",
            key: [event.aggregateId],
            set: { balance: event.aggregateId === "bad" ? -1 : 7, aggregate_version: event.aggregateVersion },
          },
        ],
      },
    },
  });
  expect(await run(plan, stillBad)).toMatchObject({ status: "FAILED" });
  const { rows } = await db.pool.query(
    "SELECT scope_key, state, released_ts IS NOT NULL AS released FROM event_replay_barrier_t WHERE host_id = $1 ORDER BY scope_key",
    [plan.hostId],
  );
  expect(rows).toEqual([
    { scope_key: "Account:bad", state: "QUARANTINED", released: false },
    { scope_key: "Account:done", state: "DRAINING", released: true },
  ]);
});

test("ER-API-23 a request that is done in part says so: FAILED, and no attempt claims what was rolled back", async () => {
  const captured = await failedUpdates(db.pool, ["api23"], 2);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const answer = await run(plan, brokenLedger());
  expect(answer).toMatchObject({ status: "FAILED", failureCode: "PROJECTION_FAILED" });
  expect((await attemptsOf(plan)).map((attempt) => attempt.projection_committed)).toEqual([false]);
  expect((await requestOf(plan)).status).toBe(answer.status);
});

test("ER-ISO-23 an item interrupted three times is not tried a fourth time: REPLAY_LIMIT_EXCEEDED and quarantine", async () => {
  const captured = await failedUpdates(db.pool, ["iso23"]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const interrupted = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "statements",
        handle: async (tx) => tx.execute("SELECT pg_terminate_backend(pg_backend_pid())"),
      },
    },
  });
  for (let i = 0; i < 3; i++) expect(await codeOf(run(plan, interrupted))).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  expect((await attemptsOf(plan)).map(({ result }) => result)).toEqual(["ABANDONED", "ABANDONED", "ABANDONED"]);
  expect(await run(plan)).toMatchObject({ status: "FAILED", failureCode: "REPLAY_LIMIT_EXCEEDED" });
  expect(await attemptsOf(plan)).toHaveLength(3);
  expect(await one("SELECT state FROM event_replay_barrier_t WHERE host_id = $1", [plan.hostId])).toEqual({
    state: "QUARANTINED",
  });
});

test("ER-ISO-23 past its budget, counted from the claim, an attempt begins no further item and can be taken up again", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["budget"], 2), { status: "INSTALLING_BARRIER" });
  expect(await run(plan, ledger, { ...EXECUTION, budgetMs: 0 })).toMatchObject({
    status: "RUNNING",
    retryable: true,
    failureCode: null,
  });
  expect(await itemsOf(plan)).toEqual(["PENDING", "PENDING"]);
  expect(await run(plan)).toMatchObject({ status: "SUCCEEDED" });
});

test("ER-ISO-21 what a deferred trigger raises is the item's failure: named by its SQLSTATE, without its words, on the first try", async () => {
  const captured = await failedUpdates(db.pool, ["trigger"]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  await db.pool.query(`CREATE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'the owner is %', NEW.owner; END $$;
    CREATE CONSTRAINT TRIGGER refuse_it AFTER UPDATE ON account_t DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.account_id = 'trigger') EXECUTE FUNCTION refuse_it()`);
  expect(await run(plan)).toMatchObject({ status: "FAILED", failureCode: "PROJECTION_FAILED", retryable: false });
  expect(
    (
      await db.pool.query("SELECT error_code, error_message FROM event_replay_attempt_t WHERE host_id = $1", [
        plan.hostId,
      ])
    ).rows,
  ).toEqual([{ error_code: "PROJECTION_FAILED", error_message: "SQLSTATE P0001" }]);
});
