import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import pg from "pg";
import { MIGRATIONS_FOLDER, migrateDatabase } from "@/server/platform/db/migrate";

const TEMPLATE_LOCK = 7002;

/**
 * Name of a migrated database of that server, made when missing. The name holds a digest of the migrations, so that trees
 * with different migrations can share one server. Made aside and renamed: a template is whole or absent.
 */
export async function ensureTemplate(adminUrl: string): Promise<string> {
  const template = `event_admin_template_${migrationsDigest()}`;
  const admin = await connect(adminUrl);
  const lock = await connect(adminUrl);
  try {
    await lock.query("BEGIN");
    await lock.query("SELECT pg_advisory_xact_lock($1)", [TEMPLATE_LOCK]);
    const found = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [template]);
    if (found.rowCount === 0) {
      const aside = `${template}_new`;
      await admin.query(`DROP DATABASE IF EXISTS ${aside} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${aside} TEMPLATE template0 ENCODING 'UTF8'`);
      await migrateDatabase(withDatabase(adminUrl, aside));
      await admin.query(`ALTER DATABASE ${aside} RENAME TO ${template}`);
    }
    return template;
  } finally {
    await lock.end();
    await admin.end();
  }
}

/** The same server and credentials, another database. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.toString();
}

function migrationsDigest(): string {
  const hash = createHash("sha256");
  const files = fs.existsSync(MIGRATIONS_FOLDER)
    ? fs
        .readdirSync(MIGRATIONS_FOLDER)
        .filter((name) => name.endsWith(".sql"))
        .sort()
    : [];
  for (const file of files) hash.update(file).update(fs.readFileSync(path.join(MIGRATIONS_FOLDER, file)));
  const journal = path.join(MIGRATIONS_FOLDER, "meta/_journal.json");
  if (fs.existsSync(journal)) hash.update(fs.readFileSync(journal));
  return hash.digest("hex").slice(0, 16);
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "event-admin:test-admin" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
