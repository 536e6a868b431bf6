import type { Pool } from "@/server/platform/db/pool";

/** What the event store knows of an aggregate: its last version (0 = none) and whether that removed it. */
export type AggregateStanding = { readonly version: number; readonly removed: boolean };

/** Reads the last event of one aggregate by its unique index. Takes no lock: the append checks the version again under one. */
export async function loadStanding(
  pool: Pool,
  hostId: string,
  aggregateType: string,
  aggregateId: string,
): Promise<AggregateStanding> {
  const { rows } = await pool.query<{ aggregate_version: number; event_type: string }>({
    name: "portal-aggregate-standing",
    text: `SELECT aggregate_version, event_type FROM event_store_t
           WHERE host_id = $1 AND aggregate_type = $2 AND aggregate_id = $3
           ORDER BY aggregate_version DESC LIMIT 1`,
    values: [hostId, aggregateType, aggregateId],
  });
  const last = rows[0];
  if (!last) return { version: 0, removed: false };
  return { version: last.aggregate_version, removed: last.event_type === `${aggregateType}DeletedEvent` };
}
