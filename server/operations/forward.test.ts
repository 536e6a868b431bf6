import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { defineOperation, type OperationKind } from "@/server/contracts/operation";
import { loadConfig } from "@/server/platform/config";
import { ConfigError } from "@/server/platform/config-error";
import { FORWARDED_HEADER } from "@/server/platform/http/internal-call";
import { handleAppend } from "./append-route";
import { forwarder } from "./forward";
import type { Runtime } from "./runtime";

const ENV = {
  DATABASE_URL: "postgres://u@127.0.0.1:5432/db",
  EVENT_ADMIN_DEMO: "1",
  NEXTAUTH_SECRET: "0123456789abcdef0123456789abcdef",
};
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const operation = (kind: OperationKind) =>
  defineOperation({
    name: "readThing",
    kind,
    summary: "Read.",
    request: z.strictObject({}),
    response: z.unknown(),
    errors: [],
  });
const call = (headers: Record<string, string> = {}) => ({
  data: { a: 1 },
  requestId: "01964b05-552a-7c4b-9184-6857e7f3dc5f",
  request: new Request("http://attacker.example/portal/query", {
    headers: { authorization: "Bearer abc", host: "attacker.example", ...headers },
  }),
});

async function listen(
  status: number,
  body: unknown,
): Promise<{ url: string; seen: { url?: string; authorization?: string; body: string }[] }> {
  const seen: { url?: string; authorization?: string; body: string }[] = [];
  const server = http.createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      seen.push({ url: request.url, authorization: request.headers.authorization, body: text });
      response.writeHead(status).end(JSON.stringify(body));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test("ER-ISO-13 a replica answers its own kind and passes the other on, with the caller's token, to the configured address only", async () => {
  const there = await listen(200, { fine: true });
  const config = loadConfig({ ...ENV, EVENT_ADMIN_ROLE: "query", COMMAND_URL: there.url });
  expect(forwarder(config)(operation("query"), call())).toBeNull();
  expect(await forwarder(config)(operation("command"), call())).toEqual({ fine: true });
  expect(there.seen).toEqual([
    {
      url: "/portal/command",
      authorization: "Bearer abc",
      body: JSON.stringify({
        host: "lightapi.net",
        service: "user",
        action: "readThing",
        version: "0.1.0",
        data: { a: 1 },
      }),
    },
  ]);
});

test("ER-API-25 a refusal comes back as it was; two replicas that point at each other refuse instead of circling", async () => {
  const there = await listen(409, { code: "STALE_PLAN", details: { failureIds: ["x"] } });
  const config = loadConfig({ ...ENV, EVENT_ADMIN_ROLE: "command", QUERY_URL: there.url });
  await expect(forwarder(config)(operation("query"), call())).rejects.toMatchObject({
    code: "STALE_PLAN",
    details: { failureIds: ["x"] },
  });
  await expect(forwarder(config)(operation("query"), call({ [FORWARDED_HEADER]: "1" }))).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    details: { errors: [{ rule: "FORWARDED_TWICE" }] },
  });
  expect(there.seen).toHaveLength(1);
});

test("events that reach a query replica are appended by the command replica: the same bytes, the caller's token, its answer", async () => {
  const there = await listen(409, { code: "AGGREGATE_VERSION_CONFLICT" });
  const config = loadConfig({ ...ENV, EVENT_ADMIN_ROLE: "query", COMMAND_URL: there.url });
  const gateway = {
    identify: () => Promise.resolve({ hostId: "any" }),
    mayCall: () => true,
    context: () => {
      throw new Error("nothing is appended here");
    },
  };
  const send = (headers: Record<string, string> = {}) =>
    handleAppend(
      { gateway, config } as unknown as Runtime,
      new Request("http://attacker.example/api/events", {
        method: "POST",
        headers: { authorization: "Bearer abc", "content-type": "application/json", ...headers },
        body: '[ {"n":1.0} ]',
      }),
    );
  const passed = await send();
  expect([passed.status, await passed.json()]).toEqual([409, { code: "AGGREGATE_VERSION_CONFLICT" }]);
  expect(there.seen).toEqual([{ url: "/api/events", authorization: "Bearer abc", body: '[ {"n":1.0} ]' }]);
  expect((await send({ [FORWARDED_HEADER]: "1" })).status).toBe(400);
  expect(there.seen).toHaveLength(1);
});

test("a role that must pass calls on needs the address, and roles and addresses are checked at start", () => {
  const refused = (env: Record<string, string>) => {
    try {
      loadConfig({ ...ENV, ...env });
    } catch (error) {
      if (error instanceof ConfigError) return error.setting;
    }
    return "accepted";
  };
  expect(refused({ EVENT_ADMIN_ROLE: "command" })).toBe("QUERY_URL");
  expect(refused({ EVENT_ADMIN_ROLE: "query" })).toBe("COMMAND_URL");
  expect(refused({ EVENT_ADMIN_ROLE: "both" })).toBe("EVENT_ADMIN_ROLE");
  expect(refused({ QUERY_URL: "query.internal" })).toBe("QUERY_URL");
  expect(refused({ QUERY_URL: "http://u:p@h/path" })).toBe("QUERY_URL");
  expect(loadConfig({ ...ENV, PORT: "3001" }).loopbackUrl).toBe("http://127.0.0.1:3001");
});
