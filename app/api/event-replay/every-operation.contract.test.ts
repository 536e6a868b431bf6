import { hkdfSync } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { bearer, call, identity, rpc, SECRET, testSite } from "@/app/testing/test-client";
import { contracts } from "@/server/operations/registry";
import { runtime } from "@/server/operations/runtime";
import { issueDemoToken } from "@/server/platform/auth/demo/demo-token";
import { sealSession } from "@/server/platform/auth/session-cookie";
import { handleOperation } from "@/server/platform/http/handle-operation";
import { restSurface } from "@/server/platform/http/rest-surface";
import { newId } from "@/server/platform/ids";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "@/server/portal/demo/identities";

const db = testSite();
const rules = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "every-operation-")), "rules.yml");

beforeAll(() => {
  const demo = fs.readFileSync("server/operations/endpoint-rules.demo.yml", "utf8");
  const limits = "{ anonymous: { perSecond: 0.001, burst: 1000 }, export: { perSecond: 0.001, burst: 20 } }";
  fs.writeFileSync(rules, `${demo}\nlimits: ${limits}\n`);
  process.env.ENDPOINT_RULES_FILE = rules;
});
afterAll(() => fs.rmSync(path.dirname(rules), { recursive: true }));
afterEach(() => {
  vi.useRealTimers();
});

const OPERATIONS = contracts();
const JSON_TYPE = { "content-type": "application/json" };
const withToken = (token: string) => ({ ...JSON_TYPE, authorization: `Bearer ${token}` });

/** Sends the operation on every surface that serves it. */
async function everywhere(name: string, kind: "query" | "command", body: object, headers: Record<string, string>) {
  return [await call.rest(name, body, headers), await call[kind](rpc(name, body), headers)];
}

/** Everything durable but the record of refusals itself. */
async function durable(): Promise<unknown> {
  const { rows } = await db.pool.query<{ state: unknown }>(
    `SELECT jsonb_build_array((SELECT count(*) FROM event_store_t), (SELECT count(*) FROM outbox_message_t),
       (SELECT count(*) FROM notification_t), (SELECT count(*) FROM event_replay_request_t), (SELECT count(*) FROM person_t),
       (SELECT count(*) FROM event_replay_audit_t WHERE event_name <> 'CALL_REFUSED'),
       (SELECT jsonb_agg(to_jsonb(c) ORDER BY partition_id) FROM event_offset_counter_t c)) AS state`,
  );
  return rows[0]?.state;
}

async function refusedEverywhere(headers: Record<string, string>, status: number, code: string, body: object) {
  const before = await durable();
  for (const { name, kind } of OPERATIONS) {
    for (const answer of await everywhere(name, kind, body, headers)) {
      expect([name, answer.status], answer.text).toEqual([name, status]);
      expect(answer.text).toContain(code);
    }
  }
  expect(await durable()).toEqual(before);
}

test("ER-APR-18 without a token no operation answers", async () => {
  await refusedEverywhere(JSON_TYPE, 401, "UNAUTHENTICATED", { hostId: DEMO_HOST_ID });
});

test("ER-APR-01 ER-APR-18 with a role that the rules don't name no operation answers", async () => {
  const headers = await bearer(identity("alice", { roles: ["stranger", "admin", "host-admin", "*"] }));
  await refusedEverywhere(headers, 403, "AUTHORIZATION_DENIED", { hostId: DEMO_HOST_ID });
});

test("ER-APR-07 no operation answers for another host, and none of them reads anything before it says so", async () => {
  await refusedEverywhere(await bearer("alice"), 403, "AUTHORIZATION_DENIED", { hostId: OTHER_DEMO_HOST_ID });
  const { gateway } = runtime();
  const blind = {
    ...gateway,
    refused: () => Promise.resolve(),
    context: (): never => {
      throw new Error("a handler was about to run");
    },
  };
  for (const { name } of OPERATIONS) {
    const request = new Request("http://own.invalid/", {
      method: "POST",
      headers: await bearer("alice"),
      body: JSON.stringify({ hostId: OTHER_DEMO_HOST_ID, failureId: newId(), replayRequestId: newId() }),
    });
    expect([name, (await handleOperation(blind, restSurface(name), request)).status]).toEqual([name, 403]);
  }
});

test("ER-APR-09 what a person must do no machine's token does, whatever its roles; every operation with a reason is such", async () => {
  const machine = await bearer(identity("alice", { name: "ci", userId: "" }));
  for (const contract of OPERATIONS) {
    const asksReason = Object.hasOwn((contract.request as { shape?: object }).shape ?? {}, "reason");
    if (asksReason) expect([contract.name, contract.human]).toEqual([contract.name, true]);
    if (!contract.human) continue;
    for (const answer of await everywhere(contract.name, contract.kind, { hostId: DEMO_HOST_ID }, machine)) {
      expect([contract.name, answer.status], answer.text).toEqual([contract.name, 403]);
    }
  }
  expect(OPERATIONS.filter(({ human }) => human).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["createEventReplayPlan", "approveEventReplay", "executeEventReplay", "processEventReplay"]),
  );
});

test("ER-APR-18 an expired token opens no operation", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 13 * 3_600_000 });
  const expired = await issueDemoToken(identity("alice"), SECRET);
  vi.useRealTimers();
  await refusedEverywhere(withToken(expired), 401, "UNAUTHENTICATED", { hostId: DEMO_HOST_ID });
});

test("ER-APR-18 a token for another audience or of another issuer opens no operation", async () => {
  const key = new Uint8Array(hkdfSync("sha256", SECRET, "", "event-admin access token v1", 32));
  const { userId, hostId, roles } = identity("alice");
  const token = (issuer: string, audience: string) =>
    new SignJWT({ uid: userId, host: hostId, role: roles.join(" ") })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject("alice")
      .setExpirationTime("1h")
      .sign(key);
  const good = withToken(await token("event-admin-demo", "event-admin"));
  expect((await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, good)).status).toBe(200);
  for (const bad of [await token("event-admin-demo", "another-product"), await token("elsewhere", "event-admin")]) {
    await refusedEverywhere(withToken(bad), 401, "UNAUTHENTICATED", { hostId: DEMO_HOST_ID });
  }
});

test("ER-APR-18 a forged session, and a true one that another site uses, open no operation", async () => {
  const accessToken = await issueDemoToken(identity("alice"), SECRET);
  const own = { ...JSON_TYPE, origin: "http://127.0.0.1:3000", host: "127.0.0.1:3000" };
  const forged = await sealSession({ accessToken }, "another-secret-another-secret-another");
  await refusedEverywhere({ ...own, cookie: forged }, 401, "UNAUTHENTICATED", { hostId: DEMO_HOST_ID });
  const cookie = await sealSession({ accessToken }, SECRET);
  expect((await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, { ...own, cookie })).status).toBe(200);
  const elsewhere = { ...own, cookie, origin: "http://evil.invalid" };
  await refusedEverywhere(elsewhere, 403, "NOT_FROM_OUR_PAGE", { hostId: DEMO_HOST_ID });
});

test("ER-APR-18 roles that a request claims for itself, in body, header or cookie, are never looked at", async () => {
  const reader = await bearer("carol");
  const claims = {
    cookie: "roles=event-operator; userId=alice; host=x",
    "x-roles": "event-operator",
    role: "event-operator",
  };
  for (const contract of OPERATIONS.filter(({ human }) => human)) {
    const answer = await call.rest(contract.name, { hostId: DEMO_HOST_ID }, { ...reader, ...claims });
    expect([contract.name, answer.status]).toEqual([contract.name, 403]);
  }
});

test("ER-API-21 the same request again is answered alike and changes nothing more", async () => {
  const headers = await bearer("alice");
  const readOnce = OPERATIONS.filter(({ demoOnly, name }) => !demoOnly && name !== "exportAuditEvent");
  for (const { name, kind } of readOnce) {
    const body = { hostId: DEMO_HOST_ID };
    const [first] = await everywhere(name, kind, body, headers);
    const between = await durable();
    const [second] = await everywhere(name, kind, body, headers);
    expect([name, second?.status, second?.body.code]).toEqual([name, first?.status, first?.body.code]);
    expect(await durable(), name).toEqual(between);
  }
});

test("ER-APR-17 refused calls are in the audit: who, which operation and code, once a minute, nothing of the body", async () => {
  const person = identity("alice", { name: "mallory", roles: ["stranger"] });
  for (let n = 0; n < 25; n++) {
    await call.rest("executeEventReplay", { hostId: DEMO_HOST_ID, reason: "cnry-1" }, await bearer(person));
    await call.query(rpc("getEventReplay", { hostId: OTHER_DEMO_HOST_ID, cnry: "cnry-1" }), await bearer(person));
  }
  const { rows } = await db.pool.query<{ details: Record<string, unknown>; all: string }>(
    "SELECT details, a::text AS all FROM event_replay_audit_t a WHERE actor_id = 'event-admin-demo|mallory' ORDER BY created_ts",
  );
  expect(rows.map(({ details }) => [details.operation, details.code, details.surface, details.calls])).toEqual([
    ["executeEventReplay", "AUTHORIZATION_DENIED", "rest", 1],
    ["getEventReplay", "AUTHORIZATION_DENIED", "query", 1],
  ]);
  expect(JSON.stringify(rows)).not.toContain("cnry");
});

test("ER-API-22 a caller beyond the pace of the rules gets RATE_LIMITED with Retry-After, and only that caller", async () => {
  const body = { hostId: DEMO_HOST_ID, format: "CSV" };
  const hasty = await bearer("bob");
  const statuses = [];
  for (let n = 0; n < 22; n++) statuses.push((await call.rest("exportAuditEvent", body, hasty)).status);
  expect(statuses).toEqual([...Array(20).fill(200), 429, 429]);
  const refused = await call.query(rpc("exportAuditEvent", body), hasty);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(900);
  expect(refused.body.error).toMatchObject({ data: "RATE_LIMITED", retryable: true });
  expect((await call.rest("exportAuditEvent", body, await bearer("alice"))).status).toBe(200);
  expect((await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, hasty)).status).toBe(200);
});

test("ER-API-22 callers without identity are slowed by address, and never those who have one", async () => {
  let status = 0;
  const headers = { ...JSON_TYPE, "x-forwarded-for": "10.0.0.9" };
  for (let n = 0; n < 1_100 && status !== 429; n++) status = (await call.rest("getDemoState", {}, headers)).status;
  expect(status).toBe(429);
  expect((await call.rest("getDemoState", {}, { ...headers, "x-forwarded-for": "10.0.0.10" })).status).toBe(401);
  const known = { ...headers, ...(await bearer("carol")) };
  expect((await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, known)).status).toBe(200);
});
