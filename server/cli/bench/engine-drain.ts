import type pg from "pg";
import { countCaptured, countProjected } from "@/server/event-replay/live/live-metrics";
import { advanceLane, claimBatch, partitionLockKey } from "@/server/event-replay/live/outbox-lane";
import { BATCH_EVENTS_MAX, LaneMemory, projectBatch } from "@/server/event-replay/live/project-batch";
import type { ProjectionDefinition, SourceEvent } from "@/server/event-replay/projection/domain/types";
import { execute } from "@/server/event-replay/projection/execute";
import { beginStatement, openTx } from "@/server/platform/db/transaction";

export type Drained = { events: number; captured: number };

/** Ends a drain by time; a lane that is empty ends it before. */
export type Until = () => boolean;
export const untilEmpty: Until = () => false;
/** One batch. */
export function untilOnce(): Until {
  let asked = 0;
  return () => asked++ > 0;
}
export function untilElapsed(ms: number): Until {
  const end = performance.now() + ms;
  return () => performance.now() >= end;
}

/** The engine as the live processor drives it, counters included. `strict` = one transaction a commit. */
export async function drainByEngine(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  lane: number,
  until: Until,
  strict = false,
): Promise<Drained> {
  const memory = new LaneMemory();
  const total = { events: 0, captured: 0 };
  while (!until()) {
    if (strict) memory.limit = 1;
    const result = await projectBatch(pool, definition, lane, memory);
    if (result.kind === "IDLE") break;
    countProjected(result.transactions - result.captured, result.events);
    countCaptured(result.captured);
    total.events += result.events;
    total.captured += result.captured;
  }
  return total;
}

/** The same batch with nothing behind it: an error ends it, nothing could be captured. What being ready to capture costs. */
export async function drainUnarmed(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  lane: number,
  until: Until,
): Promise<Drained> {
  const total = { events: 0, captured: 0 };
  const lockKey = partitionLockKey(definition, lane);
  while (!until()) {
    const client = await pool.connect();
    try {
      await client.query(`${beginStatement("live")}; SELECT pg_try_advisory_xact_lock_shared(${lockKey}) AS ok`);
      const tx = openTx(client);
      tx.lock("PARTITION");
      const batch = await claimBatch(tx, definition, lane, BATCH_EVENTS_MAX);
      if (!batch) {
        await client.query("ROLLBACK");
        return total;
      }
      await execute(tx, definition, batch.transactions, "LIVE");
      const last = batch.transactions.at(-1)?.members.at(-1) as SourceEvent;
      await advanceLane(tx, definition, batch, last.source.offset + 1);
      await client.query("COMMIT");
      const events = batch.transactions.reduce((sum, { members }) => sum + members.length, 0);
      countProjected(batch.transactions.length, events);
      total.events += events;
    } finally {
      client.release();
    }
  }
  return total;
}
