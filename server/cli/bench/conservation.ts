import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { checkConservation } from "@/server/event-replay/append/checker";
import { createPool } from "@/server/platform/db/pool";
import { portalProjection } from "@/server/portal/portal-projection";
import { TOPIC } from "./account-projection";
import { atMost, type Figure, whole } from "./measure";
import { append, assignMissingRole, createRole, LOAD_LANES, updateRole } from "./portal-load";
import { killHard, startProjector } from "./projector-process";
import type { Size } from "./size";

const APPENDERS = 8;
/** Every n-th role also gets an assignment that the projection refuses. */
const REFUSED_EVERY = 25;

/**
 * Goal 5: eight appenders at once while projectors are killed hard. Two run at any time and the older one is killed, so that
 * work is always under way. Then the log is compared with the projection and the archive.
 */
export async function measureConservation(databaseUrl: string, size: Size): Promise<Figure[]> {
  const projection = portalProjection();
  const pool = createPool(databaseUrl, { max: APPENDERS + 2, name: "bench-appender" });
  const projectors: ChildProcess[] = [await startProjector(databaseUrl)];
  try {
    let running = true;
    let appended = 0;
    const appenders = Array.from({ length: APPENDERS }, async (_, worker) => {
      for (let n = 0; running; n++) {
        const lane = LOAD_LANES[(worker + n) % LOAD_LANES.length] as number;
        const id = `w${worker}-r${n}`;
        await append({ pool, projection }, createRole(id, lane));
        await append({ pool, projection }, updateRole(id, lane, n));
        appended += 2;
        if (n % REFUSED_EVERY !== 0) continue;
        await append({ pool, projection }, assignMissingRole(`${id}-nobody`, lane));
        appended += 1;
      }
    });
    const kills = (async () => {
      for (let kill = 0; kill < size.kills; kill++) {
        projectors.push(await startProjector(databaseUrl));
        await delay(Math.random() * 30);
        await killHard(projectors.shift() as ChildProcess);
      }
      running = false;
    })();
    await Promise.all([kills, ...appenders]);
    while (await isBehind(pool, projection.consumerGroup)) await delay(50);
    const violations = await checkConservation(pool, projection);
    const { rows } = await pool.query(DIFFERENCE, [projection.consumerGroup]);
    const { projected, captured, wrong } = rows[0];
    const figure = `${whole(appended)} appended = ${whole(projected)} projected + ${whole(captured)} captured, ${size.kills} kills`;
    const off = Math.abs(appended - projected - captured);
    return [atMost(5, "transactions lost or doubled", figure, [violations.length + wrong + off], "count", 0)];
  } finally {
    for (const child of projectors) await killHard(child);
    await pool.end();
  }
}

async function isBehind(pool: pg.Pool, consumerGroup: string): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT EXISTS (SELECT FROM event_offset_counter_t c LEFT JOIN consumer_offsets p
        ON p.partition_id = c.partition_id AND p.group_id = $1 AND p.topic_id = $2
      WHERE c.next_offset > coalesce(p.next_offset, 1)) AS behind`,
    [consumerGroup, TOPIC],
  );
  return rows[0].behind;
}

/** Beyond the checker: each role stands at exactly the last version of the log, and there is no role that the log doesn't know. */
const DIFFERENCE = `
WITH log AS (
  SELECT host_id, aggregate_id, max(aggregate_version) AS version, count(*) AS n FROM outbox_message_t
   WHERE aggregate_type = 'Role' GROUP BY 1, 2
), compared AS (
  SELECT log.n, log.version, r.aggregate_version FROM log
    FULL JOIN role_t r ON r.data_host_id = log.host_id AND r.role_id = log.aggregate_id
)
SELECT (SELECT coalesce(sum(n), 0)::int FROM compared WHERE version = aggregate_version) AS projected,
       (SELECT count(*)::int FROM compared WHERE version IS DISTINCT FROM aggregate_version) AS wrong,
       (SELECT count(*)::int FROM event_failure_transaction_t WHERE consumer_group = $1) AS captured`;
