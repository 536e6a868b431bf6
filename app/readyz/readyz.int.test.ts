import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer, call } from "@/app/testing/test-client";
import { closeRuntime, runtime } from "@/server/operations/runtime";
import { loadConfig } from "@/server/platform/config";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { testDatabase } from "@/server/testing/database";
import { GET } from "./route";

const db = testDatabase();
const before = { ...process.env };
/** Of everything a process may be told, only what it needs to find its database and to sign sessions. */
const NEEDED = { EVENT_ADMIN_DEMO: "1", NEXTAUTH_SECRET: "test-secret-test-secret-test-secret" };
const SYSTEM = /^(PATH|HOME|TMPDIR|NODE_ENV|NODE_PATH|VITEST.*|TEST)$/;

beforeAll(() => {
  for (const name of Object.keys(process.env)) if (!SYSTEM.test(name)) delete process.env[name];
  Object.assign(process.env, NEEDED, { DATABASE_URL: db.url });
});
afterAll(async () => {
  await closeRuntime();
  Object.assign(process.env, before);
});

test("ER-PAY-12 with no encryption or key setting in the environment the server starts, is ready and answers a read", async () => {
  expect(Object.keys(process.env).filter((name) => /KEY|CRYPT|CIPHER|VAULT|KMS/i.test(name))).toEqual([]);
  expect(loadConfig()).toEqual(runtime().config);
  const ready = await GET();
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.objectContaining({ status: "UP", database: "UP", schema: "COMPLETE" }),
  ]);
  const read = await call.rest("getEventReplayOverview", { hostId: DEMO_HOST_ID }, await bearer("carol"));
  expect(read.status, read.text).toBe(200);
});

test("ER-PAY-12 no module of the server imports a cipher: bytes are stored as they are", () => {
  const sources = readdirSync("server", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes(".test."))
    .filter((file) => /createCipher|createDecipher|subtle\.(en|de)crypt/.test(readFileSync(`server/${file}`, "utf8")));
  expect(sources).toEqual([]);
});
