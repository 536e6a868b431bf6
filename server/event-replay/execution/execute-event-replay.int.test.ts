import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { executeEventReplay } from "@/server/event-replay/execution/execute-event-replay";
import { issueDemoToken } from "@/server/platform/auth/demo/demo-token";
import type { AppError } from "@/server/platform/errors";
import { callOperation, type InternalAnswer } from "@/server/platform/http/internal-call";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { readContext } from "@/server/testing/read-context";
import { failedUpdates, type SeededPlan, seedPlan } from "@/server/testing/replay-plans";
import { insertRepair } from "@/server/testing/replay-rows";
import { REPLICA_SECRET, type ReplicaServer, startReplica } from "@/server/testing/replica-server";
import { processReplay } from "./process-event-replay";

const db = testDatabase();
const ledger = ledgerProjection();
const open: { close(): Promise<void> }[] = [];
const home = fs.mkdtempSync(path.join(os.tmpdir(), "replay-config-"));

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
afterEach(async () => {
  delete process.env.EVENT_REPLAY_CONFIG;
  for (const server of open.splice(0)) await server.close();
});

/** Writes the breaker file as an operator would; the next access reads it. */
function setConfig(yaml: string): void {
  process.env.EVENT_REPLAY_CONFIG = path.join(home, "event-replay.yml");
  fs.writeFileSync(process.env.EVENT_REPLAY_CONFIG, yaml);
}

async function replica(options: Partial<Parameters<typeof startReplica>[0]> = {}): Promise<ReplicaServer> {
  const server = await startReplica({ pool: db.pool, projection: ledger, ...options });
  open.push(server);
  return server;
}

/** A raw server in the place of the query replica. */
async function rawServer(answer: http.RequestListener): Promise<{ url: string; seen: http.IncomingMessage[] }> {
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve()) && server.closeAllConnections()) });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const tokenOf = (hostId: string, name = "alice", userId = newId()) =>
  issueDemoToken({ name, displayName: name, userId, hostId, roles: ["any"] }, REPLICA_SECRET);

/** executeEventReplay through a replica's real socket, as a person of the plan's host. */
async function execute(url: string, plan: SeededPlan, reason = "go", token?: string): Promise<InternalAnswer> {
  const response = await fetch(`${url}/portal/command`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token ?? (await tokenOf(plan.hostId))}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      host: "lightapi.net",
      service: "user",
      action: "executeEventReplay",
      version: "0.1.0",
      data: { ...plan, reason },
    }),
  });
  const body = await response.json();
  return response.ok ? { kind: "ANSWERED", body } : { kind: "REFUSED", code: body.code, details: body.details };
}
const codeOf = (answer: InternalAnswer) => (answer.kind === "REFUSED" ? answer.code : answer.kind);

const statusOf = async ({ hostId, replayRequestId }: SeededPlan): Promise<string> =>
  (
    await db.pool.query("SELECT status FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2", [
      hostId,
      replayRequestId,
    ])
  ).rows[0].status;

const auditOf = async ({ hostId, replayRequestId }: SeededPlan): Promise<string[]> =>
  (
    await db.pool.query<{ event_name: string }>(
      "SELECT event_name FROM event_replay_audit_t WHERE host_id = $1 AND replay_request_id = $2 ORDER BY created_ts, audit_id",
      [hostId, replayRequestId],
    )
  ).rows.map((row) => row.event_name.replace("EVENT_REPLAY_", ""));

async function untouched(plan: SeededPlan, status = "APPROVED"): Promise<void> {
  expect(await statusOf(plan)).toBe(status);
  expect(await auditOf(plan)).toEqual([]);
  const { rows } = await db.pool.query("SELECT count(*)::int AS n FROM event_replay_barrier_t WHERE host_id = $1", [
    plan.hostId,
  ]);
  expect(rows[0].n).toBe(0);
}

/** Holds a table against writes until the returned function is called. */
async function blockTable(table: string): Promise<() => Promise<void>> {
  const blocker = new pg.Client({ connectionString: db.url });
  await blocker.connect();
  await blocker.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  return async () => {
    await blocker.query("ROLLBACK");
    await blocker.end();
  };
}

test("ER-API-08 ER-APR-04 execute runs an approved plan through the real call and answers with the durable outcome", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["api08"], 2));
  const server = await replica();
  const answer = await execute(server.url, plan, "  the fix is out ");
  expect(answer).toEqual({
    kind: "ANSWERED",
    body: { replayRequestId: plan.replayRequestId, status: "SUCCEEDED", retryable: false, failureCode: null },
  });
  expect(await auditOf(plan)).toEqual([
    "EXECUTION_REQUESTED",
    "WORKER_CLAIMED",
    "BARRIER_INSTALLED",
    "ATTEMPT_STARTED",
    "ATTEMPT_SUCCEEDED",
    "ATTEMPT_STARTED",
    "ATTEMPT_SUCCEEDED",
    "REQUEST_SUCCEEDED",
  ]);
  const { rows } = await db.pool.query(
    `SELECT r.started_by, a.actor_id, a.reason, a.details FROM event_replay_request_t r JOIN event_replay_audit_t a
       USING (host_id, replay_request_id) WHERE r.host_id = $1 AND a.event_name = 'EVENT_REPLAY_EXECUTION_REQUESTED'`,
    [plan.hostId],
  );
  expect(rows).toEqual([
    {
      started_by: "event-admin-demo|alice",
      actor_id: "event-admin-demo|alice",
      reason: "the fix is out",
      details: { planHash: plan.planHash },
    },
  ]);
});

test("ER-ISO-13 the intent is committed before the call, and the call carries the caller's own bearer token", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["iso13"]));
  let statusAtCall = "";
  const query = await rawServer(async (_request, response) => {
    statusAtCall = await statusOf(plan);
    response.socket?.destroy();
  });
  const command = await replica({ role: "command", queryUrl: query.url });
  const token = await tokenOf(plan.hostId);
  await execute(command.url, plan, "go", token);
  expect(statusAtCall).toBe("INSTALLING_BARRIER");
  expect(query.seen.map((request) => [request.url, request.headers.authorization])).toEqual([
    ["/portal/query", `Bearer ${token}`],
  ]);
});

test("ER-API-24 the answer comes in time while the internal call runs on; the durable status shows its one commit", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["api24"]));
  const server = await replica();
  const release = await blockTable("account_t");
  const accessToken = await tokenOf(plan.hostId);
  const ctx = {
    ...readContext(db.pool, plan.hostId),
    projection: ledger,
    callQuery: (operation: string, data: unknown) =>
      callOperation(
        { baseUrl: server.url, accessToken, requestId: newId(), timeoutMs: 20_000 },
        "query",
        operation,
        data,
      ),
  };
  const answer = await executeEventReplay(ctx, { ...plan, reason: "go" }, 300);
  expect(["INSTALLING_BARRIER", "RUNNING"]).toContain(answer.status);
  expect(answer).toMatchObject({ failureCode: null });
  await release();
  await vi.waitFor(async () => expect(await statusOf(plan)).toBe("SUCCEEDED"), { timeout: 15_000 });
  const { rows } = await db.pool.query(
    "SELECT result, attempt_number FROM event_replay_attempt_t WHERE host_id = $1 AND projection_committed",
    [plan.hostId],
  );
  expect(rows).toEqual([{ result: "SUCCEEDED", attempt_number: 1 }]);
}, 20_000);

test("ER-API-25 a call that gets no answer is REPLAY_EXECUTION_UNAVAILABLE; the intent stays and can be tried again", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["api25"]));
  const dead = await rawServer((_request, response) => response.socket?.destroy());
  const command = await replica({ role: "command", queryUrl: dead.url });
  expect(codeOf(await execute(command.url, plan))).toBe("REPLAY_EXECUTION_UNAVAILABLE");
  expect(await statusOf(plan)).toBe("INSTALLING_BARRIER");
  const live = await replica();
  expect(await execute(live.url, plan, "again")).toMatchObject({ kind: "ANSWERED", body: { status: "SUCCEEDED" } });
  expect((await auditOf(plan)).slice(0, 2)).toEqual(["EXECUTION_REQUESTED", "EXECUTION_RETRIED"]);
});

test("ER-API-25 while another holds the lease, execute and process answer REPLAY_EXECUTION_IN_PROGRESS and change nothing", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["api25b"]));
  const server = await replica();
  const release = await blockTable("account_t");
  const running = execute(server.url, plan);
  await vi.waitFor(async () => expect(await statusOf(plan)).toBe("RUNNING"), { timeout: 10_000 });
  expect(codeOf(await execute(server.url, plan, "again"))).toBe("REPLAY_EXECUTION_IN_PROGRESS");
  const refused = await processReplay({ pool: db.pool, projection: ledger }, plan).catch(
    (error: AppError) => error.code,
  );
  expect(refused).toBe("REPLAY_EXECUTION_IN_PROGRESS");
  await release();
  expect(await running).toMatchObject({ kind: "ANSWERED", body: { status: "SUCCEEDED" } });
  expect(await auditOf(plan)).not.toContain("EXECUTION_RETRIED");
});

test("ER-API-26 one execution is one call: nothing sends it again after a cut, an empty or an unusable answer", async () => {
  const answers: http.RequestListener[] = [
    (_request, response) => response.socket?.destroy(),
    (_request, response) => response.writeHead(503).end(),
    (_request, response) => response.writeHead(307, { location: "/portal/query" }).end(),
    (_request, response) => response.writeHead(200).end("<html>"),
    (_request, response) => response.writeHead(200).end(JSON.stringify({ status: "SUCCEEDED" })),
  ];
  for (const [i, answer] of answers.entries()) {
    const plan = await seedPlan(db.pool, await failedUpdates(db.pool, [`api26-${i}`]));
    const query = await rawServer(answer);
    const command = await replica({ role: "command", queryUrl: query.url });
    expect(codeOf(await execute(command.url, plan))).toBe("REPLAY_EXECUTION_UNAVAILABLE");
    expect(query.seen).toHaveLength(1);
  }
});

test("ER-API-28 executing what has succeeded answers the stored outcome without a call, a claim or an audit record", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["api28x"]));
  const first = await execute((await replica()).url, plan);
  const audit = await auditOf(plan);
  const query = await rawServer((_request, response) => response.socket?.destroy());
  setConfig("enabled: false\n");
  const again = await execute((await replica({ role: "command", queryUrl: query.url })).url, plan);
  expect(again).toEqual(first);
  expect(query.seen).toEqual([]);
  expect(await auditOf(plan)).toEqual(audit);
});

test("ER-APR-09 a client-credentials token may neither execute nor process; nothing is looked up or changed", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["apr09"]));
  const server = await replica();
  const machine = await tokenOf(plan.hostId, "service", "");
  expect(codeOf(await execute(server.url, plan, "go", machine))).toBe("AUTHORIZATION_DENIED");
  const { replayRequestId, hostId, planHash } = plan;
  const target = { baseUrl: server.url, accessToken: machine, requestId: newId(), timeoutMs: 20_000 };
  const processed = await callOperation(target, "query", "processEventReplay", { hostId, replayRequestId, planHash });
  expect(codeOf(processed)).toBe("AUTHORIZATION_DENIED");
  await untouched(plan);
});

test("ER-APR-14 without the recorded approval of a second person execute is denied, an approved repair notwithstanding", async () => {
  const captured = await failedUpdates(db.pool, ["apr14"]);
  const plan = await seedPlan(db.pool, captured, { status: "AWAITING_APPROVAL" });
  const server = await replica();
  expect(codeOf(await execute(server.url, plan))).toBe("AUTHORIZATION_DENIED");
  const repairId = await insertRepair(db.pool, plan.hostId, captured.failureIds[0] as string);
  await db.pool.query(
    `UPDATE event_repair_t SET status = 'APPROVED', decision_by = 'bob', decision_ts = now(), approved_by = 'bob', approved_ts = now()
      WHERE host_id = $1 AND repair_id = $2`,
    [plan.hostId, repairId],
  );
  expect(codeOf(await execute(server.url, plan))).toBe("AUTHORIZATION_DENIED");
  await untouched(plan, "AWAITING_APPROVAL");
});

test("ER-PLN-18 execute compares the stored expiry with the database's clock before it commits anything: APPROVED becomes EXPIRED", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["pln18"]), { expiresIn: -1 });
  expect(codeOf(await execute((await replica()).url, plan))).toBe("INVALID_REPLAY_STATE");
  expect(await statusOf(plan)).toBe("EXPIRED");
  expect(await auditOf(plan)).toEqual(["REQUEST_EXPIRED"]);
});

test("ER-PLN-19 a pause in between doesn't extend the time to live: approved, paused, past its expiry, refused", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["pln19"]), { expiresIn: 1 });
  const server = await replica();
  setConfig("enabled: false\n");
  expect(codeOf(await execute(server.url, plan))).toBe("REPLAY_EXECUTION_PAUSED");
  await untouched(plan);
  await vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      "SELECT expires_ts <= clock_timestamp() AS past FROM event_replay_request_t WHERE host_id = $1",
      [plan.hostId],
    );
    expect(rows[0].past).toBe(true);
  }, 20_000);
  setConfig("enabled: true\n");
  expect(codeOf(await execute(server.url, plan))).toBe("INVALID_REPLAY_STATE");
  expect(await statusOf(plan)).toBe("EXPIRED");
});

test("ER-API-08 the breaker is read at every access: paused, unreadable, enabled again", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["breaker"]));
  const server = await replica();
  for (const yaml of ["enabled: false\n", "enabled: maybe\n", ": : :\n\t", "enable: true\n"]) {
    setConfig(yaml);
    expect([yaml, codeOf(await execute(server.url, plan))]).toEqual([yaml, "REPLAY_EXECUTION_PAUSED"]);
  }
  await untouched(plan);
  setConfig("enabled: true\nexcludedEventTypes: []\n");
  expect(await execute(server.url, plan)).toMatchObject({ kind: "ANSWERED", body: { status: "SUCCEEDED" } });
});

test("ER-API-08 a preview, another hash, an absent request or one that has ended is refused and stays as it is", async () => {
  const server = await replica();
  const captured = await failedUpdates(db.pool, ["api08b"]);
  const preview = await seedPlan(db.pool, captured, { mode: "VALIDATE_ONLY" });
  expect(codeOf(await execute(server.url, preview))).toBe("INVALID_REPLAY_STATE");
  const plan = await seedPlan(db.pool, captured);
  expect(codeOf(await execute(server.url, { ...plan, planHash: preview.planHash }))).toBe("STALE_PLAN");
  expect(codeOf(await execute(server.url, { ...plan, replayRequestId: newId() }))).toBe("REQUEST_NOT_FOUND");
  expect(codeOf(await execute(server.url, plan, "   "))).toBe("INVALID_REQUEST");
  await untouched(plan);
});

test("ER-API-25 another execution on one of its scopes: REPLAY_EXECUTION_IN_PROGRESS before any intent, still APPROVED", async () => {
  const captured = await failedUpdates(db.pool, ["shared"]);
  const [first, second] = [await seedPlan(db.pool, captured), await seedPlan(db.pool, captured)];
  const server = await replica();
  const release = await blockTable("account_t");
  const running = execute(server.url, first);
  await vi.waitFor(async () => expect(await statusOf(first)).toBe("RUNNING"), { timeout: 10_000 });
  expect(codeOf(await execute(server.url, second))).toBe("REPLAY_EXECUTION_IN_PROGRESS");
  expect([await statusOf(second), await auditOf(second)]).toEqual(["APPROVED", []]);
  await release();
  await running;
  expect(codeOf(await execute(server.url, second))).toBe("STALE_PLAN");
  expect(await statusOf(second)).toBe("APPROVED");
});

test("ER-API-08 a query replica passes execute on to the command replica, which calls it back: one execution", async () => {
  const plan = await seedPlan(db.pool, await failedUpdates(db.pool, ["roles"]));
  const query = await replica({ role: "query", commandUrl: "http://127.0.0.1:9" });
  const command = await replica({ role: "command", queryUrl: query.url });
  const front = await replica({ role: "query", commandUrl: command.url });
  expect(await execute(front.url, plan)).toMatchObject({ kind: "ANSWERED", body: { status: "SUCCEEDED" } });
  expect((await auditOf(plan)).filter((event) => event === "EXECUTION_REQUESTED")).toHaveLength(1);
});
