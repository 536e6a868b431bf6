import pg from "pg";
import { migrationUrl, withTargetDatabase } from "@/server/cli/database-target";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { migrateDatabase } from "@/server/platform/db/migrate";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

await runCli(() =>
  withTargetDatabase(async (target) => {
    const databaseUrl = migrationUrl(target);
    const { hostname, pathname } = new URL(databaseUrl);
    if (!LOOPBACK.has(hostname)) {
      throw new CliRefusal(
        "db:reset deletes every row and only does so on this machine; DATABASE_URL names another one.",
      );
    }
    await dropEverything(databaseUrl);
    await migrateDatabase(databaseUrl);
    process.stdout.write(`Database ${pathname.slice(1)} is empty and at the newest migration.\n`);
  }),
);

/** One transaction: whoever else is connected sees all of the old tables or none. */
async function dropEverything(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "event-admin:db-reset" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL lock_timeout = '20s'");
    await client.query("DROP SCHEMA IF EXISTS drizzle CASCADE");
    await client.query("DROP SCHEMA public CASCADE");
    await client.query("CREATE SCHEMA public");
    await client.query("GRANT USAGE ON SCHEMA public TO PUBLIC");
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}
