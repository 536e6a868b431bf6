import { withTargetDatabase } from "@/server/cli/database-target";
import { runCli } from "@/server/cli/run-cli";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";

await runCli(() =>
  withTargetDatabase(async (databaseUrl) => {
    const pool = createPool(databaseUrl, { max: 1, name: "db-check" });
    try {
      await assertSchema(pool);
      process.stdout.write("The schema is complete.\n");
    } finally {
      await pool.end();
    }
  }),
);
