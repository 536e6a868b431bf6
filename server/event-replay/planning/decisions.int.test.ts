import { beforeAll, expect, test } from "vitest";
import type { CreatePlanResponse, GetReplayResponse, ReplayStatus } from "@/server/contracts/replay";
import {
  approveEventReplayRequest,
  cancelEventReplayRequest,
  createEventReplayPlanRequest,
  replayStatus,
} from "@/server/contracts/replay";
import { executeEventReplay } from "@/server/event-replay/execution/execute-event-replay";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { as, call, planRequest, refusal } from "@/server/testing/planning";
import { account, type Captured, captureWithDefect, failedUpdates, seedPlan } from "@/server/testing/replay-plans";
import { insertRepair, insertRequest, moveRequest } from "@/server/testing/replay-rows";

const db = testDatabase();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const one = () => failedUpdates(db.pool, [newId()]);
const person = (hostId: string, name: string) => as(db.pool, { hostId, name });
const planBy = (name: string, { hostId, failureIds }: Captured, overrides: object = {}) =>
  call<CreatePlanResponse>(person(hostId, name), "createEventReplayPlan", planRequest(failureIds, overrides));
type Plan = Pick<CreatePlanResponse, "replayRequestId" | "planHash">;
const decision = ({ replayRequestId, planHash }: Plan, reason = "checked") => ({ replayRequestId, planHash, reason });
const approveBy = (name: string, hostId: string, plan: Plan, reason?: string) =>
  call<{ status: string; approvedBy: string; approvedTs: string }>(
    person(hostId, name),
    "approveEventReplay",
    decision(plan, reason),
  );
const cancelBy = (name: string, hostId: string, plan: Plan, reason?: string) =>
  call<{ status: string }>(person(hostId, name), "cancelEventReplay", decision(plan, reason));
const row = async ({ replayRequestId }: Plan) =>
  (await db.pool.query("SELECT * FROM event_replay_request_t WHERE replay_request_id = $1", [replayRequestId])).rows[0];
const trace = async ({ replayRequestId }: Plan) =>
  (
    await db.pool.query(
      "SELECT event_name, actor_type, actor_id, reason, details FROM event_replay_audit_t WHERE replay_request_id = $1 ORDER BY audit_id",
      [replayRequestId],
    )
  ).rows;

test("ER-APR-04 ER-API-07 another person of the host approves the exact hash and is recorded with the time", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  const answer = await approveBy("bob", captured.hostId, plan);
  expect(answer).toEqual({
    replayRequestId: plan.replayRequestId,
    status: "APPROVED",
    approvedBy: "https://issuer.test|bob",
    approvedTs: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
  });
  expect(await row(plan)).toMatchObject({ status: "APPROVED", approved_by: "https://issuer.test|bob" });
});

test("ER-APR-05 the requester can't approve their own plan, whatever roles or other names they have", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  expect((await refusal(approveBy("alice", captured.hostId, plan))).code).toBe("AUTHORIZATION_DENIED");
  const renamed = person(captured.hostId, "alice");
  const disguised = { ...renamed, actor: { ...renamed.actor, name: "Bob", userId: newId() } };
  expect((await refusal(call(disguised, "approveEventReplay", decision(plan)))).code).toBe("AUTHORIZATION_DENIED");
  expect(await row(plan)).toMatchObject({ status: "AWAITING_APPROVAL", approved_by: null });
});

test("ER-APR-06 a hash that isn't this request's is refused and changes nothing", async () => {
  const captured = await one();
  const [plan, other] = [await planBy("alice", captured), await planBy("alice", captured)];
  const mixed = { replayRequestId: plan.replayRequestId, planHash: other.planHash };
  expect((await refusal(approveBy("bob", captured.hostId, mixed))).code).toBe("STALE_PLAN");
  expect((await refusal(cancelBy("bob", captured.hostId, mixed))).code).toBe("STALE_PLAN");
  expect(await row(plan)).toMatchObject({ status: "AWAITING_APPROVAL" });
});

test("ER-APR-08 nobody names an actor in a body: unknown members are refused, and the token's person is stored", async () => {
  const captured = await one();
  const body = { hostId: captured.hostId, ...planRequest(captured.failureIds) };
  const decided = {
    hostId: captured.hostId,
    ...decision({ replayRequestId: newId(), planHash: `sha256:${"0".repeat(64)}` }),
  };
  for (const extra of ["requestedBy", "requester", "actor", "approvedBy", "approver", "userId"]) {
    expect(createEventReplayPlanRequest.safeParse({ ...body, [extra]: "mallory" }).success).toBe(false);
    expect(approveEventReplayRequest.safeParse({ ...decided, [extra]: "mallory" }).success).toBe(false);
    expect(cancelEventReplayRequest.safeParse({ ...decided, [extra]: "mallory" }).success).toBe(false);
  }
  expect((await row(await planBy("alice", captured))).requested_by).toBe("https://issuer.test|alice");
});

test("ER-APR-09 a machine's token plans, approves and cancels nothing", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  const machine = as(db.pool, { hostId: captured.hostId, name: "ci", human: false });
  const attempts = [
    call(machine, "createEventReplayPlan", planRequest(captured.failureIds)),
    call(machine, "approveEventReplay", decision(plan)),
    call(machine, "cancelEventReplay", decision(plan)),
  ];
  for (const attempt of attempts) expect((await refusal(attempt)).code).toBe("AUTHORIZATION_DENIED");
  expect(await row(plan)).toMatchObject({ status: "AWAITING_APPROVAL" });
});

test("ER-APR-10 every decision has a reason of 1 to 2,048 characters, trimmed, audited with the plan hash", async () => {
  const captured = await one();
  const base = { hostId: captured.hostId, replayRequestId: newId(), planHash: `sha256:${"0".repeat(64)}` };
  for (const reason of ["", "  \n ", "x".repeat(2_049)]) {
    expect(approveEventReplayRequest.safeParse({ ...base, reason }).success).toBe(false);
    expect(cancelEventReplayRequest.safeParse({ ...base, reason }).success).toBe(false);
    const body = { hostId: captured.hostId, ...planRequest(captured.failureIds, { reason }) };
    expect(createEventReplayPlanRequest.safeParse(body).success).toBe(false);
  }
  const plan = await planBy("alice", captured, { reason: `  ${"r".repeat(2_048)} ` });
  await approveBy("bob", captured.hostId, plan, " looked at every scope ");
  await cancelBy("alice", captured.hostId, plan, "not needed");
  expect(
    (await trace(plan)).map(({ event_name, actor_id, reason, details }) => [
      event_name,
      actor_id,
      reason,
      details.planHash,
    ]),
  ).toEqual([
    ["EVENT_REPLAY_PLAN_CREATED", "https://issuer.test|alice", "r".repeat(2_048), plan.planHash],
    ["EVENT_REPLAY_PLAN_APPROVAL_REQUESTED", "https://issuer.test|alice", "r".repeat(2_048), plan.planHash],
    ["EVENT_REPLAY_PLAN_APPROVED", "https://issuer.test|bob", "looked at every scope", plan.planHash],
    ["EVENT_REPLAY_REQUEST_CANCELLED", "https://issuer.test|alice", "not needed", plan.planHash],
  ]);
});

test("ER-APR-11 the request records who asked, who approved, why, which hash, and when", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured, { reason: "loader fixed" });
  await approveBy("bob", captured.hostId, plan);
  const stored = await row(plan);
  expect(stored).toMatchObject({
    requested_by: "https://issuer.test|alice",
    approved_by: "https://issuer.test|bob",
    reason: "loader fixed",
    plan_hash: plan.planHash.slice("sha256:".length),
  });
  for (const ts of ["requested_ts", "approved_ts", "expires_ts"]) expect(stored[ts]).toEqual(expect.any(String));
});

test("ER-APR-12 approvals and cancellations at once have one outcome, told to each of them", async () => {
  for (let round = 0; round < 8; round++) {
    const captured = await one();
    const plan = await planBy("alice", captured);
    const outcomes = await Promise.all([
      refusal(approveBy("bob", captured.hostId, plan)),
      refusal(approveBy("erin", captured.hostId, plan)),
      refusal(cancelBy("alice", captured.hostId, plan)),
    ]);
    const approved = outcomes.slice(0, 2).filter((outcome) => outcome.code === "ok").length;
    const cancelled = outcomes[2]?.code === "ok";
    const stored = await row(plan);
    // A cancellation may follow an approval; two approvals never stand side by side.
    expect(approved).toBeLessThanOrEqual(1);
    expect(stored.status).toBe(cancelled ? "CANCELLED" : "APPROVED");
    expect(stored.approved_by === null).toBe(approved === 0);
    const names = (await trace(plan)).map((record) => record.event_name);
    expect(names.filter((name) => name === "EVENT_REPLAY_PLAN_APPROVED")).toHaveLength(approved);
    for (const { code } of outcomes) expect(["ok", "INVALID_REPLAY_STATE"]).toContain(code);
  }
});

test("ER-APR-12 the same person pressing twice gets the first answer, and one record is written", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  const twice = await Promise.all([approveBy("bob", captured.hostId, plan), approveBy("bob", captured.hostId, plan)]);
  expect(twice[1]).toEqual(twice[0]);
  const cancelled = await Promise.all([
    cancelBy("alice", captured.hostId, plan),
    cancelBy("alice", captured.hostId, plan),
  ]);
  expect(cancelled.map((answer) => answer.status)).toEqual(["CANCELLED", "CANCELLED"]);
  const names = (await trace(plan)).map((record) => record.event_name);
  expect(names.filter((name) => name === "EVENT_REPLAY_PLAN_APPROVED")).toHaveLength(1);
  expect(names.filter((name) => name === "EVENT_REPLAY_REQUEST_CANCELLED")).toHaveLength(1);
});

test("ER-APR-13 approval is whole when its call returns: the request is executable and nothing else waits", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  await approveBy("bob", captured.hostId, plan);
  const { permissions } = await call<GetReplayResponse>(person(captured.hostId, "alice"), "getEventReplay", {
    replayRequestId: plan.replayRequestId,
  });
  expect(permissions.execute).toEqual({ allowed: true, reason: null });
  const { rows } = await db.pool.query("SELECT 1 FROM event_replay_action_request_t WHERE host_id = $1", [
    captured.hostId,
  ]);
  expect(rows).toEqual([]);
});

test("ER-PLN-14 a plan whose ground moved can't be approved: scope, repair, payload, failure, registry", async () => {
  const ground: [code: string, move: (captured: Captured) => Promise<unknown>][] = [
    [
      "SCOPE_MOVED",
      ({ hostId }) =>
        db.pool.query("UPDATE projection_scope_t SET projected_version = projected_version + 1 WHERE host_id = $1", [
          hostId,
        ]),
    ],
    ["REPAIR_PROPOSED", ({ hostId, failureIds }) => insertRepair(db.pool, hostId, failureIds[0] as string)],
    [
      "PAYLOAD_GONE",
      ({ hostId }) =>
        db.pool.query(
          `UPDATE event_failure_event_t SET payload_storage = 'DELETED', payload_plain = NULL, payload_deleted_ts = now(),
             payload_deleted_reason = 'retention' WHERE host_id = $1`,
          [hostId],
        ),
    ],
  ];
  for (const [code, move] of ground) {
    const captured = await one();
    const plan = await planBy("alice", captured);
    await move(captured);
    expect((await refusal(approveBy("bob", captured.hostId, plan))).code).toBe("STALE_PLAN");
    const seen = await call<GetReplayResponse>(person(captured.hostId, "bob"), "getEventReplay", {
      replayRequestId: plan.replayRequestId,
    });
    expect([seen.status, seen.stale, seen.staleReasons.map((reason) => reason.code)]).toEqual([
      "AWAITING_APPROVAL",
      true,
      [code],
    ]);
    expect(seen.permissions.approve.allowed).toBe(false);
  }
});

test("ER-PLN-14 what happens elsewhere leaves a plan fresh: other scopes, later failures, the source's progress", async () => {
  const captured = await one();
  const plan = await planBy("alice", captured);
  const other = newId();
  await captureWithDefect(db.pool, [[account(other, 1, 1)], [account(other, 2, 2)]], captured.hostId);
  expect((await approveBy("bob", captured.hostId, plan)).status).toBe("APPROVED");
});

test("ER-PLN-18 whoever meets an overdue plan writes EXPIRED, from APPROVED too, with its record", async () => {
  for (const status of ["AWAITING_APPROVAL", "APPROVED"] as const) {
    const plan = await seedPlan(db.pool, await one(), { status, expiresIn: -60 });
    const seen = await call<GetReplayResponse>(person(plan.hostId, "bob"), "getEventReplay", {
      replayRequestId: plan.replayRequestId,
    });
    expect([seen.status, seen.expiresInSeconds, seen.stale]).toEqual(["EXPIRED", 0, false]);
    expect(await row(plan)).toMatchObject({ status: "EXPIRED", completed_ts: expect.any(String) });
    expect(await trace(plan)).toMatchObject([{ event_name: "EVENT_REPLAY_REQUEST_EXPIRED", actor_type: "SYSTEM" }]);
  }
});

test("ER-PLN-19 an approval doesn't outlive the plan: after its time nothing approves, executes or cancels it", async () => {
  const approved = await seedPlan(db.pool, await one(), { status: "APPROVED", expiresIn: -60 });
  const executed = executeEventReplay(person(approved.hostId, "alice"), {
    hostId: approved.hostId,
    ...decision(approved),
  });
  expect((await refusal(executed)).code).toBe("INVALID_REPLAY_STATE");
  expect((await row(approved)).status).toBe("EXPIRED");
  const awaiting = await seedPlan(db.pool, await one(), { status: "AWAITING_APPROVAL", expiresIn: -60 });
  expect((await refusal(approveBy("bob", awaiting.hostId, awaiting))).code).toBe("INVALID_REPLAY_STATE");
  expect((await row(awaiting)).status).toBe("EXPIRED");
  expect((await refusal(cancelBy("alice", awaiting.hostId, awaiting))).code).toBe("INVALID_REPLAY_STATE");
});

test("ER-PLN-20 after a stale or expired plan only a new plan with a new approval runs", async () => {
  const captured = await one();
  const expired = await seedPlan(db.pool, captured, { status: "APPROVED", expiresIn: -60 });
  const fresh = await planBy("alice", captured);
  expect(fresh.replayRequestId).not.toBe(expired.replayRequestId);
  expect(fresh.planHash).not.toBe(expired.planHash);
  expect(fresh.status).toBe("AWAITING_APPROVAL");
  const executed = executeEventReplay(person(captured.hostId, "alice"), {
    hostId: captured.hostId,
    ...decision(fresh),
  });
  expect((await refusal(executed)).code).toBe("AUTHORIZATION_DENIED");
});

test("ER-API-10 cancelling ends READY, AWAITING_APPROVAL and APPROVED requests, and no other", async () => {
  const captured = await one();
  const preview = await planBy("alice", captured, { validationMode: "VALIDATE_ONLY" });
  const awaiting = await planBy("alice", captured);
  const approved = await planBy("alice", captured);
  await approveBy("bob", captured.hostId, approved);
  for (const plan of [preview, awaiting, approved]) {
    expect(await cancelBy("alice", captured.hostId, plan)).toEqual({
      replayRequestId: plan.replayRequestId,
      status: "CANCELLED",
    });
    expect(await row(plan)).toMatchObject({ status: "CANCELLED", completed_ts: expect.any(String) });
  }
  const running = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  expect((await refusal(cancelBy("alice", captured.hostId, running))).code).toBe("INVALID_REPLAY_STATE");
  expect((await refusal(cancelBy("bob", captured.hostId, awaiting))).code).toBe("INVALID_REPLAY_STATE");
});

test("ER-ISO-18 a decision moves a request only along the listed edges, from every state", async () => {
  const captured = await one();
  const listed: Readonly<Record<string, Partial<Record<ReplayStatus, ReplayStatus>>>> = {
    approve: { AWAITING_APPROVAL: "APPROVED" },
    cancel: { READY: "CANCELLED", AWAITING_APPROVAL: "CANCELLED", APPROVED: "CANCELLED" },
  };
  const paths: Readonly<Record<ReplayStatus, readonly string[]>> = {
    PLANNING: [],
    READY: ["READY"],
    AWAITING_APPROVAL: ["READY", "AWAITING_APPROVAL"],
    APPROVED: ["READY", "AWAITING_APPROVAL", "APPROVED"],
    INSTALLING_BARRIER: ["READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER"],
    RUNNING: ["READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER", "RUNNING"],
    SUCCEEDED: ["READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER", "RUNNING", "SUCCEEDED"],
    FAILED: ["FAILED"],
    CANCELLED: ["READY", "CANCELLED"],
    EXPIRED: ["READY", "EXPIRED"],
  };
  for (const status of replayStatus.options) {
    for (const [name, decide] of Object.entries({ approve: approveBy, cancel: cancelBy })) {
      const requestId = await insertRequest(db.pool, captured.hostId, { failures: [captured.failureIds[0] as string] });
      for (const step of paths[status]) await moveRequest(db.pool, captured.hostId, requestId, step);
      const stored = await row({ replayRequestId: requestId, planHash: "" });
      const plan = { replayRequestId: requestId, planHash: `sha256:${stored.plan_hash}` };
      // The rows of this helper are no whole plan: their scopes are empty and their content another, so approval is stale.
      const { code } = await refusal(decide("carol", captured.hostId, plan));
      const after = (await row(plan)).status;
      const edge = listed[name]?.[status];
      if (code === "ok") expect([name, status, after]).toEqual([name, status, edge]);
      else {
        expect([name, status, after]).toEqual([name, status, status]);
        expect(code).toBe(edge === undefined ? "INVALID_REPLAY_STATE" : "STALE_PLAN");
      }
    }
  }
});

test("ER-API-10 while a step of an execution holds the request, cancelling and approving are refused at once by its state", async () => {
  const captured = await one();
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const step = await db.pool.connect();
  try {
    await step.query("BEGIN");
    await step.query("SELECT 1 FROM event_replay_request_t WHERE replay_request_id = $1 FOR SHARE", [
      plan.replayRequestId,
    ]);
    expect((await refusal(cancelBy("bob", captured.hostId, plan))).code).toBe("INVALID_REPLAY_STATE");
    expect((await refusal(approveBy("bob", captured.hostId, plan))).code).toBe("INVALID_REPLAY_STATE");
    expect((await refusal(approveBy("alice", captured.hostId, plan))).code).toBe("AUTHORIZATION_DENIED");
  } finally {
    await step.query("ROLLBACK");
    step.release();
  }
}, 30_000);
