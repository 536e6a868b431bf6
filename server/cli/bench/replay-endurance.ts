import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { checkConservation } from "@/server/event-replay/append/checker";
import { createAccount } from "./account-projection";
import { atMost, type Figure, whole } from "./measure";
import { killHard } from "./projector-process";
import { approvedPlan, captureFailures, executePlan, withPool } from "./replay-plans";
import type { Size } from "./size";

const LANE = 14;
const KILL_LANE = 15;
/** The most a plan may hold. */
const PLAN_ITEMS = 500;
const SAMPLE_MS = 20;

/** Goal 13: memory while many items are replayed plan by plan, and what is lost or doubled when executors are killed hard. */
export async function measureEndurance(databaseUrl: string, size: Size): Promise<Figure[]> {
  return withPool(databaseUrl, 6, async (pool) => [
    await measureMemory(pool, size),
    await measureKills(databaseUrl, pool, size),
  ]);
}

async function measureMemory(pool: pg.Pool, size: Size): Promise<Figure> {
  const account = await createAccount(pool, "memory");
  const items = Math.min(PLAN_ITEMS, size.replayed);
  const next = async () => approvedPlan(pool, account, LANE, await captureFailures(pool, account, LANE, items));
  // The first plan warms up: what the process keeps for good isn't growth.
  await executePlan(pool, account, await next());
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, SAMPLE_MS);
  for (let replayed = 0; replayed < size.replayed; replayed += items) await executePlan(pool, account, await next());
  clearInterval(sampler);
  const grown = (peak - before) / 2 ** 20;
  const figure = `${whole(size.replayed)} items, ${grown.toFixed(0)} MB of 64`;
  return atMost(13, "memory while items are replayed, growth", figure, [grown / 64], "x", 1);
}

async function measureKills(databaseUrl: string, pool: pg.Pool, size: Size): Promise<Figure> {
  const account = await createAccount(pool, "killed");
  const failureIds = await captureFailures(pool, account, KILL_LANE, size.items);
  const plan = await approvedPlan(pool, account, KILL_LANE, failureIds);
  const run = async (killAfterMs: number | null): Promise<string> => {
    const child = fork(path.join(import.meta.dirname, "replay-child.ts"), {
      execArgv: ["--import", "tsx"],
      env: { ...process.env, DATABASE_URL: databaseUrl, BENCH_ACCOUNT: "killed", BENCH_PLAN: JSON.stringify(plan) },
    });
    await once(child, "message");
    if (killAfterMs !== null) {
      await delay(killAfterMs);
      await killHard(child);
      return "KILLED";
    }
    const [answer] = (await once(child, "message")) as [string];
    await killHard(child);
    return answer;
  };
  for (let kill = 0; kill < size.kills; kill++) await run(20 + Math.random() * 150);
  let ended = await run(null);
  while (ended === "LATER") ended = await run(null);
  const { rows } = await pool.query<{ open: number }>(
    "SELECT count(*)::int AS open FROM event_failure_transaction_t WHERE consumer_group = $1 AND status = 'OPEN'",
    [account.definition.consumerGroup],
  );
  const { projectionName, consumerGroup } = account.definition;
  const violations = (await checkConservation(pool, { projectionName, consumerGroup }, { atRest: true })).filter(
    ({ rule, hostId }) =>
      hostId === plan.hostId &&
      ["REPLAY_NOT_ONCE", "BARRIER_LEFT", "PARKED_LEFT", "CAPTURED_AND_PROJECTED"].includes(rule),
  );
  const wrong = (rows[0]?.open ?? 0) + violations.length + (ended === "SUCCEEDED" ? 0 : 1);
  return atMost(13, "items lost or done twice", `${whole(size.items)} items, ${size.kills} kills`, [wrong], "count", 0);
}
