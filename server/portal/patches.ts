import type { ColumnValue, ProjectedEvent, ProjectionTable } from "@/server/event-replay/projection/domain/types";
import type { Tx } from "@/server/platform/db/transaction";
import { jsonText, withoutSecrets } from "./values";

/**
 * Changes the named columns of one existing row. Returns 0 when there is no such row or it already holds this version or a
 * newer one (ER-EXE-09): then nothing is written. Column names come from the table's declaration, values are parameters.
 */
export async function patchRow(
  tx: Tx,
  table: ProjectionTable,
  key: readonly ColumnValue[],
  set: Readonly<Record<string, ColumnValue>>,
): Promise<number> {
  const columns = Object.keys(set).sort();
  const assignments = columns.map((column, i) => `${column} = $${i + 1}::${table.columns[column]}`);
  const matches = table.key.map((column, i) => `${column} = $${columns.length + i + 1}::${table.columns[column]}`);
  const version = columns.indexOf("aggregate_version") + 1;
  return tx.execute(
    `UPDATE ${table.name} SET ${assignments.join(", ")}
     WHERE ${matches.join(" AND ")} AND aggregate_version < $${version}::bigint`,
    [...columns.map((column) => set[column]), ...key],
  );
}

/** The same for a document: the event's members and the implied ones replace those of the stored document. */
export async function patchEntity(
  tx: Tx,
  event: ProjectedEvent,
  key: readonly ColumnValue[],
  implied: Readonly<Record<string, string | boolean>>,
): Promise<number> {
  return tx.execute(
    `UPDATE portal_entity_t
     SET data = data || $4::jsonb, aggregate_version = $5, update_user = $6, update_ts = $7
     WHERE host_id = $1 AND aggregate_type = $2 AND entity_id = $3 AND aggregate_version < $5`,
    [...key, jsonText(withoutSecrets({ ...event.data, ...implied })), event.aggregateVersion, event.userId, event.time],
    "portal-patch-entity",
  );
}
