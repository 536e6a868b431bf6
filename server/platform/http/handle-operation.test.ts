import { expect, test } from "vitest";
import { z } from "zod";
import { defineOperation } from "@/server/contracts/operation";
import { AppError } from "@/server/platform/errors";
import { type Gateway, handleOperation } from "./handle-operation";
import { type Actor, bindOperation, type OperationContext } from "./operation-context";
import { restSurface } from "./rest-surface";

const HOST = "0193f2d0-0000-7000-8000-000000000001";
const actor: Actor = { personId: "i|a", userId: "a", hostId: HOST, roles: [], name: "A", human: true };

const contract = defineOperation({
  name: "readThing",
  kind: "query",
  summary: "Read a thing.",
  request: z.strictObject({ hostId: z.uuid(), what: z.string().max(40) }),
  response: z.strictObject({ thing: z.strictObject({ name: z.string() }) }),
  errors: [],
});

/** A gateway with one operation; what the handler answers or throws is up to the test. No database is reached. */
function gateway(handle: () => Promise<unknown>): Gateway {
  return {
    operations: new Map([
      [contract.name, bindOperation(contract, handle as () => Promise<{ thing: { name: string } }>)],
    ]),
    identify: async () => actor,
    mayCall: () => true,
    context: () => ({ actor, hostId: HOST, requestId: "", may: () => false }) as unknown as OperationContext,
  };
}

async function call(handle: () => Promise<unknown>, data: unknown = { hostId: HOST, what: "x" }) {
  const request = new Request("http://own.invalid/", { method: "POST", body: JSON.stringify(data) });
  const response = await handleOperation(gateway(handle), restSurface("readThing"), request);
  return { status: response.status, text: await response.text() };
}

test("ER-PAY-10 an answer with a member that its contract doesn't declare never leaves, at any depth", async () => {
  for (const answer of [
    { thing: { name: "n" }, payload: "cnry-1" },
    { thing: { name: "n", headers: ["cnry-1"] } },
    { thing: { name: { value: "cnry-1" } } },
    "cnry-1",
  ]) {
    const refused = await call(async () => answer);
    expect(refused.status).toBe(500);
    expect(refused.text).toContain('"code":"INTERNAL"');
    expect(refused.text).not.toContain("cnry");
  }
  expect(await call(async () => ({ thing: { name: "n" } }))).toEqual({ status: 200, text: '{"thing":{"name":"n"}}' });
});

test("ER-PAY-17 whatever a handler throws, its text stays inside", async () => {
  for (const thrown of [
    new Error("cnry-1"),
    Object.assign(new Error("cnry-1"), { code: "23505", detail: "Key (a)=(cnry-1)", constraint: "a_uk" }),
    "cnry-1",
    null,
    { code: "cnry-1" },
  ]) {
    const refused = await call(() => Promise.reject(thrown));
    expect(refused.status).toBe(500);
    expect(refused.text).toContain('"code":"INTERNAL"');
    expect(refused.text).not.toContain("cnry");
  }
});

test("ER-API-22 a coded refusal leaves with its status, flag, sentence and details, the rule list bounded", async () => {
  const errors = Array.from({ length: 80 }, (_, n) => ({ field: `/ids/${n}`, rule: "TOO_LONG" }));
  const refused = await call(() => Promise.reject(new AppError("STALE_PLAN", { errors })));
  expect(refused.status).toBe(409);
  const body = JSON.parse(refused.text);
  expect(body).toMatchObject({ code: "STALE_PLAN", retryable: true, status: 409 });
  expect(body.details.errors).toHaveLength(50);
});

test("ER-APR-07 the host is compared before the request is judged and before the handler runs", async () => {
  let ran = false;
  const handle = async () => {
    ran = true;
    return { thing: { name: "n" } };
  };
  const foreign = await call(handle, { hostId: "0193f2d0-0000-7000-8000-000000000002", what: 7, more: 1 });
  expect(foreign.status).toBe(403);
  expect(foreign.text).toContain("AUTHORIZATION_DENIED");
  expect(ran).toBe(false);
});
