import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { createPool } from "@/server/platform/db/pool";
import { portalProjection } from "@/server/portal/portal-projection";
import { atMost, type Figure, median, percentile, whole } from "./measure";
import { append, createRole, LOAD_LANES } from "./portal-load";
import { killHard, startProjector } from "./projector-process";
import type { Size } from "./size";

/**
 * Goal 6: from the commit of an append to the commit of the batch that projected it. Both are the database's own commit times
 * (track_commit_timestamp) of the outbox row and of the covering range, so no client's clock or event loop is in the figure. The
 * load is open-loop: appends start by the clock, whether or not earlier ones ended.
 */
export async function measureLag(databaseUrl: string, size: Size): Promise<Figure[]> {
  const projection = portalProjection();
  const pool = createPool(databaseUrl, { max: 12, name: "bench-appender" });
  const projector = await startProjector(databaseUrl);
  try {
    await load(pool, "warm", size.lagRate, size.lagWindowMs / 2);
    const p50: number[] = [];
    const p99: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < size.rounds; round++) {
      const name = `lag${round}`;
      rates.push(await load(pool, name, size.lagRate, size.lagWindowMs));
      const lags = await lagsOf(pool, projection.consumerGroup, name);
      p50.push(percentile(lags, 0.5));
      p99.push(percentile(lags, 0.99));
    }
    const at = `at ${whole(median(rates))} transactions/s of ${size.lagRate}`;
    return [
      atMost(6, "commit to projected, p50", at, p50, "ms", 2),
      atMost(6, "commit to projected, p99", at, p99, "ms", 10),
    ];
  } finally {
    await killHard(projector);
    await pool.end();
  }
}

/** Appends at a fixed rate. Returns the rate that came about. */
async function load(pool: pg.Pool, name: string, rate: number, ms: number): Promise<number> {
  const deps = { pool, projection: portalProjectionOnce() };
  const total = Math.round((rate * ms) / 1000);
  const started: Promise<void>[] = [];
  const start = performance.now();
  while (started.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - start) * rate) / 1000));
    while (started.length < due) {
      const n = started.length;
      started.push(append(deps, createRole(`${name}-${n}`, LOAD_LANES[n % LOAD_LANES.length] as number)));
    }
    await delay(1);
  }
  await Promise.all(started);
  return (total / (performance.now() - start)) * 1000;
}

let definition: ReturnType<typeof portalProjection> | undefined;
function portalProjectionOnce(): ReturnType<typeof portalProjection> {
  definition ??= portalProjection();
  return definition;
}

async function lagsOf(pool: pg.Pool, consumerGroup: string, name: string): Promise<number[]> {
  for (;;) {
    const { rows } = await pool.query<{ ms: number | null }>(LAGS, [consumerGroup, `${name}-%`]);
    if (rows.every(({ ms }) => ms !== null)) return rows.map(({ ms }) => ms as number);
    await delay(50);
  }
}

const LAGS = `SELECT extract(epoch FROM pg_xact_commit_timestamp(r.xmin) - pg_xact_commit_timestamp(o.xmin))::float8 * 1000 AS ms
  FROM outbox_message_t o LEFT JOIN LATERAL (
    SELECT xmin, last_offset FROM projection_range_t
     WHERE consumer_group = $1 AND partition_id = o.partition_id AND first_offset <= o.c_offset
     ORDER BY first_offset DESC LIMIT 1
  ) r ON r.last_offset >= o.c_offset
  WHERE o.aggregate_type = 'Role' AND o.aggregate_id LIKE $2`;
