import type pg from "pg";
import { BATCH_EVENTS_MAX } from "@/server/event-replay/live/project-batch";
import { createPool } from "@/server/platform/db/pool";
import { type Account, createAccount } from "./account-projection";
import {
  type Drained,
  drainByEngine,
  drainUnarmed,
  type Until,
  untilElapsed,
  untilEmpty,
  untilOnce,
} from "./engine-drain";
import { compare, type Figure, interleave, median, seconds } from "./measure";
import { analyze, fillOutbox, type OutboxShape, SHAPE, seekToEnd } from "./outbox-data";
import { drainByLoop, drainByStatement } from "./plain-drain";
import type { Size } from "./size";

type Drain = (pool: pg.Pool, account: Account, lane: number, until: Until) => Promise<Drained>;

const engine: Drain = (pool, account, lane, until) => drainByEngine(pool, account.definition, lane, until);
const strict: Drain = (pool, account, lane, until) => drainByEngine(pool, account.definition, lane, until, true);

/** One contest: the same new outbox rows, read by every drain under its own group into its own table. */
async function contest(
  databaseUrl: string,
  name: string,
  drains: Readonly<Record<string, readonly [Drain, "whole" | "timed"]>>,
  shapes: readonly OutboxShape[],
  size: Size,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const pool = createPool(databaseUrl, { max: shapes.length + 1, name: "bench" });
  try {
    const lanes = shapes.map(({ lane }) => lane);
    const accounts = new Map<string, Account>();
    for (const drain of Object.keys(drains)) accounts.set(drain, await createAccount(pool, `${name}_${drain}`));
    const groups = [...accounts.values()].map(({ definition }) => definition.consumerGroup);
    const contestants = Object.entries(drains).map(([drain, [run, mode]]) => ({
      name: drain,
      async run() {
        let events = 0;
        const spent = await seconds(async () => {
          const until = mode === "timed" ? untilElapsed(size.timedMs) : untilEmpty;
          const account = accounts.get(drain) as Account;
          const done = await Promise.all(lanes.map((lane) => run(pool, account, lane, until)));
          events = done.reduce((sum, each) => sum + each.events, 0);
        });
        return events / spent;
      },
    }));
    return await interleave(size.rounds, contestants, async () => {
      await seekToEnd(pool, groups, lanes);
      for (const shape of shapes) await fillOutbox(pool, shape);
      await analyze(
        pool,
        [...accounts.values()].map(({ table }) => table),
      );
    });
  } finally {
    await pool.end();
  }
}

const shapesOf = (first: number, count: number, shape: Omit<OutboxShape, "lane">): OutboxShape[] =>
  Array.from({ length: count }, (_, i) => ({ ...shape, lane: first + i }));

/** Goals 1 and 2: batches through the whole executor. */
export async function measureBatches(databaseUrl: string, size: Size): Promise<Figure[]> {
  const spread = { ...SHAPE, transactions: size.laneEvents / 2 };
  const all = {
    loop: [drainByLoop, "timed"],
    statement: [drainByStatement, "whole"],
    engine: [engine, "whole"],
  } as const;
  const one = await contest(
    databaseUrl,
    "one",
    all,
    shapesOf(0, 1, { ...spread, transactions: size.laneEvents }),
    size,
  );
  const runs = await contest(
    databaseUrl,
    "runs",
    { loop: [drainByLoop, "timed"], engine: [engine, "whole"] },
    shapesOf(4, 1, { ...spread, run: 10 }),
    size,
  );
  const four = await contest(databaseUrl, "four", all, shapesOf(0, 4, spread), size);
  return [
    compare(1, "executor to a commit-per-transaction loop, no shared rows", one, ["engine", "loop"], 10),
    compare(1, "same, runs of one aggregate", runs, ["engine", "loop"], 15),
    compare(1, "same, 4 lanes each", four, ["engine", "loop"], 5),
    compare(2, "executor to the one-statement limit, 1 lane", one, ["engine", "statement"], 0.5),
    compare(2, "executor to the one-statement limit, 4 lanes", four, ["engine", "statement"], 0.5),
  ];
}

/**
 * Goal 8: the same batches with capture behind them and without. The difference is small, so the two take turns batch by batch
 * on one lane, and a round compares their median batches.
 */
export async function measureArmed(databaseUrl: string, size: Size): Promise<Figure[]> {
  const pool = createPool(databaseUrl, { max: 1, name: "bench" });
  try {
    const lane = 2;
    const armed = await createAccount(pool, "armed");
    const bare = await createAccount(pool, "unarmed");
    const groups = [armed, bare].map(({ definition }) => definition.consumerGroup);
    const batch = (account: Account, run: typeof drainByEngine) => async () => {
      const spent = await seconds(() => run(pool, account.definition, lane, untilOnce()));
      return BATCH_EVENTS_MAX / spent;
    };
    const contestants = [
      { name: "armed", run: batch(armed, drainByEngine) },
      { name: "unarmed", run: batch(bare, drainUnarmed) },
    ];
    const rates = { armed: [] as number[], unarmed: [] as number[] };
    for (let round = 0; round < size.rounds; round++) {
      await seekToEnd(pool, groups, [lane]);
      const transactions = (size.armedBatches * BATCH_EVENTS_MAX) / SHAPE.members;
      await fillOutbox(pool, { ...SHAPE, lane, transactions });
      await analyze(pool, [armed.table, bare.table]);
      const turns = await interleave(size.armedBatches, contestants);
      rates.armed.push(median(turns.get("armed") ?? []));
      rates.unarmed.push(median(turns.get("unarmed") ?? []));
    }
    const what = "executor ready to capture to one that is not";
    return [compare(8, what, new Map(Object.entries(rates)), ["armed", "unarmed"], 0.97)];
  } finally {
    await pool.end();
  }
}

/** Goal 3: one commit per transaction, one event each. */
export async function measureStrict(databaseUrl: string, size: Size): Promise<Figure[]> {
  const shape = { ...SHAPE, members: 1, transactions: size.strictEvents };
  const drains = { loop: [drainByLoop, "timed"], strict: [strict, "timed"] } as const;
  const four = await contest(databaseUrl, "strict_four", drains, shapesOf(8, 4, shape), size);
  const eight = await contest(databaseUrl, "strict_eight", drains, shapesOf(8, 8, shape), size);
  return [
    compare(3, "strict executor to a 5-statement loop, 4 lanes", four, ["strict", "loop"], 0.8),
    compare(3, "strict executor to a 5-statement loop, 8 lanes", eight, ["strict", "loop"], 0.8),
  ];
}

/** Goal 4: our own rate with refused transactions, each captured whole. */
export async function measureFailing(databaseUrl: string, size: Size): Promise<Figure[]> {
  const pool = createPool(databaseUrl, { max: 2, name: "bench" });
  try {
    const account = await createAccount(pool, "failing");
    const shape = { ...SHAPE, transactions: size.laneEvents / 2, failOrdinal: 1 };
    const lanes = { none: [4, 0], "1 %": [5, 100], "10 %": [6, 10] } as const;
    const contestants = Object.entries(lanes).map(([name, [lane, failEvery]]) => ({
      name,
      async run() {
        let drained: Drained = { events: 0, captured: 0 };
        const spent = await seconds(async () => {
          drained = await engine(pool, account, lane, untilEmpty);
        });
        const failed = failEvery === 0 ? 0 : Math.ceil(shape.transactions / failEvery);
        if (drained.captured !== failed) throw new Error(`captured ${drained.captured} of ${failed} failures`);
        return drained.events / spent;
      },
    }));
    const numbers = Object.values(lanes).map(([lane]) => lane);
    const rates = await interleave(size.rounds, contestants, async () => {
      await seekToEnd(pool, [account.definition.consumerGroup], numbers);
      for (const [lane, failEvery] of Object.values(lanes)) await fillOutbox(pool, { ...shape, lane, failEvery });
      await analyze(pool, [account.table]);
    });
    return [
      compare(4, "1 % of transactions refused and captured, to none", rates, ["1 %", "none"], 0.3),
      compare(4, "10 % of transactions refused and captured, to none", rates, ["10 %", "none"], 0.08),
    ];
  } finally {
    await pool.end();
  }
}
