import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { publicTables, readCatalog } from "@/server/platform/db/catalog";
import { MIGRATIONS_FOLDER, migrateDatabase } from "@/server/platform/db/migrate";
import { createPool } from "@/server/platform/db/pool";

/**
 * Writes drizzle/migrations/manifest.json: the catalog of a freshly migrated database, which startup compares the live one
 * with. Run after every new migration; `--check` writes nothing and fails when the file is not current.
 */
await runCli(async () => {
  const file = path.join(MIGRATIONS_FOLDER, "manifest.json");
  const current = `${JSON.stringify(await freshCatalog(), null, 2)}\n`;
  if (process.argv.includes("--check")) {
    if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== current)
      throw new CliRefusal(
        "drizzle/migrations/manifest.json is not current: run node --import tsx server/cli/schema-manifest.ts",
      );
    return;
  }
  fs.writeFileSync(file, current);
});

async function freshCatalog() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-manifest-"));
  const server = await startEmbeddedPostgres({ home, throwaway: true });
  const pool = createPool(server.url("postgres"), { max: 1, name: "manifest" });
  try {
    await migrateDatabase(server.url("postgres"));
    return await readCatalog(pool, await publicTables(pool));
  } finally {
    await pool.end();
    await server.stop();
    fs.rmSync(home, { recursive: true, force: true });
  }
}
