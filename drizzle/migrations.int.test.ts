import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { type Catalog, publicGrantsOnBytes, publicTables, readCatalog } from "@/server/platform/db/catalog";
import { MIGRATIONS_FOLDER, migrateDatabase } from "@/server/platform/db/migrate";
import { createPool } from "@/server/platform/db/pool";
import { findSchemaProblems } from "@/server/platform/db/schema-check";
import { newId } from "@/server/platform/ids";
import { insertFailure, insertRepair } from "@/server/testing/replay-rows";
import { withDatabase } from "@/server/testing/template";
import { insertOutboxRow, insertStoreRow } from "./testing/source-rows";

type Journal = { readonly entries: readonly { readonly tag: string }[] };

const journal: Journal = JSON.parse(fs.readFileSync(path.join(MIGRATIONS_FOLDER, "meta/_journal.json"), "utf8"));

/** An empty database of the test server for the length of `work`. */
async function onEmptyDatabase<T>(work: (url: string, pool: pg.Pool) => Promise<T>): Promise<T> {
  const server = inject("databaseServer");
  if (server === null) throw new Error("this test needs a database");
  const name = `event_admin_migrations_${newId().replaceAll("-", "").slice(-12)}`;
  const admin = new pg.Client({ connectionString: server.adminUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  const url = withDatabase(server.adminUrl, name);
  const pool = createPool(url, { max: 2, name: "test" });
  try {
    return await work(url, pool);
  } finally {
    await pool.end();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  }
}

/** A folder with the first `count` migrations only: an earlier version of the product. */
function earlierVersion(count: number): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-migrations-"));
  const entries = journal.entries.slice(0, count);
  fs.mkdirSync(path.join(folder, "meta"));
  fs.writeFileSync(path.join(folder, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
  for (const { tag } of entries)
    fs.copyFileSync(path.join(MIGRATIONS_FOLDER, `${tag}.sql`), path.join(folder, `${tag}.sql`));
  return folder;
}

const catalogOf = async (pool: pg.Pool): Promise<Catalog> => readCatalog(pool, await publicTables(pool));

/** Every row of every table as text, so that an upgrade that touches one shows. */
async function rowsOf(pool: pg.Pool, tables: readonly string[]): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows: found } = await pool.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t ORDER BY 1`);
    rows[table] = found.map((row) => row.text);
  }
  return rows;
}

async function addRows(pool: pg.Pool): Promise<void> {
  const host = newId();
  await insertStoreRow(pool, {});
  await insertOutboxRow(pool, { c_offset: "41" });
  for (const cause of ["a", "a", "b"]) await insertRepair(pool, host, await insertFailure(pool, host, { cause }));
}

test("ER-DEP-06 an upgrade from every earlier migration, rows included, gives the schema of a fresh install and keeps each row", async () => {
  const fresh = await onEmptyDatabase(async (url, pool) => {
    await migrateDatabase(url);
    return catalogOf(pool);
  });
  for (let count = 1; count < journal.entries.length; count++) {
    const folder = earlierVersion(count);
    await onEmptyDatabase(async (url, pool) => {
      await migrateDatabase(url, folder);
      await addRows(pool);
      const kept = [
        "event_store_t",
        "outbox_message_t",
        "event_failure_transaction_t",
        "event_failure_event_t",
        "event_failure_scope_t",
        "event_failure_delivery_t",
        "event_repair_t",
        "event_repair_event_t",
      ];
      const before = await rowsOf(pool, kept);
      await migrateDatabase(url);
      expect(await rowsOf(pool, kept), `rows kept from migration ${count}`).toEqual(before);
      expect(await catalogOf(pool), `schema from migration ${count}`).toEqual(fresh);
      const rollup = await pool.query("SELECT cause_key, n FROM event_failure_rollup_t ORDER BY 1");
      expect(rollup.rows, `totals from migration ${count}`).toEqual([
        { cause_key: "a", n: 2 },
        { cause_key: "b", n: 1 },
      ]);
    });
    fs.rmSync(folder, { recursive: true });
  }
}, 120_000);

test("ER-DEP-06 an offset is never handed out twice after an upgrade", async () => {
  const folder = earlierVersion(1);
  const next = await onEmptyDatabase(async (url, pool) => {
    await migrateDatabase(url, folder);
    await insertOutboxRow(pool, { c_offset: "41" });
    await migrateDatabase(url);
    return (await pool.query("SELECT partition_id, next_offset FROM event_offset_counter_t ORDER BY 1")).rows;
  });
  fs.rmSync(folder, { recursive: true });
  expect(next).toEqual(Array.from({ length: 16 }, (_, p) => ({ partition_id: p, next_offset: p === 15 ? 42 : 1 })));
});

test("ER-DEP-06 migrating again, also from several processes at once, changes nothing", async () => {
  await onEmptyDatabase(async (url, pool) => {
    await Promise.all([migrateDatabase(url), migrateDatabase(url), migrateDatabase(url)]);
    await addRows(pool);
    const tables = await publicTables(pool);
    const before = { rows: await rowsOf(pool, tables), catalog: await catalogOf(pool) };
    await migrateDatabase(url);
    expect({ rows: await rowsOf(pool, tables), catalog: await catalogOf(pool) }).toEqual(before);
  });
});

test("ER-DEP-05 every earlier schema is refused by name until it is upgraded, so the schema comes first", async () => {
  for (let count = 1; count < journal.entries.length; count++) {
    const folder = earlierVersion(count);
    await onEmptyDatabase(async (url, pool) => {
      await migrateDatabase(url, folder);
      expect(await findSchemaProblems(pool), `after migration ${count}`).not.toEqual([]);
      await migrateDatabase(url);
      expect(await findSchemaProblems(pool)).toEqual([]);
    });
    fs.rmSync(folder, { recursive: true });
  }
}, 120_000);

test("ER-DEP-05 before capture has written anything no scope is held: the guard's table is empty and nothing else feeds it", async () => {
  await onEmptyDatabase(async (url, pool) => {
    await migrateDatabase(url);
    await insertStoreRow(pool, {});
    await insertOutboxRow(pool, {});
    const held = await pool.query("SELECT count(*) AS n FROM event_failure_scope_t WHERE status = 'OPEN'");
    const feeders = await pool.query(
      "SELECT tgname FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid WHERE NOT tgisinternal AND p.prosrc ~* 'insert into event_failure_scope_t'",
    );
    expect({ held: held.rows, feeders: feeders.rows }).toEqual({ held: [{ n: 0 }], feeders: [] });
  });
});

test("ER-PAY-11 the upgrade takes back what an earlier schema let PUBLIC read", async () => {
  const folder = earlierVersion(1);
  await onEmptyDatabase(async (url, pool) => {
    await migrateDatabase(url, folder);
    await pool.query("GRANT ALL ON event_failure_event_t, event_repair_event_t, event_projection_deferred_t TO PUBLIC");
    await pool.query("GRANT SELECT (event_bytes) ON outbox_message_t TO PUBLIC");
    expect(await publicGrantsOnBytes(pool, await publicTables(pool))).not.toEqual([]);
    await migrateDatabase(url);
    expect(await publicGrantsOnBytes(pool, await publicTables(pool))).toEqual([]);
  });
  fs.rmSync(folder, { recursive: true });
});
