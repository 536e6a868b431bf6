import type {
  ColumnValue,
  EventHandler,
  ProjectedEvent,
  RowChange,
} from "@/server/event-replay/projection/domain/types";
import type { CatalogEvent } from "./catalog/events";
import { patchEntity, patchRow } from "./patches";
import { AGGREGATE_TABLES, type AggregateTable, ENTITY_TABLE, RECORD_TABLE } from "./tables";
import { entityId, jsonText, toColumn, withoutSecrets } from "./values";

const tables: ReadonlyMap<string, AggregateTable> = new Map(AGGREGATE_TABLES.map((t) => [t.aggregateType, t]));

/**
 * The handler of a catalog event. Handlers read the event alone (its time, never a clock's), so they give the same rows LIVE
 * and REPLAY and again. Only PATCH runs a statement of its own: it must not make a row.
 */
export function handlerOf({ effect, aggregate, implied }: CatalogEvent): EventHandler {
  if (aggregate === null) return rows((event) => [recordChange(event)]);
  const target = tables.get(aggregate.type);
  switch (effect) {
    case "PATCH":
      return {
        kind: "statements",
        handle: (tx, event) =>
          target
            ? patchRow(tx, target.table, keyOf(target, event), rowOf(target, event, { ...event.data, ...implied }))
            : patchEntity(tx, event, entityKey(aggregate.type, aggregate.identity, event), implied),
      };
    case "DELETE":
      return rows((event) => [
        target
          ? { table: target.table.name, key: keyOf(target, event), delete: true }
          : { table: ENTITY_TABLE.name, key: entityKey(aggregate.type, aggregate.identity, event), delete: true },
      ]);
    default: {
      const complete = effect === "CREATE";
      return rows((event) => [
        target
          ? saveRow(target, event, complete)
          : entityChange(entityKey(aggregate.type, aggregate.identity, event), event),
      ]);
    }
  }
}

/** Writes the row of an aggregate with a table of its own. `complete`: the event defines every column of the row. */
export function saveRow(target: AggregateTable, event: ProjectedEvent, complete: boolean): RowChange {
  const data = complete ? { ...target.defaults, ...event.data } : event.data;
  const set = rowOf(target, event, data);
  if (complete) for (const column of Object.values(target.columns)) set[column] ??= null;
  return { table: target.table.name, key: keyOf(target, event), set };
}

/** The table of an aggregate type that has one. Throws for any other: a wiring error, found when the registry is built. */
export function tableOf(aggregateType: string): AggregateTable {
  const table = tables.get(aggregateType);
  if (!table) throw new Error(`aggregate type ${aggregateType} has no table of its own`);
  return table;
}

function rows(project: (event: ProjectedEvent) => readonly RowChange[]): EventHandler {
  return { kind: "rows", project };
}

function keyOf(target: AggregateTable, event: ProjectedEvent): ColumnValue[] {
  const { key, columns } = target.table;
  return [
    event.hostId,
    ...target.keyMembers.map((member, i) => toColumn(event.data[member], columns[key[i + 1] as string] ?? "text")),
  ];
}

function rowOf(
  target: AggregateTable,
  event: ProjectedEvent,
  data: ProjectedEvent["data"],
): Record<string, ColumnValue> {
  const set: Record<string, ColumnValue> = {};
  for (const [member, column] of Object.entries(target.columns)) {
    const value = data[member];
    if (value !== undefined) set[column] = toColumn(value, target.table.columns[column] ?? "text");
  }
  set.aggregate_version = event.aggregateVersion;
  set.update_user = event.userId;
  set.update_ts = event.time;
  return set;
}

function entityKey(type: string, identity: readonly string[], event: ProjectedEvent): ColumnValue[] {
  return [event.hostId, type, entityId(identity, event.data)];
}

function entityChange(key: readonly ColumnValue[], event: ProjectedEvent): RowChange {
  const set = {
    data: jsonText(withoutSecrets(event.data)),
    aggregate_version: event.aggregateVersion,
    update_user: event.userId,
    update_ts: event.time,
  };
  return { table: ENTITY_TABLE.name, key, set };
}

function recordChange(event: ProjectedEvent): RowChange {
  const set = {
    event_type: event.eventType,
    data: jsonText(withoutSecrets(event.data)),
    record_user: event.userId,
    record_ts: event.time,
  };
  return { table: RECORD_TABLE.name, key: [event.hostId, event.eventId], set };
}
