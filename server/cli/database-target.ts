import path from "node:path";
import { startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";
import { DATABASE, ensureDatabase } from "@/server/cli/supervisor/database.mjs";
import { readInstance } from "@/server/cli/supervisor/instance-file.mjs";

/** Who migrates may own the schema and make roles; the processes need neither, and don't get this address. */
export const migrationUrl = (databaseUrl: string): string => process.env.MIGRATION_DATABASE_URL || databaseUrl;

/**
 * Runs database work of a script on the right database: DATABASE_URL, else the running instance's, else the embedded one of
 * EVENT_ADMIN_DATA, started for the length of the work.
 */
export async function withTargetDatabase(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL);
  const dataDir = path.resolve(process.env.EVENT_ADMIN_DATA || ".data");
  const instance = readInstance(dataDir);
  if (instance) return work(instance.databaseUrl);
  const server = await startEmbeddedPostgres({ home: path.join(dataDir, "pg") });
  try {
    await ensureDatabase(server.url("postgres"));
    await work(server.url(DATABASE));
  } finally {
    await server.stop();
  }
}
