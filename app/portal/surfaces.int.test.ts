import { expect, test } from "vitest";
import { bearer, call, identity, legacy, rpc, testSite } from "@/app/testing/test-client";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "@/server/portal/demo/identities";

const db = testSite();
const ROLE = { hostId: DEMO_HOST_ID, roleId: "auditor", roleDesc: "Reads everything" };

async function stored(): Promise<number[]> {
  const { rows } = await db.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM event_store_t UNION ALL SELECT count(*)::int FROM outbox_message_t
     UNION ALL SELECT count(*)::int FROM notification_t UNION ALL SELECT sum(next_offset)::int FROM event_offset_counter_t
     UNION ALL SELECT count(*)::int FROM person_t UNION ALL SELECT count(*)::int FROM demo_defect_t`,
  );
  return rows.map(({ n }) => n);
}

test("ER-API-01 one operation answers alike on JSON-RPC, legacy envelope, ?cmd= and REST", async () => {
  const headers = await bearer("carol");
  const data = { hostId: DEMO_HOST_ID };
  const bare = { broken: false, sinceTs: null, mayChange: false };
  expect((await call.query(rpc("getDemoState", data, "x"), headers)).body).toEqual({
    jsonrpc: "2.0",
    result: bare,
    id: "x",
  });
  expect((await call.query(legacy("getDemoState", data), headers)).body).toEqual(bare);
  expect((await call.get(JSON.stringify(legacy("getDemoState", data)), headers)).body).toEqual(bare);
  expect((await call.rest("getDemoState", data, headers)).body).toEqual(bare);
});

test("ER-API-01 a command is refused on the query path and a query on the command path, by POST and GET", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const answers = [
    await call.query(rpc("createRole", ROLE), headers),
    await call.query(legacy("createRole", ROLE), headers),
    await call.get(JSON.stringify(legacy("createRole", ROLE)), headers),
    await call.command(rpc("getDemoState", { hostId: DEMO_HOST_ID }), headers),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("WRONG_PATH");
  }
  expect(await stored()).toEqual(before);
});

test("ER-API-01 an operation or version that isn't published is refused on every surface", async () => {
  const headers = await bearer("alice");
  for (const answer of [
    await call.query(rpc("dropEverything", {}), headers),
    await call.command({ ...rpc("createRole", ROLE), method: "lightapi.net/user/createRole/9.9.9" }, headers),
    await call.command({ ...legacy("createRole", ROLE), version: "9.9.9" }, headers),
    await call.rest("dropEverything", {}, headers),
    await call.rest("constructor", {}, headers),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("UNKNOWN_OPERATION");
  }
});

test("ER-API-22 refusals: JSON-RPC with the bare code in data, REST as problem document, both with the request id", async () => {
  const headers = await bearer("carol");
  const byRpc = await call.command(rpc("createRole", ROLE, "9"), headers);
  expect(byRpc.status).toBe(403);
  expect(byRpc.body).toEqual({
    jsonrpc: "2.0",
    id: "9",
    error: {
      code: -32603,
      message: "You may not do this. Nothing was changed.",
      data: "AUTHORIZATION_DENIED",
      retryable: false,
      details: {},
      requestId: byRpc.headers.get("x-request-id"),
    },
  });
  const byRest = await call.rest("createRole", ROLE, headers);
  expect(byRest.status).toBe(403);
  expect(byRest.headers.get("content-type")).toBe("application/problem+json");
  expect(byRest.body).toMatchObject({
    status: 403,
    code: "AUTHORIZATION_DENIED",
    retryable: false,
    requestId: byRest.headers.get("x-request-id"),
  });
});

test("ER-APR-07 a request that names another host is denied before anything else of it is judged", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const other = { ...ROLE, hostId: OTHER_DEMO_HOST_ID };
  for (const answer of [
    await call.command(rpc("createRole", other), headers),
    await call.rest("createRole", { ...other, unknown: 1, roleId: 7 }, headers),
    await call.query(legacy("getDemoState", { hostId: OTHER_DEMO_HOST_ID }), headers),
    await call.get(JSON.stringify(legacy("getDemoState", { hostId: OTHER_DEMO_HOST_ID })), headers),
  ]) {
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("AUTHORIZATION_DENIED");
  }
  expect(await stored()).toEqual(before);
});

test("ER-APR-01 a role that the endpoint rules don't name for an operation may not call it", async () => {
  const before = await stored();
  const nobody = await bearer(identity("alice", { roles: ["some-other-role"] }));
  expect((await call.query(rpc("getDemoState", { hostId: DEMO_HOST_ID }), nobody)).status).toBe(403);
  expect((await call.events([], nobody)).status).toBe(403);
  const reader = await bearer("carol");
  expect((await call.query(rpc("getDemoState", { hostId: DEMO_HOST_ID }), reader)).status).toBe(200);
  expect((await call.command(rpc("fixDemoProjection", { hostId: DEMO_HOST_ID }), reader)).status).toBe(403);
  expect((await call.events([], reader)).status).toBe(403);
  expect(await stored()).toEqual(before);
});

test("ER-APR-18 without a token every surface answers 401 and says nothing of the operation", async () => {
  const before = await stored();
  for (const answer of [
    await call.query(rpc("getDemoState", { hostId: DEMO_HOST_ID })),
    await call.command(rpc("nothing", {})),
    await call.get("not even json"),
    await call.rest("createRole", ROLE),
    await call.events([{}]),
  ]) {
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.text).toContain("UNAUTHENTICATED");
  }
  expect(await stored()).toEqual(before);
});

test("ER-API-21 ER-PAY-17 bad input on every surface is coded, bounded, echoes nothing and changes nothing", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const canary = "cnry-7f3d";
  const bodies: unknown[] = [
    "",
    `{"${canary}":`,
    `{"jsonrpc":"2.0","jsonrpc":"2.0","method":"${canary}"}`,
    new Uint8Array([0x7b, 0x22, 0xff, 0x22]),
    JSON.stringify(canary),
    [canary],
    null,
    `${"[".repeat(5_000)}"${canary}"${"]".repeat(5_000)}`,
    { [canary]: canary },
    { ...rpc("createRole", { ...ROLE, [canary]: canary }) },
    rpc("createRole", { ...ROLE, roleId: canary.repeat(100) }),
    rpc("createRole", { hostId: 7, roleId: { [canary]: canary } }),
    rpc("createRole", [canary]),
    rpc("createRole", canary),
    rpc(canary, { hostId: DEMO_HOST_ID }),
    { ...rpc("createRole", ROLE), id: { [canary]: canary } },
    legacy("createRole", { ...ROLE, roleDesc: [canary] }),
    legacy(canary, {}),
    `{"hostId":"${DEMO_HOST_ID}","roleId":"${canary}","roleDesc":1e999999999999}`,
  ];
  for (const body of bodies) {
    for (const answer of [
      await call.query(body, headers),
      await call.command(body, headers),
      await call.rest("createRole", body, headers),
      await call.get(typeof body === "string" ? body : JSON.stringify(body), headers),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("INVALID_REQUEST");
      expect(answer.text).not.toContain("cnry");
      expect(answer.text.length).toBeLessThan(10_000);
    }
  }
  expect(await stored()).toEqual(before);
});

test("ER-PAY-17 a refused event is told by code, pointer and rule; no value of it comes back and nothing is stored", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const canary = "cnry-7f3d";
  const event = {
    specversion: "1.0",
    id: "0193f2d0-0000-7000-8000-0000000000e1",
    source: canary,
    type: "RoleCreatedEvent",
    time: "2026-01-02T03:04:05Z",
    subject: "auditor",
    host: DEMO_HOST_ID,
    aggregatetype: "Role",
    aggregateversion: 1,
    data: { hostId: DEMO_HOST_ID, roleId: "auditor", note: canary },
  };
  const refused: [unknown, string][] = [
    [canary, "INVALID_REQUEST"],
    [[canary], "INVALID_REQUEST"],
    [[{ ...event, id: canary }], "INVALID_REQUEST"],
    [[{ ...event, time: canary }], "INVALID_REQUEST"],
    [[{ ...event, aggregateversion: canary }], "INVALID_REQUEST"],
    [[{ ...event, data: canary }], "INVALID_REQUEST"],
    [[{ ...event, type: canary }], "UNSUPPORTED_EVENT_TYPE"],
    [[event, event], "INVALID_REQUEST"],
    [[{ ...event, host: OTHER_DEMO_HOST_ID }], "AUTHORIZATION_DENIED"],
  ];
  for (const [body, code] of refused) {
    const answer = await call.events(body, headers);
    expect(answer.body.code, JSON.stringify(body)).toBe(code);
    expect(answer.text).not.toContain("cnry");
    expect(answer.text.length).toBeLessThan(10_000);
  }
  expect(await stored()).toEqual(before);
});

test("ER-API-21 a body over the limit is 413 on every surface and changes nothing", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const large = JSON.stringify({ ...ROLE, roleDesc: "x".repeat(1024 * 1024) });
  for (const answer of [
    await call.query(large, headers),
    await call.command(large, headers),
    await call.rest("createRole", large, headers),
    await call.events(" ".repeat(33 * 1024 * 1024), headers),
  ]) {
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("REPLAY_LIMIT_EXCEEDED");
  }
  expect(await stored()).toEqual(before);
});

test("ER-APP-40 a command's own required members are judged before an event is made", async () => {
  const headers = await bearer("alice");
  const before = await stored();
  const answer = await call.command(rpc("createRole", { hostId: DEMO_HOST_ID }), headers);
  expect(answer.body.error).toMatchObject({
    code: -32602,
    data: "INVALID_REQUEST",
    details: { errors: [{ field: "/roleId", rule: "REQUIRED" }] },
  });
  expect(await stored()).toEqual(before);
});

test("a command that succeeds appends one event and answers its place", async () => {
  const answer = await call.command(rpc("createRole", ROLE), await bearer("alice"));
  expect(answer.status).toBe(200);
  expect(answer.body.result).toMatchObject({ aggregateId: "auditor", aggregateVersion: 1 });
  const again = await call.command(rpc("createRole", ROLE), await bearer("alice"));
  expect(again.body.error).toMatchObject({
    data: "INVALID_REQUEST",
    details: { errors: [{ rule: "ALREADY_EXISTS" }] },
  });
});

test("every answer carries a request id of its own and is never cached", async () => {
  const headers = await bearer("carol");
  const seen = new Set<string | null>();
  for (const answer of [
    await call.query(rpc("getDemoState", { hostId: DEMO_HOST_ID }), headers),
    await call.query("", headers),
    await call.events("", {}),
    await call.rest("x", {}, { ...headers, "x-request-id": "<script>" }),
  ]) {
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    seen.add(answer.headers.get("x-request-id"));
  }
  expect(seen.size).toBe(4);
});

test("ER-APR-18 the demo's state tells an operator, and nobody else, that the defect may be changed", async () => {
  const answers = { alice: true, carol: false };
  for (const [name, mayChange] of Object.entries(answers)) {
    const headers = await bearer(name as keyof typeof answers);
    const { body } = await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, headers);
    expect(body).toMatchObject({ mayChange });
  }
});
