import { expect, test } from "vitest";
import { AppError } from "@/server/platform/errors";
import { legacyGetSurface, portalSurface } from "./portal-surface";
import { toRefusal } from "./refusal";

const ID = "0193f2d0-0000-7000-8000-000000000001";
const post = (body: unknown) =>
  new Request("http://own.invalid/portal/query", { method: "POST", body: JSON.stringify(body) });
const rpc = (method: string, params?: unknown, id: unknown = "7") => ({ jsonrpc: "2.0", method, params, id });
const legacy = (rest: object = {}) => ({
  host: "lightapi.net",
  service: "user",
  action: "getEventReplayFailure",
  version: "0.1.0",
  data: { failureId: ID },
  ...rest,
});
const refusal = (code: ConstructorParameters<typeof AppError>[0]) => toRefusal(new AppError(code), ID, "op", "query");

test("ER-API-01 a JSON-RPC call names service, operation and version in its method; result and id come back", async () => {
  const surface = portalSurface("query");
  const call = await surface.readCall(post(rpc("lightapi.net/user/getEventReplayFailure/0.1.0", { failureId: ID })));
  expect(call).toEqual({ name: "getEventReplayFailure", data: { failureId: ID }, kind: "query" });
  expect(await surface.success({ n: 1 }).json()).toEqual({ jsonrpc: "2.0", result: { n: 1 }, id: "7" });
});

test("ER-API-01 another host, service or version, or a method of another form, is an unknown operation", async () => {
  for (const method of [
    "lightapi.net/user/getEventReplayFailure/0.2.0",
    "lightapi.net/role/getEventReplayFailure/0.1.0",
    "example.org/user/getEventReplayFailure/0.1.0",
    "lightapi.net/user/getEventReplayFailure/0.1.0/x",
    "lightapi.net/user//0.1.0",
    "getEventReplayFailure",
  ]) {
    await expect(portalSurface("query").readCall(post(rpc(method)))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: { errors: [{ rule: "UNKNOWN_OPERATION" }] },
    });
  }
  await expect(portalSurface("query").readCall(post(legacy({ version: "0.0.1" })))).rejects.toMatchObject({
    details: { errors: [{ rule: "UNKNOWN_OPERATION" }] },
  });
});

test("ER-API-22 a JSON-RPC error has the code as bare string in data, our sentence as message, and the code's status", async () => {
  const surface = portalSurface("command");
  await surface.readCall(post(rpc("lightapi.net/user/executeEventReplay/0.1.0", {}, 12)));
  const response = surface.refusal(refusal("STALE_PLAN"));
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({
    jsonrpc: "2.0",
    error: {
      code: -32603,
      message: "What the plan was made from has changed. Make a new plan.",
      data: "STALE_PLAN",
      retryable: true,
      details: {},
      requestId: ID,
    },
    id: 12,
  });
});

test("ER-API-01 the legacy envelope is read from a POST body and from ?cmd= and answered bare", async () => {
  const posted = portalSurface("query");
  expect((await posted.readCall(post(legacy()))).name).toBe("getEventReplayFailure");
  expect(await posted.success({ n: 1 }).json()).toEqual({ n: 1 });
  const got = legacyGetSurface();
  const url = `http://own.invalid/portal/query?cmd=${encodeURIComponent(JSON.stringify(legacy()))}`;
  expect(await got.readCall(new Request(url))).toEqual({
    name: "getEventReplayFailure",
    data: { failureId: ID },
    kind: "query",
  });
  const bare = (await got.refusal(refusal("FAILURE_NOT_FOUND")).json()) as Record<string, unknown>;
  expect(bare).toMatchObject({ statusCode: 404, code: "FAILURE_NOT_FOUND", retryable: false });
});

test("ER-API-21 a body that is neither envelope is refused, also a batch and one with a further member", async () => {
  for (const body of [
    [],
    [rpc("lightapi.net/user/x/0.1.0")],
    {},
    7,
    { ...rpc("lightapi.net/user/x/0.1.0"), rest: 1 },
  ]) {
    await expect(portalSurface("query").readCall(post(body))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: { errors: [{ rule: "NOT_AN_ENVELOPE" }] },
    });
  }
});
