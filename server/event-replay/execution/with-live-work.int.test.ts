import { beforeAll, expect, test } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import type { EventHandler, ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { partitionOfHost } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { as, call, planRequest, refusal } from "@/server/testing/planning";
import {
  account,
  brokenLedger,
  captureWithDefect,
  failedUpdates,
  type SeededPlan,
  seedPlan,
} from "@/server/testing/replay-plans";
import { processReplay } from "./process-event-replay";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const good = LEDGER_HANDLERS.AccountUpdatedEvent as Extract<EventHandler, { kind: "rows" }>;

/** The ledger, with something to do at the first item: what arrives then meets the barriers. */
function atFirstItem(
  work: () => Promise<void>,
  change: (version: number) => number | null = () => null,
): ProjectionDefinition {
  let done = false;
  return {
    ...ledgerProjection({
      handlers: {
        AccountUpdatedEvent: {
          kind: "rows",
          project: (event) =>
            good.project(event).map((row) => {
              const balance = change(event.aggregateVersion as number);
              return "set" in row && balance !== null ? { ...row, set: { ...row.set, balance } } : row;
            }),
        },
      },
    }),
    async forBatch() {
      if (!done) {
        done = true;
        await work();
      }
      const { forBatch: _once, ...rest } = this as ProjectionDefinition;
      return rest;
    },
  };
}

/** Live work appended and projected while the barriers stand. */
const arrives =
  (plan: SeededPlan, ...members: OutboxMember[]) =>
  async () => {
    await putOutbox(db.pool, ...members.map((member) => ({ hostId: plan.hostId, members: [member] })));
    await drainLane(db.pool, ledger, partitionOfHost(plan.hostId));
  };

const parkedOf = async (plan: SeededPlan) =>
  (
    await db.pool.query<{ status: string }>(
      "SELECT status FROM event_projection_deferred_t WHERE host_id = $1 ORDER BY source_order_key",
      [plan.hostId],
    )
  ).rows.map((row) => row.status);

const accountOf = async (id: string) =>
  (await db.pool.query("SELECT balance, aggregate_version FROM account_t WHERE account_id = $1", [id])).rows[0];

test("ER-ISO-07 commands that arrive while a plan runs are parked, drained in order and released before it is SUCCEEDED", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["busy"], 2), { status: "INSTALLING_BARRIER" });
  const definition = atFirstItem(arrives(plan, account("busy", 4, 40), account("busy", 5, 50), account("other", 1, 1)));
  expect(await processReplay({ pool: db.pool, projection: definition }, plan)).toMatchObject({ status: "SUCCEEDED" });
  expect(await parkedOf(plan)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  expect(await accountOf("busy")).toEqual({ balance: 50, aggregate_version: 5 });
  expect(await accountOf("other")).toEqual({ balance: 1, aggregate_version: 1 });
  const { rows } = await db.pool.query(
    "SELECT released_ts IS NOT NULL AS released FROM event_replay_barrier_t WHERE host_id = $1",
    [plan.hostId],
  );
  expect(rows).toEqual([{ released: true }]);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});

test("ER-ISO-09 parked work that doesn't project ends the request FAILED by its own failure: items stay, the scope is quarantined", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["poison"]), { status: "INSTALLING_BARRIER" });
  const definition = atFirstItem(arrives(plan, account("poison", 3, 30), account("poison", 4, 40)), (version) =>
    version === 3 ? -1 : null,
  );
  expect(await processReplay({ pool: db.pool, projection: definition }, plan)).toMatchObject({
    status: "FAILED",
    failureCode: "DEFERRED_PROJECTION_FAILED",
  });
  expect(await accountOf("poison")).toMatchObject({ aggregate_version: 2 });
  expect(await parkedOf(plan)).toEqual(["FAILED", "PENDING"]);
  const { rows } = await db.pool.query(
    `SELECT b.state, b.released_ts, f.status, f.error_code, d.failure_id = b.quarantine_failure_id AS own
       FROM event_replay_barrier_t b
       JOIN event_failure_transaction_t f ON f.host_id = b.host_id AND f.failure_id = b.quarantine_failure_id
       JOIN event_projection_deferred_t d ON d.host_id = b.host_id AND d.status = 'FAILED' WHERE b.host_id = $1`,
    [plan.hostId],
  );
  expect(rows).toEqual([
    { state: "QUARANTINED", released_ts: null, status: "OPEN", error_code: "DEFERRED_PROJECTION_FAILED", own: true },
  ]);
  const { rows: audit } = await db.pool.query(
    "SELECT event_name FROM event_replay_audit_t WHERE host_id = $1 ORDER BY created_ts, audit_id",
    [plan.hostId],
  );
  expect(audit.map((row) => row.event_name).slice(-2)).toEqual([
    "EVENT_REPLAY_DEFERRED_FAILED",
    "EVENT_REPLAY_REQUEST_FAILED",
  ]);
});

test("ER-ISO-21 a follow-up plan that holds the quarantine's owner takes the barrier over and recovers everything parked", async () => {
  const captured = await failedUpdates(db.pool, ["follow"]);
  const first = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const definition = atFirstItem(arrives(first, account("follow", 3, 30)), () => -1);
  expect(await processReplay({ pool: db.pool, projection: definition }, first)).toMatchObject({ status: "FAILED" });
  const second = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  expect(await processReplay({ pool: db.pool, projection: ledger }, second)).toMatchObject({ status: "SUCCEEDED" });
  expect(await accountOf("follow")).toEqual({ balance: 30, aggregate_version: 3 });
  expect(await parkedOf(second)).toEqual(["SUCCEEDED"]);
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS barriers, max(barrier_epoch)::int > 1 AS raised FROM event_replay_barrier_t WHERE host_id = $1",
    [second.hostId],
  );
  expect(rows).toEqual([{ barriers: 1, raised: true }]);
});

test("ER-ISO-10 a scope in the quarantine of a failure that doesn't write it: the closure brings the owner, EXACT is refused by its name", async () => {
  const captured = await captureWithDefect(db.pool, [
    [account("held-s", 1, 1)],
    [account("held-z", 1, 1)],
    [account("held-s", 2, 20)],
    [account("held-s", 3, 30)],
    [account("held-z", 2, 20)],
  ]);
  const { hostId } = captured;
  const [s2, s3, z2] = captured.failureIds as [string, string, string];
  const broken = { pool: db.pool, projection: brokenLedger() };
  const first = await seedPlan(db.pool, { hostId, failureIds: [z2] }, { status: "INSTALLING_BARRIER" });
  expect(await processReplay(broken, first)).toMatchObject({ status: "FAILED" });
  // One command over both: it waits for z2's quarantine, and so does what follows in the other scope.
  await putOutbox(db.pool, { hostId, members: [account("held-z", 3, 30), account("held-s", 4, 40)] });
  await drainLane(db.pool, ledger, partitionOfHost(hostId));
  const second = await seedPlan(db.pool, { hostId, failureIds: [s2] }, { status: "INSTALLING_BARRIER" });
  expect(await processReplay({ pool: db.pool, projection: ledger }, second)).toMatchObject({ status: "SUCCEEDED" });
  const alice = as(db.pool, { hostId, name: "alice" });
  const plan = (strategy: string) =>
    call<{ replayRequestId: string }>(alice, "createEventReplayPlan", planRequest([s3], { strategy }));
  expect(await refusal(plan("EXACT"))).toEqual({
    code: "INVALID_REPLAY_STATE",
    details: { failureIds: [z2], scopes: ["Account:held-s"] },
  });
  const { replayRequestId } = await plan("DEPENDENCY_CLOSURE");
  const { rows } = await db.pool.query(
    "SELECT failure_id, added_dependency, dependency_reason FROM event_replay_item_t WHERE replay_request_id = $1 ORDER BY item_ordinal",
    [replayRequestId],
  );
  expect(rows).toEqual([
    { failure_id: s3, added_dependency: false, dependency_reason: "Selected" },
    {
      failure_id: z2,
      added_dependency: true,
      dependency_reason: "Added, a scope of the plan is in its quarantine",
    },
  ]);
  const third = await seedPlan(db.pool, { hostId, failureIds: [s3, z2] }, { status: "INSTALLING_BARRIER" });
  expect(await processReplay({ pool: db.pool, projection: ledger }, third)).toMatchObject({ status: "SUCCEEDED" });
  expect(await accountOf("held-s")).toEqual({ balance: 40, aggregate_version: 4 });
  expect(await accountOf("held-z")).toEqual({ balance: 30, aggregate_version: 3 });
  const ofHost = (await checkConservation(db.pool, ledger, { atRest: true })).filter((v) => v.hostId === hostId);
  expect(ofHost).toEqual([]);
});

test("ER-ISO-17 plans over independent scopes run at the same time, each to its own end", async () => {
  const plans: SeededPlan[] = [];
  for (const id of ["p1", "p2", "p3", "p4"]) {
    plans.push(await seedPlan(db.pool, await failedUpdates(db.pool, [id], 3), { status: "INSTALLING_BARRIER" }));
  }
  const answers = await Promise.all(plans.map((plan) => processReplay({ pool: db.pool, projection: ledger }, plan)));
  expect(answers.map((answer) => answer.status)).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
});
