import type pg from "pg";
import manifest from "@/drizzle/migrations/manifest.json";
import { type Catalog, publicGrantsOnBytes, readCatalog, type TableShape } from "./catalog";

/**
 * Columns that a taken-over upstream database keeps and nothing of ours reads: encrypted payloads, object storage, counters
 * that are always zero. Exactly these are ignored; any other surplus column is a problem.
 */
export const LEGACY_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  event_failure_transaction_t: ["encrypted_payload_bytes"],
  event_failure_event_t: [
    "encrypted_payload_bytes",
    "payload_ciphertext",
    "payload_iv",
    "payload_key_id",
    "payload_object_uri",
    "payload_object_version",
    "payload_wrapped_key",
  ],
  event_repair_event_t: [
    "corrected_payload_ciphertext",
    "corrected_payload_iv",
    "corrected_payload_key_id",
    "corrected_payload_object_uri",
    "corrected_payload_object_version",
    "corrected_payload_wrapped_key",
  ],
  event_replay_request_t: ["encrypted_payload_bytes"],
  event_projection_deferred_t: [
    "encrypted_payload_bytes",
    "payload_ciphertext",
    "payload_iv",
    "payload_key_id",
    "payload_object_uri",
    "payload_object_version",
    "payload_wrapped_key",
  ],
};

/** The schema is not what this version needs. `problems` names each missing or different part; no row value can be in it. */
export class SchemaError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The database schema is not the one this version needs; run "npm run db:migrate".\n${problems.map((p) => `  - ${p}`).join("\n")}`,
    );
    this.name = "SchemaError";
  }
}

/**
 * Compares the live catalog with the manifest of the newest migration: tables, columns (type, nullability, default),
 * constraints, indexes, triggers, trigger functions, and what the group roles may do where the cluster has them. Returns one sentence per difference, tables in order; empty = complete.
 * Tables we don't know are an adopter's own and not judged; a surplus index is judged only when it is unique. Event bytes that
 * PUBLIC may read or write are a problem too. (ER-DEP-02, ER-PAY-11)
 */
export async function findSchemaProblems(pool: pg.Pool): Promise<string[]> {
  const expected: Catalog = manifest;
  const tables = Object.keys(expected.tables);
  const problems = compareCatalogs(expected, await readCatalog(pool, tables));
  return [...problems, ...(await publicGrantsOnBytes(pool, tables))];
}

/** Startup's gate: throws SchemaError with every problem, so that no process serves on half a schema. */
export async function assertSchema(pool: pg.Pool): Promise<void> {
  const problems = await findSchemaProblems(pool);
  if (problems.length > 0) throw new SchemaError(problems);
}

/** Pure comparison; the direction matters: `live` may hold the listed legacy columns and nothing else of its own. */
export function compareCatalogs(expected: Catalog, live: Catalog): string[] {
  const problems: string[] = [];
  for (const [table, shape] of Object.entries(expected.tables)) {
    const found = live.tables[table];
    if (found === undefined) problems.push(`missing table ${table}`);
    else problems.push(...compareTable(table, shape, found));
  }
  for (const [name, digest] of Object.entries(expected.functions)) {
    if (live.functions[name] === undefined) problems.push(`missing function ${name}`);
    else if (live.functions[name] !== digest) problems.push(`function ${name} differs`);
  }
  for (const [role, given] of Object.entries(live.grants)) {
    // Roles belong to the cluster: one that another database made, and that has no right in this one, is not in use here.
    if (Object.keys(given).length === 0) continue;
    const intended = expected.grants[role] ?? {};
    for (const table of new Set([...Object.keys(intended), ...Object.keys(given)])) {
      // Rights on columns go with them: where the columns differ, that is what there is to say.
      if (columnsOf(expected, table) !== columnsOf(live, table)) continue;
      if (intended[table] !== given[table]) problems.push(`what role ${role} may do with ${table} differs`);
    }
  }
  return problems;
}

const columnsOf = (catalog: Catalog, table: string) =>
  JSON.stringify(Object.keys(catalog.tables[table]?.columns ?? {}));

function compareTable(table: string, expected: TableShape, live: TableShape): string[] {
  const problems: string[] = [];
  for (const [name, definition] of Object.entries(expected.columns)) {
    const found = live.columns[name];
    if (found === undefined) problems.push(`missing column ${table}.${name}`);
    else if (found !== definition) problems.push(`column ${table}.${name} is "${found}", needed "${definition}"`);
  }
  for (const kind of ["constraints", "indexes", "triggers"] as const) {
    const word = { constraints: "constraint", indexes: "index", triggers: "trigger" }[kind];
    for (const [name, definition] of Object.entries(expected[kind])) {
      const found = live[kind][name];
      if (found === undefined) problems.push(`missing ${word} ${name} on ${table}`);
      else if (found !== definition) problems.push(`${word} ${name} on ${table} differs`);
    }
  }
  const legacy = LEGACY_COLUMNS[table] ?? [];
  for (const name of surplus(live.columns, expected.columns)) {
    if (!legacy.includes(name)) problems.push(`unexpected column ${table}.${name}`);
  }
  for (const name of surplus(live.triggers, expected.triggers)) problems.push(`unexpected trigger ${name} on ${table}`);
  for (const name of surplus(live.indexes, expected.indexes)) {
    if (live.indexes[name]?.startsWith("CREATE UNIQUE")) problems.push(`unexpected unique index ${name} on ${table}`);
  }
  return problems;
}

const surplus = (live: Readonly<Record<string, string>>, expected: Readonly<Record<string, string>>) =>
  Object.keys(live).filter((name) => expected[name] === undefined);
