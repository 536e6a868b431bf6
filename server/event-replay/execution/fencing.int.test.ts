import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { account, captureWithDefect, failedUpdates, type SeededPlan, seedPlan } from "@/server/testing/replay-plans";
import { claimRequest } from "./claim";
import { Execution } from "./execution";
import { assertFence } from "./fence";
import { processReplay } from "./process-event-replay";
import { EXECUTION } from "./settings";
import { workerId } from "./worker-id";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const claim = (plan: SeededPlan, leaseSeconds = 60) =>
  inTransaction(db.pool, "claim", async (tx) => {
    const claimed = await claimRequest(tx, { ...plan, owner: "test", leaseSeconds });
    if (claimed.kind !== "CLAIMED") throw new Error("ended");
    return claimed;
  });

const execution = ({ request, fence }: Awaited<ReturnType<typeof claim>>, projection = ledger) =>
  new Execution({ pool: db.pool, projection }, request, fence, EXECUTION, performance.now() + 60_000);

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

const leasePast = ({ hostId }: SeededPlan) =>
  db.pool.query(
    `UPDATE event_replay_lease_t SET heartbeat_ts = now() - interval '2 seconds', expires_ts = now() - interval '1 second'
      WHERE host_id = $1`,
    [hostId],
  );

/** Everything an execution writes, of one host. */
async function footprint(hostId: string): Promise<unknown> {
  const { rows } = await db.pool.query(
    `SELECT (SELECT jsonb_agg(to_jsonb(r) ORDER BY replay_request_id) FROM event_replay_request_t r WHERE host_id = $1) AS requests,
            (SELECT jsonb_agg(to_jsonb(i) ORDER BY item_ordinal) FROM event_replay_item_t i WHERE host_id = $1) AS items,
            (SELECT jsonb_agg(to_jsonb(a) ORDER BY replay_attempt_id) FROM event_replay_attempt_t a WHERE host_id = $1) AS attempts,
            (SELECT jsonb_agg(to_jsonb(l)) FROM event_replay_lease_t l WHERE host_id = $1) AS leases,
            (SELECT jsonb_agg(to_jsonb(b) ORDER BY barrier_id) FROM event_replay_barrier_t b WHERE host_id = $1) AS barriers,
            (SELECT jsonb_agg(to_jsonb(s) ORDER BY scope_key) FROM projection_scope_t s WHERE host_id = $1) AS scopes,
            (SELECT jsonb_agg(to_jsonb(f) ORDER BY failure_id) FROM event_failure_transaction_t f WHERE host_id = $1) AS failures,
            (SELECT count(*) FROM event_replay_audit_t WHERE host_id = $1) AS audit,
            (SELECT jsonb_agg(to_jsonb(c) ORDER BY account_id) FROM account_t c) AS accounts`,
    [hostId],
  );
  return rows[0];
}

test("ER-ISO-11 a late writer: after a newer claim every step of the old execution answers LEASE_LOST and changes nothing", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso11"], 2), { status: "INSTALLING_BARRIER" });
  const old = await claim(plan);
  await leasePast(plan);
  const next = await claim(plan);
  expect(next.fence.fencingToken).toBe(old.fence.fencingToken + 1);
  const before = await footprint(plan.hostId);
  expect(await codeOf(execution(old).run())).toBe("LEASE_LOST");
  expect(await footprint(plan.hostId)).toEqual(before);
  await execution(next).run();
  const running = { ...old, request: { ...old.request, status: "RUNNING" as const } };
  const after = await footprint(plan.hostId);
  expect(await codeOf(execution(running).run())).toBe("LEASE_LOST");
  expect(await footprint(plan.hostId)).toEqual(after);
});

test("ER-ISO-11 the fence check refuses an old token by itself, before any other guard", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso11b"]), { status: "INSTALLING_BARRIER" });
  const old = await claim(plan);
  await leasePast(plan);
  const next = await claim(plan);
  const check = (fence: typeof old.fence) => inTransaction(db.pool, "check", (tx) => assertFence(tx, fence));
  expect(await codeOf(check(old.fence))).toBe("LEASE_LOST");
  expect(await codeOf(check({ ...next.fence, fencingToken: next.fence.fencingToken + 1 }))).toBe("LEASE_LOST");
  expect(await codeOf(check(next.fence))).toBe("ok");
});

test("ER-ISO-12 an expired lease never overrides a held lock: while a step is open nobody can claim, afterwards one can", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso12"]), { status: "INSTALLING_BARRIER" });
  const owner = await claim(plan);
  await inTransaction(db.pool, "step", async (tx) => {
    await assertFence(tx, owner.fence);
    await leasePast(plan);
    expect(await codeOf(processReplay({ pool: db.pool, projection: ledger }, plan))).toBe(
      "REPLAY_EXECUTION_IN_PROGRESS",
    );
  });
  expect(await processReplay({ pool: db.pool, projection: ledger }, plan)).toMatchObject({ status: "SUCCEEDED" });
});

test("ER-ISO-12 while an item runs, a second processor never runs it too, lease past or not", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso12b"]), { status: "INSTALLING_BARRIER" });
  const inside: string[] = [];
  const good = LEDGER_HANDLERS.AccountUpdatedEvent as Extract<EventHandler, { kind: "rows" }>;
  const slow = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "statements",
        async handle(tx, event) {
          await leasePast(plan);
          inside.push(await codeOf(processReplay({ pool: db.pool, projection: ledger }, plan)));
          const [change] = good.project(event);
          if (!change || !("set" in change)) throw new Error("no change");
          return tx.execute("UPDATE account_t SET balance = $2, aggregate_version = $3 WHERE account_id = $1", [
            event.aggregateId,
            change.set.balance,
            event.aggregateVersion,
          ]);
        },
      },
    },
  });
  expect(await processReplay({ pool: db.pool, projection: slow }, plan)).toMatchObject({ status: "SUCCEEDED" });
  expect(inside).toEqual(["REPLAY_EXECUTION_IN_PROGRESS"]);
});

test("ER-ISO-20 an interrupted attempt ends ABANDONED at the next claim, its item waits again, its number is not used twice", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso20"]), { status: "INSTALLING_BARRIER" });
  const dying = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "statements",
        handle: (tx) => tx.execute("SELECT pg_terminate_backend(pg_backend_pid())"),
      },
    },
  });
  expect(await codeOf(execution(await claim(plan), dying).run())).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  expect(await processReplay({ pool: db.pool, projection: ledger }, plan)).toMatchObject({ status: "SUCCEEDED" });
  const { rows } = await db.pool.query(
    `SELECT attempt_number, result, projection_committed, completed_ts IS NOT NULL AS ended FROM event_replay_attempt_t
      WHERE host_id = $1 ORDER BY attempt_number`,
    [plan.hostId],
  );
  expect(rows).toEqual([
    { attempt_number: 1, result: "ABANDONED", projection_committed: false, ended: true },
    { attempt_number: 2, result: "SUCCEEDED", projection_committed: true, ended: true },
  ]);
});

test("ER-CAP-34 resolution by replay frees the scope in its own commit: no moment shows one without the other", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["cap34"]), { status: "INSTALLING_BARRIER" });
  const seen: unknown[] = [];
  const held = async (on: { query(sql: string, values: unknown[]): Promise<unknown> }) => {
    const found = await on.query(
      `SELECT (SELECT projected_version FROM projection_scope_t WHERE host_id = $1) AS version,
              (SELECT string_agg(status, ',') FROM event_failure_scope_t WHERE host_id = $1) AS scope,
              (SELECT string_agg(status, ',') FROM event_failure_transaction_t WHERE host_id = $1) AS failure`,
      [plan.hostId],
    );
    return ((found as { rows?: unknown[] }).rows ?? (found as unknown[]))[0];
  };
  const watched = ledgerProjection({
    handlers: {
      AccountUpdatedEvent: {
        kind: "statements",
        async handle(tx, event) {
          const changed = await tx.execute("UPDATE account_t SET aggregate_version = $2 WHERE account_id = $1", [
            event.aggregateId,
            event.aggregateVersion,
          ]);
          seen.push(await held(db.pool));
          return changed;
        },
      },
    },
  });
  await processReplay({ pool: db.pool, projection: watched }, plan);
  seen.push(await held(db.pool));
  expect(seen).toEqual([
    { version: 1, scope: "OPEN", failure: "OPEN" },
    { version: 2, scope: "RESOLVED", failure: "RESOLVED" },
  ]);
});

/** Every table an item writes, with the moment of that write. */
const STEPS: readonly (readonly [table: string, event: string, when: string])[] = [
  ["account_t", "INSERT OR UPDATE", "true"],
  ["projection_scope_t", "INSERT OR UPDATE", "true"],
  ["notification_t", "UPDATE", "true"],
  ["event_failure_transaction_t", "UPDATE", "NEW.status = 'RESOLVED'"],
  ["event_failure_scope_t", "UPDATE", "NEW.status = 'RESOLVED'"],
  ["event_replay_item_t", "UPDATE", "NEW.status = 'SUCCEEDED'"],
  ["event_replay_attempt_t", "UPDATE", "NEW.result = 'SUCCEEDED'"],
  ["event_replay_audit_t", "INSERT", "NEW.event_name = 'EVENT_REPLAY_ATTEMPT_SUCCEEDED'"],
];

test("ER-EXE-06 a fault at any write of an item leaves none of them: projection, scope, attempt outcome, resolution", async () => {
  await db.pool.query(
    `CREATE FUNCTION planted_fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '57P01'; END $$`,
  );
  for (const [i, [table, event, when]] of STEPS.entries()) {
    const plan = await seedPlan(db.pool, await failedUpdates(db.pool, [`fault-${i}`]), {
      status: "INSTALLING_BARRIER",
    });
    await db.pool.query(
      `CREATE TRIGGER planted AFTER ${event} ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION planted_fault()`,
    );
    expect([table, await codeOf(processReplay({ pool: db.pool, projection: ledger }, plan))]).toEqual([
      table,
      "REPLAY_EXECUTION_UNAVAILABLE",
    ]);
    await db.pool.query(`DROP TRIGGER planted ON ${table}`);
    const state = async () => {
      const { rows } = await db.pool.query(
        `SELECT (SELECT aggregate_version FROM account_t WHERE account_id = $2) AS projected,
                (SELECT projected_version FROM projection_scope_t WHERE host_id = $1) AS scope,
                (SELECT status FROM event_failure_transaction_t WHERE host_id = $1) AS failure,
                (SELECT status FROM event_replay_item_t WHERE host_id = $1) AS item,
                (SELECT string_agg(result, ',' ORDER BY attempt_number) FROM event_replay_attempt_t WHERE host_id = $1) AS attempts`,
        [plan.hostId, `fault-${i}`],
      );
      return [table, rows[0]];
    };
    expect(await state()).toEqual([
      table,
      { projected: 1, scope: 1, failure: "OPEN", item: "PENDING", attempts: "ABANDONED" },
    ]);
    await processReplay({ pool: db.pool, projection: ledger }, plan);
    expect(await state()).toEqual([
      table,
      { projected: 2, scope: 2, failure: "RESOLVED", item: "SUCCEEDED", attempts: "ABANDONED,SUCCEEDED" },
    ]);
  }
});

test("ER-ISO-22 green means moved: a handler that changes no row fails the item, nothing of it stays", async () => {
  const captured = await captureWithDefect(db.pool, [[account("still", 1, 1)], [account("still", 2, 2)]]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const idle = ledgerProjection({ handlers: { AccountUpdatedEvent: { kind: "rows", project: () => [] } } });
  expect(await processReplay({ pool: db.pool, projection: idle }, plan)).toMatchObject({
    status: "FAILED",
    failureCode: "PROJECTION_FAILED",
  });
  const { rows } = await db.pool.query("SELECT projected_version FROM projection_scope_t WHERE host_id = $1", [
    plan.hostId,
  ]);
  expect(rows).toEqual([{ projected_version: 1 }]);
});

test("ER-ISO-15 before and after an execution replay has no session, no LISTEN and no timer; an eligible request waits untouched", async () => {
  const waiting = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso15a"]), { status: "INSTALLING_BARRIER" });
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso15b"]), { status: "INSTALLING_BARRIER" });
  const pool = db.createPool({ name: "iso15" });
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  expect(await processReplay({ pool, projection: ledger }, plan)).toMatchObject({ status: "SUCCEEDED" });
  // The pool's own idle timers end with it; what an execution left behind would still be there.
  await pool.end();
  expect(timers()).toBeLessThanOrEqual(before);
  const { rows } = await db.pool.query(
    `SELECT application_name, state, query FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (application_name LIKE 'event-admin:replay%' OR query ILIKE 'LISTEN%' OR state LIKE 'idle in transaction%')`,
  );
  expect(rows).toEqual([]);
  const { rows: requests } = await db.pool.query(
    "SELECT status, fencing_token FROM event_replay_request_t WHERE replay_request_id = $1",
    [waiting.replayRequestId],
  );
  expect(requests).toEqual([{ status: "INSTALLING_BARRIER", fencing_token: 0 }]);
});

test("ER-ISO-15 no source of planning or execution listens, polls, schedules or keeps a connection of its own", () => {
  const files = ["execution", "planning"].flatMap((folder) => {
    const root = path.resolve(import.meta.dirname, "..", folder);
    return fs
      .readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => path.join(root, file));
  });
  expect(files.length).toBeGreaterThan(20);
  const FORBIDDEN = /\bLISTEN\b|setInterval|setImmediate|\.connect\(|worker_threads|child_process|SKIP LOCKED|wake-up/;
  expect(files.filter((file) => FORBIDDEN.test(fs.readFileSync(file, "utf8")))).toEqual([]);
});

test("ER-ISO-24 the processor's identity is the service and an id this process drew itself; no setting changes it", async () => {
  const [service, instance] = workerId().split(":");
  expect([service, workerId()]).toEqual(["event-admin-query", `event-admin-query:${instance}`]);
  expect(instance).toMatch(/^[0-9a-f-]{36}$/);
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso24"]), { status: "INSTALLING_BARRIER" });
  await processReplay({ pool: db.pool, projection: ledger }, plan);
  const { rows } = await db.pool.query(
    "SELECT a.worker_id, l.lease_owner FROM event_replay_attempt_t a JOIN event_replay_lease_t l USING (host_id) WHERE a.host_id = $1",
    [plan.hostId],
  );
  expect(rows).toEqual([{ worker_id: workerId(), lease_owner: workerId() }]);
  const source = fs.readFileSync(path.resolve(import.meta.dirname, "worker-id.ts"), "utf8");
  expect(source).not.toContain("process.env");
});
