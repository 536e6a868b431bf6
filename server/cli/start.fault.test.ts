import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { readInstance } from "@/server/cli/supervisor/instance-file.mjs";
import { freePort } from "@/server/cli/supervisor/ports.mjs";
import { isAlive, LaunchedProduct, START_LIMIT_MS } from "@/server/testing/launched-product";

let product: LaunchedProduct;

beforeAll(async () => {
  product = await LaunchedProduct.create();
});

afterEach(() => product.stop());

afterAll(() => product.remove());

const isReady = () => product.assertReady();

const soon = { timeout: 60_000, interval: 100 };

test(
  "ER-DEP-03 a fresh start projects its sample and answers, without a step that enables anything",
  async () => {
    await product.launchReady();
    await isReady();
    const instance = readInstance(product.dataDir);
    const client = new pg.Client({ connectionString: instance?.databaseUrl });
    await client.connect();
    try {
      await vi.waitFor(async () => {
        const { rows } = await client.query(
          `SELECT (SELECT count(*)::int FROM event_store_t) AS appended,
                  (SELECT count(*)::int FROM outbox_message_t o
                    WHERE NOT EXISTS (SELECT 1 FROM consumer_offsets c
                                       WHERE c.partition_id = o.partition_id AND c.next_offset > o.c_offset)) AS waiting`,
        );
        expect(rows[0].appended).toBeGreaterThan(0);
        expect(rows[0].waiting).toBe(0);
      }, soon);
    } finally {
      await client.end();
    }
  },
  START_LIMIT_MS,
);

test(
  "web, projector and database come back after kill -9, and SIGTERM then ends all of them within 15 seconds",
  async () => {
    const { launcher } = await product.launchReady();
    for (const name of ["projector", "web", "postgres"] as const) {
      const before = product.children().get(name);
      expect(before, name).toBeDefined();
      process.kill(before as number, "SIGKILL");
      await vi.waitFor(async () => {
        const now = product.children().get(name);
        expect(now).toBeDefined();
        expect(now).not.toBe(before);
        await isReady();
      }, soon);
    }
    const pids = [...product.children().values()];
    expect(pids).toHaveLength(3);
    const asked = Date.now();
    launcher.kill("SIGTERM");
    const [code] = await once(launcher, "exit");
    expect(code).toBe(0);
    expect(Date.now() - asked).toBeLessThan(15_000);
    expect(pids.filter(isAlive)).toEqual([]);
  },
  START_LIMIT_MS,
);

test(
  "kill -9 of the launcher leaves no process behind, and the next start finds port and data free",
  async () => {
    const { launcher } = await product.launchReady();
    const pids = [...product.children().values()];
    expect(pids).toHaveLength(3);
    launcher.kill("SIGKILL");
    await once(launcher, "exit");
    await product.launchReady();
    expect(pids.filter(isAlive)).toEqual([]);
  },
  START_LIMIT_MS,
);

test(
  "a second launcher on the same data, and one whose port is taken, refuse and say so",
  async () => {
    await product.launchReady();
    const second = product.launch({ PORT: String(await freePort()) });
    expect((await once(second.launcher, "close"))[0]).toBe(1);
    expect(second.output()).toContain("already runs with the data folder");

    const other = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-start-other-"));
    try {
      const third = product.launch({ EVENT_ADMIN_DATA: other });
      expect((await once(third.launcher, "close"))[0]).toBe(1);
      expect(third.output()).toContain(`Port ${product.port} is taken`);
    } finally {
      fs.rmSync(other, { recursive: true, force: true });
    }
  },
  START_LIMIT_MS,
);

test("without demo mode and an identity provider the launcher refuses before it touches anything", async () => {
  const { launcher, output } = product.launch({ DATABASE_URL: "postgres://db.example.org/x" });
  expect((await once(launcher, "close"))[0]).toBe(1);
  expect(output()).toContain("OIDC_ISSUER");
});
