import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { siteServer } from "@/app/testing/site-server";
import { bearer, call, identity, testSite } from "@/app/testing/test-client";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { contracts, operations } from "@/server/operations/registry";
import { upsertPerson } from "@/server/platform/auth/person-repository";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { portalProjection } from "@/server/portal/portal-projection";
import { drainLane } from "@/server/testing/drain-lane";

const db = testSite();
siteServer();

/** Role names that nobody could have written into the code: one a published operation. */
const ROLE_OF = new Map([...contracts().map(({ name }) => name), "appendEvents"].map((name) => [name, `r-${newId()}`]));
const ALL_ROLES = [...ROLE_OF.values()];
const rules = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "decisions-")), "rules.yml");

beforeAll(() => {
  const lines = [...ROLE_OF].map(([operation, role]) => `  ${operation}: [${role}]`);
  fs.writeFileSync(rules, `operations:\n${lines.join("\n")}\n`);
  process.env.ENDPOINT_RULES_FILE = rules;
});
afterAll(() => fs.rmSync(path.dirname(rules), { recursive: true }));

/** Somebody of the demo host whose only rights are the random roles of these operations; of all without any. */
const person = (name: string, operations?: readonly string[], overrides: object = {}) =>
  bearer(
    identity("alice", {
      name,
      displayName: name,
      userId: newId(),
      roles: operations?.map((operation) => ROLE_OF.get(operation) ?? "") ?? ALL_ROLES,
      ...overrides,
    }),
  );
const rest = (operation: string, data: object, headers: Record<string, string>) =>
  call.rest(operation, { hostId: DEMO_HOST_ID, ...data }, headers);

const { projectionName, consumerGroup } = portalProjection();

async function project(): Promise<void> {
  await inTransaction(db.pool, "rows", (tx) => ensureProgressRows(tx, portalProjection()));
  await drainLane(db.pool, portalProjection(), partitionOfHost(DEMO_HOST_ID));
}

/** A role grant that came before its role: captured, and replayable as soon as the role is there. */
async function failure(): Promise<string> {
  const producer = await person("producer");
  const roleId = `role-${newId()}`;
  const grant = await rest("createRoleUser", { roleId, userId: newId() }, producer);
  expect(grant.status, grant.text).toBe(200);
  await project();
  expect((await rest("createRole", { roleId, roleDesc: "r" }, producer)).status).toBe(200);
  await project();
  const { rows } = await db.pool.query<{ failure_id: string }>(
    "SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1 AND status = 'OPEN' ORDER BY first_failed_ts DESC LIMIT 1",
    [DEMO_HOST_ID],
  );
  return rows[0]!.failure_id;
}

type Plan = { readonly replayRequestId: string; readonly planHash: string };

async function planBy(headers: Record<string, string>, failureId: string, overrides: object = {}): Promise<Plan> {
  const made = await rest(
    "createEventReplayPlan",
    {
      projectionName,
      consumerGroup,
      failureIds: [failureId],
      strategy: "EXACT",
      validationMode: "EXECUTE",
      reason: "because",
      ...overrides,
    },
    headers,
  );
  expect(made.status, made.text).toBe(200);
  return made.body as Plan;
}

const decide = (
  operation: string,
  { replayRequestId, planHash }: Plan,
  headers: Record<string, string>,
  reason = "checked",
) => rest(operation, { replayRequestId, planHash, reason }, headers);
const statusOf = async ({ replayRequestId }: Plan) =>
  (await db.pool.query("SELECT status FROM event_replay_request_t WHERE replay_request_id = $1", [replayRequestId]))
    .rows[0]?.status;

test("ER-APR-01 decisions 1, 2, 4: with any role name that the rules give an operation, own host: candidates, plan and request", async () => {
  const failureId = await failure();
  const reader = await person("row-1", ["listEventReplayCandidate"]);
  const list = await rest(
    "listEventReplayCandidate",
    { projectionName, consumerGroup, status: "OPEN", page: 0, pageSize: 25 },
    reader,
  );
  expect(list.status, list.text).toBe(200);
  const plan = await planBy(await person("row-2", ["createEventReplayPlan"]), failureId);
  const read = await rest(
    "getEventReplay",
    { replayRequestId: plan.replayRequestId },
    await person("row-4", ["getEventReplay"]),
  );
  expect(read.body).toMatchObject({ status: "AWAITING_APPROVAL", replayRequestId: plan.replayRequestId });
  expect((await rest("getEventReplay", { replayRequestId: plan.replayRequestId }, reader)).status).toBe(403);
});

test("ER-APR-07 decision 3: another host is AUTHORIZATION_DENIED, for an id that is there as for one that isn't", async () => {
  const failureId = await failure();
  const stranger = await person("row-3", undefined, { hostId: OTHER_DEMO_HOST_ID });
  for (const id of [failureId, newId()]) {
    const answer = await rest("getEventReplayFailure", { failureId: id }, stranger);
    expect([answer.status, answer.body.code]).toEqual([403, "AUTHORIZATION_DENIED"]);
  }
});

test("ER-APR-14 decisions 5, 7: the requester doesn't approve, and what nobody else approved isn't executed", async () => {
  const requester = await person("row-5");
  const plan = await planBy(requester, await failure());
  for (const operation of ["approveEventReplay", "executeEventReplay"]) {
    const answer = await decide(operation, plan, requester);
    expect([operation, answer.status, answer.body.code]).toEqual([operation, 403, "AUTHORIZATION_DENIED"]);
  }
  expect(await statusOf(plan)).toBe("AWAITING_APPROVAL");
});

test("ER-APR-03 decisions 6, 11: random role names carry a recovery from end to end; requester plans, another approves, the requester runs", async () => {
  const failureId = await failure();
  const requester = await person("row-6", [
    "createEventReplayPlan",
    "executeEventReplay",
    "processEventReplay",
    "getEventReplay",
  ]);
  const approver = await person("row-6b", ["approveEventReplay"]);
  const plan = await planBy(requester, failureId, { idempotencyKey: "once" });
  expect((await planBy(requester, failureId, { idempotencyKey: "once" })).replayRequestId).toBe(plan.replayRequestId);
  expect((await decide("approveEventReplay", plan, approver)).body).toMatchObject({ status: "APPROVED" });
  const ran = await decide("executeEventReplay", plan, requester);
  expect(ran.status, ran.text).toBe(200);
  expect(ran.body).toMatchObject({ status: "SUCCEEDED" });
  const { rows } = await db.pool.query<{ event_name: string; n: number }>(
    "SELECT event_name, count(*)::int AS n FROM event_replay_audit_t WHERE replay_request_id = $1 GROUP BY 1",
    [plan.replayRequestId],
  );
  for (const { event_name, n } of rows) expect([event_name, n]).toEqual([event_name, 1]);
});

test("ER-API-28 the same decision sent again has one effect", async () => {
  const [requester, approver] = [await person("again"), await person("again-b")];
  const plan = await planBy(requester, await failure());
  await decide("approveEventReplay", plan, approver);
  await decide("approveEventReplay", plan, approver);
  const first = await decide("executeEventReplay", plan, requester);
  const second = await decide("executeEventReplay", plan, requester);
  expect([first.body.status, second.body.status]).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  const { rows } = await db.pool.query<{ approvals: number; attempts: number }>(
    `SELECT (SELECT count(*)::int FROM event_replay_audit_t WHERE replay_request_id = $1 AND event_name = 'EVENT_REPLAY_PLAN_APPROVED') AS approvals,
            (SELECT count(*)::int FROM event_replay_attempt_t WHERE replay_request_id = $1) AS attempts`,
    [plan.replayRequestId],
  );
  expect(rows[0]).toEqual({ approvals: 1, attempts: 1 });
});

test("ER-APR-10 decision 9 as D-20: an empty reason is INVALID_REQUEST for every operation that asks one", async () => {
  const somebody = await person("row-9");
  const asking = contracts().filter(({ request }) =>
    Object.hasOwn((request as { shape?: object }).shape ?? {}, "reason"),
  );
  expect(asking.length).toBeGreaterThanOrEqual(4);
  for (const { name } of asking) {
    for (const reason of ["", "  \n ", undefined]) {
      const answer = await rest(name, { reason }, somebody);
      expect([name, answer.status, answer.body.code]).toEqual([name, 400, "INVALID_REQUEST"]);
      expect(JSON.stringify(answer.body.details)).toContain('"/reason"');
    }
  }
});

test("ER-APR-09 decisions 8, 12 in general: a client without a user decides nothing; the plan of a person stays as it was", async () => {
  const plan = await planBy(await person("row-12"), await failure());
  const machine = await person("ci", undefined, { userId: "" });
  for (const operation of ["approveEventReplay", "cancelEventReplay", "executeEventReplay"]) {
    expect((await decide(operation, plan, machine)).body.code).toBe("AUTHORIZATION_DENIED");
  }
  expect(await statusOf(plan)).toBe("AWAITING_APPROVAL");
});

/** Rows of the decision table whose operation has no entry in the registry: nobody may call it, whatever their roles. */
const UNPUBLISHED: Readonly<Record<string, readonly number[]>> = {
  waiveEventReplayFailure: [8, 9],
  releaseEventReplayBarrier: [10],
  createEventReplayRepair: [12],
  approveEventReplayRepair: [13, 14],
  getEventReplayRepair: [3, 17],
};

test("ER-APR-01 decisions on operations that aren't published: unknown to everybody, so nothing is decided by them", async () => {
  const somebody = await person("unpublished");
  for (const operation of Object.keys(UNPUBLISHED)) {
    expect(
      operations(true).has(operation),
      `${operation} is published: its rows of the decision table need tests`,
    ).toBe(false);
    const answer = await rest(operation, { reason: "because" }, somebody);
    expect([answer.status, JSON.stringify(answer.body.details)]).toEqual([
      400,
      expect.stringContaining("UNKNOWN_OPERATION"),
    ]);
  }
});

test("ER-APR-03 O26 a plan that nobody else could approve says so at once, by the rules of this moment", async () => {
  const requester = identity("alice", { name: "o26", userId: newId(), roles: ALL_ROLES });
  const approver = identity("alice", {
    name: "o26-b",
    userId: newId(),
    roles: [ROLE_OF.get("approveEventReplay") ?? ""],
  });
  const warningsOf = async () =>
    (
      (await planBy(await bearer(requester), await failure())) as unknown as { warnings: { code: string }[] }
    ).warnings.map(({ code }) => code);
  const seen = async (who: typeof requester) => {
    const { name, displayName, userId, hostId, roles } = who;
    const actor = { personId: `event-admin-demo|${name}`, userId, hostId, roles, name: displayName, human: true };
    await inTransaction(db.pool, "seen", (tx) => upsertPerson(tx, actor));
  };
  await seen(requester);
  expect(await warningsOf()).toContain("NO_ELIGIBLE_APPROVER");
  await seen({ ...approver, roles: [ROLE_OF.get("getEventReplay") ?? ""] });
  expect(await warningsOf()).toContain("NO_ELIGIBLE_APPROVER");
  await seen(approver);
  expect(await warningsOf()).not.toContain("NO_ELIGIBLE_APPROVER");
});

test("ER-APR-16 a permission taken away refuses calls to come and leaves what was decided", async () => {
  const [requester, approver] = [await person("before"), await person("before-b")];
  const plan = await planBy(requester, await failure());
  await decide("approveEventReplay", plan, approver);
  const state = async () =>
    (
      await db.pool.query(
        `SELECT to_jsonb(r) AS request, (SELECT count(*)::int FROM event_replay_audit_t a WHERE a.replay_request_id = r.replay_request_id) AS trace
           FROM event_replay_request_t r WHERE replay_request_id = $1`,
        [plan.replayRequestId],
      )
    ).rows[0];
  const before = await state();
  const text = fs.readFileSync(rules, "utf8");
  const without = (operation: string) => (yaml: string) =>
    yaml.replace(new RegExp(`^ {2}${operation}: .*$`, "m"), `  ${operation}: []`);
  const marker = async () => (await rest("getDemoState", {}, requester)).status;
  fs.writeFileSync(rules, without("executeEventReplay")(without("getDemoState")(text)));
  await expect.poll(marker, { timeout: 5_000 }).toBe(403);
  expect((await decide("executeEventReplay", plan, requester)).status).toBe(403);
  expect(await state()).toEqual(before);
  fs.writeFileSync(rules, text);
  await expect.poll(marker, { timeout: 5_000 }).toBe(200);
  expect((await decide("executeEventReplay", plan, requester)).status).toBe(200);
  expect(await statusOf(plan)).toBe("SUCCEEDED");
});

test("ER-APR-07 an id of another host and one that was never there are the same 404, byte for byte but the request id", async () => {
  const requester = await person("own");
  const plan = await planBy(requester, await failure());
  const { rows } = await db.pool.query<{ failure_id: string }>(
    "SELECT failure_id FROM event_failure_transaction_t LIMIT 1",
  );
  const stranger = await person("other", undefined, { hostId: OTHER_DEMO_HOST_ID });
  const hash = { planHash: plan.planHash, reason: "because" };
  const cases: [string, (id: string) => object, string][] = [
    ["getEventReplayFailure", (failureId) => ({ failureId }), rows[0]!.failure_id],
    ["getEventReplay", (replayRequestId) => ({ replayRequestId }), plan.replayRequestId],
    ["approveEventReplay", (replayRequestId) => ({ replayRequestId, ...hash }), plan.replayRequestId],
    ["cancelEventReplay", (replayRequestId) => ({ replayRequestId, ...hash }), plan.replayRequestId],
    ["executeEventReplay", (replayRequestId) => ({ replayRequestId, ...hash }), plan.replayRequestId],
    ["processEventReplay", (replayRequestId) => ({ replayRequestId, planHash: plan.planHash }), plan.replayRequestId],
    [
      "createEventReplayPlan",
      (failureId) => ({
        projectionName,
        consumerGroup,
        failureIds: [failureId],
        strategy: "EXACT",
        validationMode: "EXECUTE",
        reason: "because",
      }),
      rows[0]!.failure_id,
    ],
  ];
  for (const [operation, body, foreignId] of cases) {
    const [absentId] = [newId()];
    const [foreign, absent] = [
      await call.rest(operation, { hostId: OTHER_DEMO_HOST_ID, ...body(foreignId) }, stranger),
      await call.rest(operation, { hostId: OTHER_DEMO_HOST_ID, ...body(absentId) }, stranger),
    ];
    expect([operation, foreign.status], foreign.text).toEqual([operation, 404]);
    const plain = (answer: typeof foreign) =>
      answer.text.replace(String(answer.body.requestId), "-").replaceAll(foreignId, "ID").replaceAll(absentId, "ID");
    expect(plain(foreign)).toBe(plain(absent));
    const names = (answer: typeof foreign) => [...answer.headers.keys()].sort();
    expect(names(foreign)).toEqual(names(absent));
  }
});
