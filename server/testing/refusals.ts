import type pg from "pg";
import { safePgError } from "@/server/platform/db/pg-errors";

/** "ok", or the SQLSTATE and constraint (a guard's trigger name) with which the database refused. */
export type Verdict = string;

/**
 * Runs work in a savepoint of an open transaction, deferred constraints included, and undoes it either way: what the database
 * says of one step, asked as often as one likes from the same state.
 */
export async function verdict(client: pg.PoolClient, work: () => Promise<unknown>): Promise<Verdict> {
  await client.query("SAVEPOINT verdict");
  let said: Verdict = "ok";
  try {
    await work();
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
  } catch (error) {
    const refused = safePgError(error);
    if (refused === null) throw error;
    said = `${refused.sqlState} ${refused.constraint ?? ""}`.trim();
  }
  await client.query("ROLLBACK TO SAVEPOINT verdict; SET CONSTRAINTS ALL DEFERRED");
  return said;
}

/** An open transaction that is always rolled back: the next test starts from the same database. */
export async function undone<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    return await work(client);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}
