import type { ColumnValue, ProjectionTable, RowChange } from "./types";

/** Changes of one wave to one table, one statement each: first all sets by column list, then all deletes. */
export type TableSets = {
  readonly table: ProjectionTable;
  readonly columns: readonly string[];
  readonly rows: { readonly key: readonly ColumnValue[]; readonly set: Readonly<Record<string, ColumnValue>> }[];
};
export type TableDeletes = {
  readonly table: ProjectionTable;
  /** `change` is the index of the change in the planned list. */
  readonly rows: { readonly key: readonly ColumnValue[]; readonly change: number }[];
};
export type Wave = { readonly sets: readonly TableSets[]; readonly deletes: readonly TableDeletes[] };

/**
 * Packs an ordered list of row changes into as few multi-row statements as give exactly the outcome of running them one by
 * one: the same rows, and an error whenever one by one would err (it may err where one by one would not; the caller then
 * isolates). What would hide an error is kept apart by a later wave:
 *  - a second change of one row (the first value must meet the constraints too);
 *  - a parent row written after a child that already names it;
 *  - anything below a table that has a delete pending;
 *  - tables with further unique constraints are never reordered.
 * Inside a wave: sets, parents first; then deletes, children first. Rows of a table sort by key, so that two lanes that meet
 * in a shared table lock in the same order.
 */
export function planWaves(changes: readonly RowChange[], tables: ReadonlyMap<string, ProjectionTable>): Wave[] {
  const planner = new WavePlanner(tables);
  for (const [i, change] of changes.entries()) planner.add(change, i);
  return planner.waves();
}

type SetChange = Extract<RowChange, { set: unknown }>;
type Draft = { sets: Map<string, TableSets>; deletes: Map<string, TableDeletes> };

class WavePlanner {
  private readonly drafts: Draft[] = [];
  /** Next wave that may touch this row. */
  private readonly rowFree = new Map<string, number>();
  /** First wave in which this parent row may be written, because an earlier child names it. */
  private readonly namedByChild = new Map<string, number>();
  /** Earliest wave any further change of the table may take. */
  private readonly tableFloor = new Map<string, number>();
  /** Last wave in which the table is touched. */
  private readonly tableLast = new Map<string, number>();
  private readonly uniqueLast = new Map<string, { wave: number; signature: string }>();
  private readonly ranks: ReadonlyMap<string, number>;
  private readonly descendants: ReadonlyMap<string, readonly string[]>;

  constructor(private readonly tables: ReadonlyMap<string, ProjectionTable>) {
    this.ranks = rankTables(tables);
    this.descendants = descendantsOf(tables);
  }

  add(change: RowChange, index: number): void {
    const table = this.tables.get(change.table);
    if (!table) throw new Error(`handler names an undeclared projection table ${change.table}`);
    const row = rowId(table.name, change.key);
    const earliest = Math.max(
      this.tableFloor.get(table.name) ?? 0,
      this.rowFree.get(row) ?? 0,
      this.namedByChild.get(row) ?? 0,
    );
    const wave =
      "delete" in change ? this.addDelete(table, change.key, index, earliest) : this.addSet(table, change, earliest);
    this.rowFree.set(row, wave + 1);
    if ((this.tableLast.get(table.name) ?? 0) < wave) this.tableLast.set(table.name, wave);
  }

  private addSet(table: ProjectionTable, change: SetChange, earliest: number): number {
    const named = table.parents.flatMap((parent) => namedParent(table, parent, change) ?? []);
    // A parent written earlier in this list must be there first; the same wave does, since sets run parents first.
    let wave = named.reduce((w, parentRow) => Math.max(w, (this.rowFree.get(parentRow) ?? 0) - 1), earliest);
    const columns = Object.keys(change.set).sort();
    if (table.otherUnique) {
      const signature = columns.join("\u0000");
      const last = this.uniqueLast.get(table.name);
      if (last && last.wave >= wave) wave = last.signature === signature ? last.wave : last.wave + 1;
      this.uniqueLast.set(table.name, { wave, signature });
      this.raiseFloor(table.name, wave);
    }
    const id = `${table.name}\u0000${columns.join("\u0000")}`;
    const draft = this.draft(wave);
    const group = draft.sets.get(id);
    const row = { key: change.key, set: change.set };
    if (group) group.rows.push(row);
    else draft.sets.set(id, { table, columns, rows: [row] });
    // A parent row written later than a child that names it must not be moved before that child.
    for (const parentRow of named) {
      this.namedByChild.set(parentRow, Math.max(this.namedByChild.get(parentRow) ?? 0, wave + 1));
    }
    return wave;
  }

  private addDelete(table: ProjectionTable, key: readonly ColumnValue[], change: number, earliest: number): number {
    const below = this.descendants.get(table.name) ?? [];
    const wave = below.reduce((w, child) => Math.max(w, this.tableLast.get(child) ?? 0), earliest);
    const draft = this.draft(wave);
    const group = draft.deletes.get(table.name);
    if (group) group.rows.push({ key, change });
    else draft.deletes.set(table.name, { table, rows: [{ key, change }] });
    if (table.otherUnique) this.raiseFloor(table.name, wave + 1);
    for (const child of below) this.raiseFloor(child, wave + 1);
    return wave;
  }

  waves(): Wave[] {
    const rank = (name: string) => this.ranks.get(name) ?? 0;
    return this.drafts.map((draft) => ({
      sets: [...draft.sets.values()].sort((a, b) => rank(a.table.name) - rank(b.table.name)).map(sortRows),
      deletes: [...draft.deletes.values()].sort((a, b) => rank(b.table.name) - rank(a.table.name)),
    }));
  }

  private raiseFloor(table: string, wave: number): void {
    if ((this.tableFloor.get(table) ?? 0) < wave) this.tableFloor.set(table, wave);
  }

  private draft(wave: number): Draft {
    while (this.drafts.length <= wave) this.drafts.push({ sets: new Map(), deletes: new Map() });
    return this.drafts[wave] as Draft;
  }
}

/** The parent row that a set names through one foreign key, or nothing when a column of it is null or not set. */
function namedParent(
  table: ProjectionTable,
  parent: ProjectionTable["parents"][number],
  change: SetChange,
): string | undefined {
  const named: ColumnValue[] = [];
  for (const column of parent.columns) {
    const keyIndex = table.key.indexOf(column);
    const value = keyIndex >= 0 ? change.key[keyIndex] : change.set[column];
    if (value === undefined || value === null) return undefined;
    named.push(value);
  }
  return rowId(parent.table, named);
}

function sortRows(group: TableSets): TableSets {
  if (group.table.otherUnique || group.rows.length < 2) return group;
  return {
    ...group,
    rows: group.rows
      .map((row) => ({ row, id: keyId(row.key) }))
      .sort(byId)
      .map(({ row }) => row),
  };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function rowId(table: string, key: readonly ColumnValue[]): string {
  return `${table}\u0000${keyId(key)}`;
}

function keyId(key: readonly ColumnValue[]): string {
  return key.length === 1 ? String(key[0]) : key.map(String).join("\u0000");
}

/** Parents before children; a cycle is a declaration error. */
function rankTables(tables: ReadonlyMap<string, ProjectionTable>): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const visit = (name: string, path: readonly string[]): number => {
    const known = ranks.get(name);
    if (known !== undefined) return known;
    if (path.includes(name)) throw new Error(`projection tables form a cycle at ${name}`);
    const parents = (tables.get(name)?.parents ?? []).filter((parent) => parent.table !== name);
    const rank = parents.reduce((max, parent) => Math.max(max, visit(parent.table, [...path, name]) + 1), 0);
    ranks.set(name, rank);
    return rank;
  };
  for (const name of tables.keys()) visit(name, []);
  return ranks;
}

function descendantsOf(tables: ReadonlyMap<string, ProjectionTable>): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const table of tables.values()) {
    for (const parent of table.parents) children.set(parent.table, [...(children.get(parent.table) ?? []), table.name]);
  }
  const all = new Map<string, readonly string[]>();
  for (const name of tables.keys()) {
    const seen = new Set<string>();
    const stack = [...(children.get(name) ?? [])];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      stack.push(...(children.get(next) ?? []));
    }
    all.set(name, [...seen]);
  }
  return all;
}
