import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { sha256Hex } from "@/server/platform/digest";
import type { ProjectionTable } from "./domain/types";
import type { TableDeletes, TableSets, Wave } from "./domain/waves";

/**
 * A guarded write changed fewer rows than it carried: a newer version already stands in the row. The scope bookkeeping and
 * the projection disagree, so nothing may be committed.
 */
export class VersionGuardError extends Error {
  constructor(readonly table: string) {
    super("a projection row holds a newer version");
    this.name = "VersionGuardError";
  }
}

/** Runs the waves in order on the caller's transaction. Returns the indexes of delete changes that found no row. */
export async function writeWaves(tx: Tx, waves: readonly Wave[]): Promise<ReadonlySet<number>> {
  const missed = new Set<number>();
  if (waves.length > 0) tx.lock("PROJECTION_ROW");
  for (const wave of waves) {
    for (const sets of wave.sets) await writeSets(tx, sets);
    for (const deletes of wave.deletes) for (const change of await writeDeletes(tx, deletes)) missed.add(change);
  }
  return missed;
}

async function writeSets(tx: Tx, { table, columns, rows }: TableSets): Promise<void> {
  const statement = upsertStatement(table, columns);
  const parameters = [
    ...table.key.map((_, i) => arrayLiteral(rows.map((row) => row.key[i] ?? null))),
    ...columns.map((column) => arrayLiteral(rows.map((row) => row.set[column] ?? null))),
  ];
  const written = await tx.execute(statement.text, parameters, statement.name);
  if (written !== rows.length && columns.length > 0) throw new VersionGuardError(table.name);
}

async function writeDeletes(tx: Tx, { table, rows }: TableDeletes): Promise<number[]> {
  const statement = deleteStatement(table);
  const parameters = [
    ...table.key.map((_, i) => arrayLiteral(rows.map((row) => row.key[i] ?? null))),
    arrayLiteral(rows.map((row) => row.change)),
  ];
  const deleted = new Set(
    (await tx.query<{ change: number }>(statement.text, parameters, statement.name)).map((r) => r.change),
  );
  return rows.map((row) => row.change).filter((change) => !deleted.has(change));
}

type Statement = { readonly text: string; readonly name?: string };

/**
 * Column lists of one table that get a prepared statement. An event may carry any subset of a table's columns, so a producer
 * could otherwise make every connection keep an unbounded number of plans; rarer lists run unnamed.
 */
const NAMED_PER_TABLE = 24;

const statements = new WeakMap<ProjectionTable, Map<string, Statement>>();

function cached(table: ProjectionTable, id: string, build: () => string): Statement {
  const byId = statements.get(table) ?? new Map<string, Statement>();
  statements.set(table, byId);
  const known = byId.get(id);
  if (known) return known;
  const text = build();
  if (byId.size >= NAMED_PER_TABLE) return { text };
  const statement = { text, name: `w_${sha256Hex(text).slice(0, 32)}` };
  byId.set(id, statement);
  return statement;
}

/** One statement for any number of rows. The version column, if any, makes an older event unable to overwrite a newer row. */
function upsertStatement(table: ProjectionTable, columns: readonly string[]): Statement {
  return cached(table, `set ${columns.join(",")}`, () => {
    const all = [...table.key, ...columns];
    const target = quoted(table.name);
    const source = all.map((column, i) => `$${i + 1}::${typeOf(table, column)}[]`).join(", ");
    const names = all.map(quoted).join(", ");
    const conflict = table.key.map(quoted).join(", ");
    if (columns.length === 0) {
      return `INSERT INTO ${target} (${names}) SELECT * FROM unnest(${source}) ON CONFLICT (${conflict}) DO NOTHING`;
    }
    const updates = columns.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`).join(", ");
    const version = table.versionColumn;
    const guard =
      version && columns.includes(version)
        ? ` WHERE t.${quoted(version)} IS NULL OR t.${quoted(version)} < EXCLUDED.${quoted(version)}`
        : "";
    return `INSERT INTO ${target} AS t (${names}) SELECT * FROM unnest(${source}) ON CONFLICT (${conflict}) DO UPDATE SET ${updates}${guard}`;
  });
}

function deleteStatement(table: ProjectionTable): Statement {
  return cached(table, "delete", () => {
    const source = table.key.map((column, i) => `$${i + 1}::${typeOf(table, column)}[]`).join(", ");
    const columns = table.key.map((_, i) => `k${i}`).join(", ");
    const match = table.key.map((column, i) => `t.${quoted(column)} = d.k${i}`).join(" AND ");
    return `DELETE FROM ${quoted(table.name)} AS t USING unnest(${source}, $${table.key.length + 1}::int[]) AS d(${columns}, change) WHERE ${match} RETURNING d.change`;
  });
}

function typeOf(table: ProjectionTable, column: string): string {
  const type = table.columns[column];
  if (!type) throw new Error(`projection table ${table.name} declares no column ${column}`);
  return type;
}

function quoted(identifier: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(identifier)) throw new Error("projection identifiers are plain lower-case names");
  return `"${identifier}"`;
}
