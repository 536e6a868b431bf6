import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "./start-error.mjs";

export const DATABASE = "event_admin";

/**
 * The embedded server of a data folder, started again on the same port whenever it ends by itself: the processes that use it
 * reconnect on their own.
 * @param {{ dataDir: string, guard: import("./end-with-parent.d.mts").Guard, say: (text: string) => void }} options
 */
export async function superviseDatabase({ dataDir, guard, say }) {
  const { startEmbeddedPostgres } = await import("../embedded-postgres.mjs");
  const home = path.join(dataDir, "pg");
  let stopping = false;
  let server;
  try {
    server = await startEmbeddedPostgres({ home, guard });
  } catch (error) {
    throw new StartError(`The embedded database can't be started. ${error.message}`);
  }
  const { port } = server;
  const url = server.url(DATABASE);
  await ensureDatabase(server.url("postgres"));
  keepRunning();

  async function keepRunning() {
    while (!stopping) {
      await server.exited;
      if (stopping) return;
      say("PostgreSQL ended; starting it again.");
      while (!stopping) {
        try {
          server = await startEmbeddedPostgres({ home, port, guard });
          break;
        } catch {
          await delay(500); // the dead server's last processes may still hold its memory
        }
      }
    }
    if (stopping) await server.stop(); // started while we were told to stop
  }

  return {
    url,
    async stop() {
      stopping = true;
      await server.stop();
    },
  };
}

/** Creates the product's database where it is missing. */
export async function ensureDatabase(adminUrl) {
  await withClient(adminUrl, async (client) => {
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`);
  });
}

/** Whether no event was ever appended: then the demo brings its sample. */
export function isEventStoreEmpty(databaseUrl) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query("SELECT NOT EXISTS (SELECT 1 FROM event_store_t) AS empty");
    return rows[0].empty;
  });
}

/** Connects or says so; the driver's text may name credentials and stays out. */
export async function assertReachable(databaseUrl) {
  try {
    await withClient(databaseUrl, (client) => client.query("SELECT 1"));
  } catch (error) {
    throw new StartError(`The database of DATABASE_URL does not answer (${error.code ?? "no connection"}).`);
  }
}

async function withClient(url, work) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    connectionString: url,
    application_name: "event-admin:start",
    connectionTimeoutMillis: 10_000,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
