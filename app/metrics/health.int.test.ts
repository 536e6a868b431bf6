import { expect, test } from "vitest";
import { GET as getHealth } from "@/app/healthz/route";
import { GET as getReady } from "@/app/readyz/route";
import { bearer, call, rpc, testSite } from "@/app/testing/test-client";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { GET as getMetrics } from "./route";

const db = testSite();
const scrape = async () => (await getMetrics()).text();
const gaugeOf = (text: string, name: string) =>
  Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);

test("liveness answers without looking at the database", async () => {
  expect(await (await getHealth()).json()).toEqual({ status: "UP" });
});

test("readiness tells a complete schema, and how far the projector is behind", async () => {
  const before = await getReady();
  expect(before.status).toBe(200);
  expect(await before.json()).toEqual({
    status: "UP",
    database: "UP",
    schema: "COMPLETE",
    databaseRole: "LIMITED",
    rules: "CURRENT",
    capture: { state: "NO_PROJECTOR", pending: 0, oldestSeconds: 0 },
  });
  await call.command(rpc("createRole", { hostId: DEMO_HOST_ID, roleId: "r1" }), await bearer("alice"));
  const after = (await (await getReady()).json()) as { capture: { pending: number; oldestSeconds: number } };
  expect(after.capture.pending).toBe(1);
  expect(after.capture.oldestSeconds).toBeGreaterThan(0);
  expect(gaugeOf(await scrape(), "event_admin_outbox_pending_events")).toBe(1);
});

test("readiness believes a heartbeat only while it is fresh", async () => {
  const state = async () => ((await (await getReady()).json()) as { capture: { state: string } }).capture.state;
  await db.pool.query(
    `INSERT INTO processor_status_t (instance_id, projection_name, consumer_group, source_processor, state)
     VALUES (gen_random_uuid(), 'portal-query', 'user-query-group', 'DATABASE', 'HEALTHY')`,
  );
  expect(await state()).toBe("HEALTHY");
  await db.pool.query("UPDATE processor_status_t SET state = 'RETRYING', code = '53100'");
  expect(await state()).toBe("RETRYING");
  expect(await scrape()).toContain('event_admin_live_processors{state="RETRYING"} 1');
  await db.pool.query("UPDATE processor_status_t SET heartbeat_ts = now() - interval '16 seconds'");
  expect(await state()).toBe("NO_PROJECTOR");
});

test("ER-OBS-07 metric labels are our own words: no host, id, event type or name that a caller invents", async () => {
  const headers = await bearer("alice");
  await call.query(rpc("cnry-operation", {}), headers);
  await call.rest("cnry-operation", {}, headers);
  await call.command(rpc("createRole", { hostId: DEMO_HOST_ID, roleId: "cnry-role", roleDesc: "cnry" }), headers);
  const text = await scrape();
  expect(text).toContain('event_admin_operations_total{surface="command",operation="createRole",code="OK"}');
  expect(text).toContain('operation="unknown"');
  expect(text).not.toContain("cnry");
  expect(text).not.toContain(DEMO_HOST_ID);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  const labels = new Set([...text.matchAll(/[{,]([a-z_]+)="/g)].map((match) => match[1]));
  for (const label of labels)
    expect(["state", "surface", "operation", "code", "status", "le", "transaction", "sqlstate"]).toContain(label);
});

test("a half schema is not ready, and says neither table nor column to whoever asks", async () => {
  await db.pool.query("ALTER TABLE notification_t RENAME TO notification_gone_t");
  const { closeRuntime } = await import("@/server/operations/runtime");
  await closeRuntime();
  const answer = await getReady();
  expect(answer.status).toBe(503);
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ status: "DOWN", schema: "INCOMPLETE" });
  expect(text).not.toContain("notification");
  await db.pool.query("ALTER TABLE notification_gone_t RENAME TO notification_t");
});
