import type { Pool } from "@/server/platform/db/pool";
import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";

export type DefectState = { readonly broken: boolean; readonly sinceTs: string | null };

/** Whether the demo's defect is on. No row means it never was. */
export async function readDefect(tx: Tx): Promise<DefectState> {
  const [row] = await tx.query<{ enabled: boolean; since_ts: string | null }>(
    "SELECT enabled, since_ts FROM demo_defect_t WHERE id = 1",
    [],
    "demo-read-defect",
  );
  return { broken: row?.enabled ?? false, sinceTs: row?.since_ts ? toIso(row.since_ts) : null };
}

/** Turns the defect on or off; a second time keeps the first time's `since_ts`. */
export async function writeDefect(tx: Tx, enabled: boolean): Promise<DefectState> {
  await tx.execute(
    `INSERT INTO demo_defect_t (id, enabled, since_ts) VALUES (1, $1, CASE WHEN $1 THEN now() END)
     ON CONFLICT (id) DO UPDATE SET enabled = EXCLUDED.enabled, since_ts = EXCLUDED.since_ts
     WHERE demo_defect_t.enabled <> EXCLUDED.enabled`,
    [enabled],
  );
  return readDefect(tx);
}

/** Whether the host has any event at all. */
export async function hasEvents(pool: Pool, hostId: string): Promise<boolean> {
  const { rowCount } = await pool.query("SELECT 1 FROM event_store_t WHERE host_id = $1 LIMIT 1", [hostId]);
  return rowCount === 1;
}

/** An aggregate as its last event left it. */
export type Known = { readonly aggregateId: string; readonly data: Readonly<Record<string, unknown>> };

/**
 * Up to `limit` aggregates of a type that were not removed, the longest unchanged first: `blocked` chooses those whose scope
 * an open failure of the projection holds, or those that are free.
 */
export async function listAggregates(
  pool: Pool,
  where: { hostId: string; projectionName: string; consumerGroup: string; aggregateType: string; blocked: boolean },
  limit: number,
): Promise<Known[]> {
  const { rows } = await pool.query<{ aggregate_id: string; data: Known["data"] }>({
    name: "demo-list-aggregates",
    text: `SELECT last.aggregate_id, last.payload AS data
           FROM (
             SELECT DISTINCT ON (aggregate_id) aggregate_id, event_type, event_ts, payload
             FROM event_store_t
             WHERE host_id = $1 AND aggregate_type = $2
             ORDER BY aggregate_id, aggregate_version DESC
           ) AS last
           WHERE last.event_type <> $2 || 'DeletedEvent'
             AND $5 = EXISTS (
               SELECT 1 FROM event_failure_scope_t s
               WHERE s.host_id = $1 AND s.projection_name = $3 AND s.consumer_group = $4 AND s.status = 'OPEN'
                 AND s.scope_type = 'AGGREGATE' AND s.scope_key = $2 || ':' || last.aggregate_id
             )
           ORDER BY last.event_ts, last.aggregate_id
           LIMIT $6`,
    values: [where.hostId, where.aggregateType, where.projectionName, where.consumerGroup, where.blocked, limit],
  });
  return rows.map((row) => ({ aggregateId: row.aggregate_id, data: row.data }));
}
