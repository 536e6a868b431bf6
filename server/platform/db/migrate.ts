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
      const cause = safePgError(error);
      if (cause === null) throw error;
      throw new Error(`migration failed: SQLSTATE ${cause.sqlState} ${cause.constraint ?? cause.table ?? ""}`.trim());
    });
    await assertAllApplied(work, folder);
    await lock.query("COMMIT");
  } finally {
    await work.end().catch(() => undefined);
    await lock.end().catch(() => undefined);
  }
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
