import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { MIGRATIONS_FOLDER, migrateDatabase } from "@/server/platform/db/migrate";
import { newId } from "@/server/platform/ids";
import { withDatabase } from "@/server/testing/template";

/** Roles belong to the cluster, which all test files share: here they have a prefix that nobody else uses. */
const prefix = `event_admin_t_${newId().slice(-10)}`;
const ROLES = ["web", "projector", "read"].map((name) => `${prefix}_${name}`);
const databases = Array.from({ length: 3 }, (_, i) => `${prefix}_${i}`);
const migrator = `${prefix}_migrator`;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-roles-"));
let admin: pg.Client;
let adminUrl = "";

beforeAll(async () => {
  const server = inject("databaseServer");
  if (server === null) throw new Error("this test needs a database");
  adminUrl = server.adminUrl;
  admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`CREATE ROLE ${migrator} LOGIN PASSWORD 'migrates-only'`);
  for (const name of databases) await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 OWNER ${migrator}`);
  fs.cpSync(MIGRATIONS_FOLDER, folder, { recursive: true });
  for (const file of ["0008_roles.sql", "grants.sql"]) {
    const text = fs.readFileSync(path.join(folder, file), "utf8");
    fs.writeFileSync(path.join(folder, file), text.replaceAll(/event_admin_(?=web|projector|read)/g, `${prefix}_`));
  }
});

afterAll(async () => {
  for (const name of databases) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  for (const role of [...ROLES, migrator]) await admin.query(`DROP ROLE IF EXISTS ${role}`);
  await admin.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The database by the user that owns it and may not make roles. */
function asMigrator(database: string): string {
  const url = new URL(withDatabase(adminUrl, database));
  url.username = migrator;
  url.password = "migrates-only";
  return url.toString();
}

const existing = async () =>
  (await admin.query("SELECT rolname FROM pg_roles WHERE rolname = ANY ($1) ORDER BY 1", [ROLES])).rows.length;

/** What the reading role may do with the store, in that database. */
async function mayRead(database: string): Promise<{ ids: boolean; payload: boolean }> {
  const client = new pg.Client({ connectionString: withDatabase(adminUrl, database) });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT has_column_privilege($1, 'event_store_t', 'id', 'SELECT') AS ids,
              has_column_privilege($1, 'event_store_t', 'payload', 'SELECT') AS payload`,
      [`${prefix}_read`],
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

test("ER-DEP-06 a migrating user who may not create roles migrates all the same; roles made later get their rights by the next run", async () => {
  const [database = ""] = databases;
  await migrateDatabase(asMigrator(database), folder);
  expect(await existing()).toBe(0);
  for (const role of ROLES) await admin.query(`CREATE ROLE ${role} NOLOGIN`);
  expect(await mayRead(database)).toEqual({ ids: false, payload: false });
  await migrateDatabase(asMigrator(database), folder);
  expect(await mayRead(database)).toEqual({ ids: true, payload: false });
});

test("ER-PAY-11 the next run of the migrations takes back what a role was given beyond its rights", async () => {
  const [database = ""] = databases;
  const client = new pg.Client({ connectionString: asMigrator(database) });
  await client.connect();
  await client.query(`GRANT ALL ON event_store_t TO ${prefix}_read`);
  await client.end();
  expect(await mayRead(database)).toEqual({ ids: true, payload: true });
  await migrateDatabase(asMigrator(database), folder);
  expect(await mayRead(database)).toEqual({ ids: true, payload: false });
});

test("ER-DEP-06 two databases of one cluster are migrated at once: each may be the one that makes the roles, and both grant", async () => {
  const [first = "", ...others] = databases;
  await admin.query(`DROP DATABASE ${first} WITH (FORCE)`);
  for (const role of ROLES) await admin.query(`DROP ROLE ${role}`);
  await Promise.all(others.map((database) => migrateDatabase(withDatabase(adminUrl, database), folder)));
  expect(await existing()).toBe(3);
  for (const database of others) expect(await mayRead(database)).toEqual({ ids: true, payload: false });
});
