import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readInstance } from "@/server/cli/supervisor/instance-file.mjs";
import { checkConservation } from "@/server/event-replay/append/checker";
import { createPool } from "@/server/platform/db/pool";
import { newId } from "@/server/platform/ids";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { portalProjection } from "@/server/portal/portal-projection";
import { readPortalEventFiles } from "@/server/testing/data";
import { LaunchedProduct, type Part, START_LIMIT_MS } from "@/server/testing/launched-product";

/** Kills in the ordinary run; test:soak asks for many more. */
const KILLS = process.env.SOAK ? 60 : 6;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const PARTS: readonly Part[] = ["projector", "postgres", "web"];

let product: LaunchedProduct;
beforeAll(async () => {
  product = await LaunchedProduct.create();
});
afterAll(async () => {
  await product.stop();
  product.remove();
});

/** Small deterministic generator (mulberry32), so that a failing run can be repeated by its seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Appender = { acknowledged: string[]; stop: () => Promise<void> };

/** Sends transactions of two roles one after the other and remembers what was acknowledged; a lost answer proves nothing. */
function startAppender(token: string): Appender {
  const acknowledged: string[] = [];
  let running = true;
  const send = async () => {
    const events = [newId(), newId()].map((roleId) => ({
      specversion: "1.0",
      id: newId(),
      type: "RoleCreatedEvent",
      source: "https://example.org/chaos",
      time: new Date().toISOString(),
      host: DEMO_HOST_ID,
      subject: roleId,
      aggregatetype: "Role",
      aggregateversion: 1,
      datacontenttype: "application/json",
      data: { hostId: DEMO_HOST_ID, roleId, roleDesc: "made under fire" },
    }));
    const answer = await fetch(`${product.baseUrl}/api/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(events),
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.status === 200) acknowledged.push(...events.map((event) => event.id));
    await answer.arrayBuffer();
  };
  const loop = (async () => {
    while (running) await send().catch(() => delay(50));
  })();
  return {
    acknowledged,
    async stop() {
      running = false;
      await loop;
    },
  };
}

const countOf = (appenders: readonly Appender[]) =>
  appenders.reduce((sum, appender) => sum + appender.acknowledged.length, 0);

test(
  "ER-EXE-15 kill -9 of projector, database and web process under load loses and doubles nothing",
  async () => {
    process.stderr.write(`chaos seed ${SEED}, ${KILLS} kills\n`);
    const next = random(SEED);
    await product.launchReady();
    const token = (await product.script("server/cli/token.ts", "alice")).trim().split(/\s+/).at(-1) as string;
    await product.script("server/cli/demo.ts", "break");
    const appenders = Array.from({ length: 4 }, () => startAppender(token));
    // The whole real data goes in while things die; an import that was cut is simply run again.
    const imported = importUntilDone();
    for (let kill = 0; kill < KILLS; kill++) {
      // The moment is counted in acknowledged appends, not in seconds: the same on a fast and on a slow machine.
      const target = countOf(appenders) + 2 + Math.floor(next() * 80);
      await vi.waitFor(() => expect(countOf(appenders)).toBeGreaterThanOrEqual(target), {
        timeout: 90_000,
        interval: 5,
      });
      const part = PARTS[Math.floor(next() * PARTS.length)] as Part;
      const pid = product.children().get(part);
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      await vi.waitFor(
        async () => {
          expect(product.children().get(part)).not.toBe(pid);
          await product.assertReady();
        },
        { timeout: 90_000, interval: 100 },
      );
    }
    await imported;
    for (const appender of appenders) await appender.stop();
    const acknowledged = appenders.flatMap((appender) => appender.acknowledged);
    expect(acknowledged.length).toBeGreaterThan(0);

    const pool = createPool(readInstance(product.dataDir)?.databaseUrl as string);
    try {
      await vi.waitFor(
        async () => {
          const { rows } = await pool.query(
            `SELECT count(*)::int AS behind FROM event_offset_counter_t c JOIN consumer_offsets p USING (partition_id)
              WHERE c.next_offset > p.next_offset`,
          );
          expect(rows[0].behind).toBe(0);
        },
        { timeout: 90_000, interval: 100 },
      );
      expect(await checkConservation(pool, portalProjection())).toEqual([]);
      const { rows } = await pool.query(
        `SELECT (SELECT count(*)::int FROM event_store_t WHERE id = ANY ($1::uuid[])) AS stored,
                (SELECT count(*)::int FROM role_t WHERE role_desc = 'made under fire') AS projected,
                (SELECT count(*)::int FROM event_store_t WHERE event_type = 'RoleCreatedEvent'
                   AND metadata->>'source' = 'https://example.org/chaos') AS appended`,
        [acknowledged],
      );
      expect(rows[0].stored).toBe(acknowledged.length);
      expect(rows[0].projected).toBe(rows[0].appended);
    } finally {
      await pool.end();
    }
  },
  START_LIMIT_MS + KILLS * 30_000,
);

async function importUntilDone(): Promise<void> {
  await vi.waitFor(() => product.script("server/cli/import.ts", ...readPortalEventFiles().map((file) => file.path)), {
    timeout: 240_000,
    interval: 500,
  });
}
