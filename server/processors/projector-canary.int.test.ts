import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { portalProjection } from "@/server/portal/portal-projection";
import { append } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();
const CANARY = "cnry2e77";
let child: ChildProcess | null = null;

afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

const event = (type: string, subject: string, data: object) => ({
  ...{ specversion: "1.0", id: crypto.randomUUID(), source: `urn:${CANARY}`, type: `${type}CreatedEvent`, subject },
  ...{
    time: "2026-01-02T03:04:05Z",
    host: "01964b05-552a-7c4b-9184-6857e7f3dc5f",
    aggregatetype: type,
    aggregateversion: 1,
  },
  ...{ user: "01964b05-5532-7c79-8cde-191dcbd421b8", data },
});

test("ER-CAP-26 a running projector that captures canary payloads writes the canary to no log line and no metric", async () => {
  const deps = { pool: db.pool, projection: portalProjection() };
  const user = { userId: CANARY, email: CANARY, entityId: CANARY, userType: CANARY, language: "en" };
  await append(deps, [event("User", CANARY, user)]);
  await append(deps, [event("User", `${CANARY}2`, { ...user, userId: `${CANARY}2`, birthday: CANARY })]);
  await append(deps, [event("Role", CANARY, { hostId: CANARY, roleId: CANARY })]);
  const port = await freePort();
  const projector = spawn(process.execPath, ["--import", "tsx", "server/processors/projector.ts"], {
    env: { ...process.env, DATABASE_URL: db.url, EVENT_ADMIN_DEMO: "1", METRICS_PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = projector;
  let output = "";
  for (const stream of [projector.stdout, projector.stderr]) stream.on("data", (data) => (output += String(data)));
  await vi.waitFor(() => expect(output).toContain("failed transactions captured"), { timeout: 30_000, interval: 50 });
  await vi.waitFor(
    async () => {
      const { rows } = await db.pool.query("SELECT count(*)::int AS n FROM event_failure_transaction_t");
      expect(rows[0].n).toBe(3);
    },
    { timeout: 30_000, interval: 50 },
  );
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/captured/);
  projector.kill("SIGTERM");
  await once(projector, "exit");
  expect(output).toContain("live projection stops");
  expect(`${output}${metrics}`).not.toContain(CANARY);
}, 90_000);
