import fs from "node:fs";
import path from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { safePgError } from "./pg-errors";

export const MIGRATIONS_FOLDER = path.resolve(import.meta.dirname, "../../../drizzle/migrations");

/** Key of the advisory lock that makes migrations one at a time. */
const MIGRATION_LOCK = 7001;

/**
 * Brings a database to the newest migration. Safe to call from any number of processes at once: a second connection holds a
 * transaction-level advisory lock meanwhile, which a pooler or a hard kill can't leave behind. All pending migrations commit
 * together or not at all. Throws with the SQLSTATE and constraint only (a driver's message may hold row values), and when a
 * migration was skipped because its time stamp is older than the last applied one (the migrator decides by that alone).
 */
export async function migrateDatabase(databaseUrl: string, folder: string = MIGRATIONS_FOLDER): Promise<void> {
  if (!fs.existsSync(path.join(folder, "meta/_journal.json"))) return;
  const lock = await connect(databaseUrl);
  const work = await connect(databaseUrl);
  try {
    await lock.query("BEGIN");
    await lock.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    await lock.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await work.query("SET client_min_messages = warning");
    await migrate(drizzle(work), { migrationsFolder: folder }).catch((error: unknown) => {
      throw reduced("migration failed", error);
    });
    await assertAllApplied(work, folder);
    await grantToRoles(work, path.join(folder, GRANTS_FILE)).catch((error: unknown) => {
      throw reduced("granting to the database roles failed", error);
    });
    await lock.query("COMMIT");
  } finally {
    await work.end().catch(() => undefined);
    await lock.end().catch(() => undefined);
  }
}

/** What each group role may do, one section a role. */
const GRANTS_FILE = "grants.sql";

/**
 * Gives the group roles that exist in this cluster exactly the rights that `grants.sql` names; all of them or, on an error, as
 * before. Runs after every migration, so that a role made by hand later, or shared with another database, gets its rights.
 */
async function grantToRoles(client: pg.Client, file: string): Promise<void> {
  if (!fs.existsSync(file)) return;
  await client.query("BEGIN");
  await client.query("SET LOCAL search_path = public");
  const { rows } = await client.query<{ name: string }>("SELECT rolname AS name FROM pg_catalog.pg_roles");
  const existing = new Set(rows.map((row) => row.name));
  for (const section of fs.readFileSync(file, "utf8").split("--> statement-breakpoint")) {
    const role = /^-- role: (\w+)$/m.exec(section)?.[1];
    if (role === undefined) throw new Error("a section of grants.sql names no role");
    if (existing.has(role)) await client.query(section);
  }
  await client.query("COMMIT");
}

/** A driver's message may hold row values: only SQLSTATE and names pass. */
function reduced(what: string, error: unknown): unknown {
  const cause = safePgError(error);
  if (cause === null) return error;
  return new Error(`${what}: SQLSTATE ${cause.sqlState} ${cause.constraint ?? cause.table ?? ""}`.trim());
}

async function assertAllApplied(client: pg.Client, folder: string): Promise<void> {
  const applied = await client.query<{ hash: string }>("SELECT hash FROM drizzle.__drizzle_migrations");
  const known = new Set(applied.rows.map((row) => row.hash));
  const missing = readMigrationFiles({ migrationsFolder: folder }).filter((migration) => !known.has(migration.hash));
  if (missing.length > 0) {
    throw new Error(
      `${missing.length} migration(s) were not applied: changed after they ran here, or generated before the last applied one. Regenerate them.`,
    );
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "event-admin:migrate" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
