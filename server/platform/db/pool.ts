import pg from "pg";
import { countPoolError } from "@/server/platform/metrics";

// int8 arrives as text by default; our versions and offsets are bounded to 2^53 - 1 at append, so plain numbers are exact.
// Set per pool, never process-wide: an adopter's own use of pg keeps its parsers.
const INT8 = 20;
const TIMESTAMPTZ = 1184;
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === INT8) return (text: string) => Number(text);
    if (oid === TIMESTAMPTZ) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as "text");
  },
} as pg.CustomTypesConfig;

/** The server drops a connection whose peer acknowledges nothing for this long, and frees its locks. Milliseconds. */
const TCP_USER_TIMEOUT_MS = 45_000;

export type PoolOptions = { readonly max?: number; readonly name?: string };

/**
 * A connection pool. Errors of idle connections are counted and swallowed: the next checkout makes a new one, so that a
 * database restart doesn't end the process. int8 is a number, timestamptz the database's own text.
 */
export function createPool(databaseUrl: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max ?? 10,
    application_name: `event-admin:${options.name ?? "idle"}`,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // A peer that stops reading blocks the server in a write, where no other timeout acts (design §3 Lease and crash).
    options: `-c tcp_user_timeout=${TCP_USER_TIMEOUT_MS}`,
    types,
  });
  pool.on("error", () => countPoolError());
  // The pool listens only while a client is idle. Without this, a connection lost in the middle of a transaction would end the process.
  pool.on("connect", (client) => client.on("error", () => countPoolError()));
  return pool;
}

export type { Pool } from "pg";
