import fs from "node:fs";
import path from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";
import { endWithParent } from "@/server/cli/supervisor/end-with-parent.mjs";
import { migrateDatabase } from "@/server/platform/db/migrate";

export type BenchServer = {
  readonly version: string;
  readonly settings: Readonly<Record<string, string>>;
  /** A new migrated database; returns its address. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
};

/** Commit times are kept for the lag; the rest keeps checkpoints out of short rounds. Nothing here touches durability. */
const SETTINGS = {
  track_commit_timestamp: "on",
  shared_buffers: "512MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "30min",
};
const REPORTED = ["fsync", "synchronous_commit", "full_page_writes", "wal_level", ...Object.keys(SETTINGS)];

/** A database server of the benchmark's own, durable, gone with this process. Throws when it would not be durable. */
export async function startBenchServer(folder: string): Promise<BenchServer> {
  const home = path.join(folder, `pg-${process.pid}`);
  const guard = endWithParent();
  let server = await startEmbeddedPostgres({ home, guard });
  for (const [name, value] of Object.entries(SETTINGS)) await query(server, `ALTER SYSTEM SET ${name} = '${value}'`);
  await server.stop();
  server = await startEmbeddedPostgres({ home, guard });
  const settings: Record<string, string> = {};
  for (const name of REPORTED) settings[name] = String((await query(server, `SHOW ${name}`))[0]?.[name]);
  if (settings.fsync !== "on" || settings.synchronous_commit !== "on") throw new Error("the server is not durable");
  return {
    version: String((await query(server, "SHOW server_version"))[0]?.server_version),
    settings,
    async createDatabase(name) {
      await query(server, `CREATE DATABASE ${name}`);
      await migrateDatabase(server.url(name));
      return server.url(name);
    },
    async stop() {
      await server.stop();
      fs.rmSync(server.home, { recursive: true, force: true });
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

async function query(server: EmbeddedPostgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url("postgres") });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
