import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import pg from "pg";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { issueDemoToken } from "@/server/platform/auth/demo/demo-token";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { failedUpdates, type SeededPlan, seedPlan } from "@/server/testing/replay-plans";
import { REPLICA_SECRET } from "@/server/testing/replica-server";

const db = testDatabase();
const children = new Set<ChildProcess>();
/** A bound for a machine that does other things, too; what is waited for is a state, so a quiet one waits no longer. */
const WAIT = { timeout: 90_000, interval: 20 };
/** For the process that dies or freezes; whoever takes over has the product's own, so that a slow machine takes nothing from it. */
const SHORT_LIVED = { REPLICA_LEASE: "6", REPLICA_IDLE: "3000" };

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
afterEach(async () => {
  for (const child of children) await kill(child);
});

/** One replica as a process of its own; resolves to its address. */
async function replica(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(path.resolve(import.meta.dirname, "../../testing/replica-child.ts"), {
    execArgv: ["--import", "tsx"],
    env: { ...process.env, DATABASE_URL: db.url, ...env },
  });
  children.add(child);
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

/** A command process and a query process, apart. */
async function pair(env: Record<string, string> = {}) {
  const query = await replica({ REPLICA_ROLE: "query", REPLICA_COMMAND_URL: "http://127.0.0.1:9", ...env });
  const command = await replica({ REPLICA_ROLE: "command", REPLICA_QUERY_URL: query.url });
  return { query: query.child, command };
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function execute(url: string, plan: SeededPlan): Promise<{ code: string; status?: string }> {
  const token = await issueDemoToken(
    { name: "alice", displayName: "Alice", userId: newId(), hostId: plan.hostId, roles: ["any"] },
    REPLICA_SECRET,
  );
  const response = await fetch(`${url}/portal/command`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "1",
      method: "lightapi.net/user/executeEventReplay/0.1.0",
      params: { ...plan, reason: "go" },
    }),
  });
  const { result, error } = await response.json();
  return error ? { code: error.data } : { code: "ok", status: result.status };
}

const stateOf = async ({ hostId, replayRequestId }: SeededPlan) =>
  (
    await db.pool.query(
      `SELECT r.status, r.fencing_token,
              (SELECT string_agg(status, ',' ORDER BY item_ordinal) FROM event_replay_item_t i WHERE i.replay_request_id = $2) AS items,
              (SELECT string_agg(result, ',' ORDER BY item_ordinal, attempt_number) FROM event_replay_attempt_t a WHERE a.replay_request_id = $2) AS attempts,
              (SELECT count(*)::int FROM event_replay_attempt_t a WHERE a.replay_request_id = $2 AND projection_committed) AS commits,
              (SELECT string_agg(status, ',') FROM event_failure_transaction_t f WHERE f.host_id = $1) AS failures
         FROM event_replay_request_t r WHERE host_id = $1 AND replay_request_id = $2`,
      [hostId, replayRequestId],
    )
  ).rows[0];

/** Stops the item of an execution inside its transaction: its projection write waits for this lock. */
async function blockProjection() {
  const blocker = new pg.Client({ connectionString: db.url });
  await blocker.connect();
  await blocker.query("BEGIN; LOCK TABLE account_t IN SHARE ROW EXCLUSIVE MODE");
  return {
    async reached() {
      await vi.waitFor(async () => {
        const { rows } = await blocker.query(
          "SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'account_t'::regclass AND NOT granted",
        );
        expect(rows[0].n).toBe(1);
      }, WAIT);
    },
    async release() {
      await blocker.query("ROLLBACK");
      await blocker.end();
    },
  };
}

/** As if the lease's time had passed: the database's clock is the only one that counts. */
const leasePast = ({ hostId }: SeededPlan) =>
  db.pool.query(
    `UPDATE event_replay_lease_t SET heartbeat_ts = now() - interval '2 seconds', expires_ts = now() - interval '1 second'
      WHERE host_id = $1`,
    [hostId],
  );

const executionsOpen = async (): Promise<number> =>
  (
    await db.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'event-admin:replay-item'",
    )
  ).rows[0].n;

test("ER-ISO-16 query process killed before the commit: nothing is projected, retry waits for the lease, then commits once", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["killed-before"]));
  const block = await blockProjection();
  const { query, command } = await pair();
  const next = await pair();
  const called = execute(command.url, plan);
  await block.reached();
  await kill(query);
  expect((await called).code).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  await block.release();
  await vi.waitFor(async () => expect(await executionsOpen()).toBe(0), WAIT);
  expect(await stateOf(plan)).toMatchObject({ status: "RUNNING", attempts: "RUNNING", commits: 0, failures: "OPEN" });
  expect((await execute(next.command.url, plan)).code).toBe("REPLAY_EXECUTION_IN_PROGRESS");
  await leasePast(plan);
  await vi.waitFor(
    async () => expect(await execute(next.command.url, plan)).toEqual({ code: "ok", status: "SUCCEEDED" }),
    WAIT,
  );
  expect(await stateOf(plan)).toEqual({
    status: "SUCCEEDED",
    fencing_token: 2,
    items: "SUCCEEDED",
    attempts: "ABANDONED,SUCCEEDED",
    commits: 1,
    failures: "RESOLVED",
  });
  expect(await checkConservation(db.pool, ledgerProjection())).toEqual([]);
}, 240_000);

test("ER-ISO-16 query process killed after the commit: the durable status shows success, asking again commits nothing more", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["killed-after"]));
  const { command } = await pair({ REPLICA_DIE: "after-commit" });
  expect((await execute(command.url, plan)).code).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  const after = {
    status: "SUCCEEDED",
    fencing_token: 1,
    items: "SUCCEEDED",
    attempts: "SUCCEEDED",
    commits: 1,
    failures: "RESOLVED",
  };
  expect(await stateOf(plan)).toEqual(after);
  const row = "SELECT xmin::text, * FROM account_t WHERE account_id = 'killed-after'";
  const before = (await db.pool.query(row)).rows;
  const next = await pair();
  expect(await execute(next.command.url, plan)).toEqual({ code: "ok", status: "SUCCEEDED" });
  expect(await stateOf(plan)).toEqual(after);
  expect((await db.pool.query(row)).rows).toEqual(before);
}, 240_000);

test("ER-ISO-16 query process frozen past its lease: the server frees its locks, another takes over, and when it goes on it changes nothing", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["frozen"], 2));
  const block = await blockProjection();
  const { query, command } = await pair(SHORT_LIVED);
  const called = execute(command.url, plan);
  await block.reached();
  query.kill("SIGSTOP");
  await block.release();
  const next = await pair();
  await vi.waitFor(
    async () => expect(await execute(next.command.url, plan)).toEqual({ code: "ok", status: "SUCCEEDED" }),
    WAIT,
  );
  const after = await stateOf(plan);
  expect(after).toEqual({
    status: "SUCCEEDED",
    fencing_token: 2,
    items: "SUCCEEDED,SUCCEEDED",
    attempts: "ABANDONED,SUCCEEDED,SUCCEEDED",
    commits: 2,
    failures: "RESOLVED,RESOLVED",
  });
  query.kill("SIGCONT");
  expect(["LEASE_LOST", "ok"]).toContain((await called).code);
  expect(await stateOf(plan)).toEqual(after);
  expect(await checkConservation(db.pool, ledgerProjection())).toEqual([]);
}, 240_000);

test("ER-ISO-16 killed between commit and drain: the retry finishes what is left without a second projection commit", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["between"]));
  const { rows } = await db.pool.query(
    "SELECT plan_metadata FROM event_replay_request_t WHERE replay_request_id = $1",
    [plan.replayRequestId],
  );
  expect(rows[0].plan_metadata.scopes).toHaveLength(1);
  const blocker = new pg.Client({ connectionString: db.url });
  await blocker.connect();
  const { query, command } = await pair(SHORT_LIVED);
  // The end of an execution writes the request row's outcome: this keeps everything after the last item from committing.
  await blocker.query(`CREATE FUNCTION hold_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$;
    CREATE TRIGGER hold_end BEFORE UPDATE ON event_replay_barrier_t FOR EACH ROW WHEN (NEW.state = 'DRAINING') EXECUTE FUNCTION hold_end()`);
  await blocker.query("BEGIN; SELECT pg_advisory_xact_lock(4711)");
  const called = execute(command.url, plan);
  await vi.waitFor(
    async () => expect(await stateOf(plan)).toMatchObject({ status: "RUNNING", commits: 1, failures: "RESOLVED" }),
    WAIT,
  );
  await kill(query);
  expect((await called).code).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  await blocker.query("ROLLBACK");
  await blocker.query("DROP TRIGGER hold_end ON event_replay_barrier_t");
  await blocker.end();
  const next = await pair();
  await vi.waitFor(
    async () => expect(await execute(next.command.url, plan)).toEqual({ code: "ok", status: "SUCCEEDED" }),
    WAIT,
  );
  expect(await stateOf(plan)).toMatchObject({ attempts: "SUCCEEDED", commits: 1, items: "SUCCEEDED" });
  expect(await checkConservation(db.pool, ledgerProjection())).toEqual([]);
}, 240_000);
