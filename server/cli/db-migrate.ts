import { migrationUrl, withTargetDatabase } from "@/server/cli/database-target";
import { runCli } from "@/server/cli/run-cli";
import { migrateDatabase } from "@/server/platform/db/migrate";

await runCli(() =>
  withTargetDatabase(async (databaseUrl) => {
    await migrateDatabase(migrationUrl(databaseUrl));
    process.stdout.write("The schema is at the newest migration.\n");
  }),
);
