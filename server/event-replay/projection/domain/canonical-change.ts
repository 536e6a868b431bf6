import type { ColumnType, ColumnValue, ProjectionTable, RowChange } from "./types";

/**
 * One spelling for each value that identifies a row. The database takes `ABCD…` and `{abcd…}` for one uuid and `007` for 7;
 * the planner compares texts. So uuids and integers are brought to the database's own output form before anything is planned,
 * in keys and in columns that may name a parent row. Throws on a text that is no such value in a plain spelling: the handler's
 * transaction is refused then, as the database would do or worse.
 */
export function canonicalChange(change: RowChange, tables: ReadonlyMap<string, ProjectionTable>): RowChange {
  const table = tables.get(change.table);
  if (!table) throw new Error("handler names an undeclared projection table");
  if (change.key.length !== table.key.length) throw new Error("handler gives a key of the wrong length");
  const key = canonicalKey(table, change.key);
  if ("delete" in change) return key === change.key ? change : { table: change.table, key, delete: true };
  const set = canonicalSet(table, change.set);
  return key === change.key && set === change.set ? change : { table: change.table, key, set };
}

// Both give back what they got when nothing had to change, which is nearly always: this runs for every event.
function canonicalKey(table: ProjectionTable, key: readonly ColumnValue[]): readonly ColumnValue[] {
  let copy: ColumnValue[] | undefined;
  for (let i = 0; i < key.length; i++) {
    const value = canonicalValue(typeOf(table, table.key[i] as string), key[i] ?? null);
    if (value === null) throw new Error("handler gives a key without a value");
    if (value === key[i]) continue;
    copy ??= [...key];
    copy[i] = value;
  }
  return copy ?? key;
}

function canonicalSet(
  table: ProjectionTable,
  set: Readonly<Record<string, ColumnValue>>,
): Readonly<Record<string, ColumnValue>> {
  let copy: Record<string, ColumnValue> | undefined;
  for (const column in set) {
    const before = set[column] ?? null;
    const value = canonicalValue(typeOf(table, column), before);
    if (value === before) continue;
    copy ??= { ...set };
    copy[column] = value;
  }
  return copy ?? set;
}

const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const INTEGER = /^[+-]?[0-9]{1,19}$/;

function canonicalValue(type: ColumnType, value: ColumnValue): ColumnValue {
  if (typeof value !== "string") return value;
  if (type === "uuid") {
    if (!UUID.test(value)) throw new Error("a uuid is not spelled plainly");
    return value.toLowerCase();
  }
  if (type === "integer" || type === "bigint") {
    if (!INTEGER.test(value)) throw new Error("an integer is not spelled plainly");
    return BigInt(value).toString();
  }
  return value;
}

function typeOf(table: ProjectionTable, column: string): ColumnType {
  const type = table.columns[column];
  if (!type) throw new Error("handler names an undeclared column");
  return type;
}
