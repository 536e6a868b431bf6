import { migrationUrl } from "@/server/cli/database-target";
import { required, runCli } from "@/server/cli/run-cli";
import { migrateDatabase } from "@/server/platform/db/migrate";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";

// Migrates and then checks, before any process serves: half a schema is refused by name (ER-DEP-02).
await runCli(async () => {
  const databaseUrl = required("DATABASE_URL");
  await migrateDatabase(migrationUrl(databaseUrl));
  const pool = createPool(databaseUrl, { max: 1, name: "prepare" });
  try {
    await assertSchema(pool);
  } finally {
    await pool.end();
  }
});
