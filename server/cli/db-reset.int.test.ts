import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { insertStoreRow } from "@/drizzle/testing/source-rows";
import { findSchemaProblems } from "@/server/platform/db/schema-check";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();
const root = path.resolve(import.meta.dirname, "../..");

const run = (script: string, databaseUrl: string) =>
  promisify(execFile)(process.execPath, ["--import", "tsx", `server/cli/${script}.ts`], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: databaseUrl },
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, text: error.stderr }),
  );

test("ER-DEP-06 db:reset refuses a database on another machine", async () => {
  const refused = await run("db-reset", "postgres://user:secret@database.example.invalid:5432/portal");
  expect(refused).toEqual({ code: 1, text: expect.stringContaining("only does so on this machine") });
  expect(refused.text).not.toContain("secret");
}, 60_000);

test("ER-DEP-02 db:check names what is missing and exits with an error; db:reset makes the schema whole and empty again", async () => {
  await insertStoreRow(db.pool, {});
  await db.pool.query("DROP TABLE event_repair_event_t");
  const missing = await run("db-check", db.url);
  expect(missing).toEqual({ code: 1, text: expect.stringContaining("missing table event_repair_event_t") });
  expect(await run("db-reset", db.url)).toMatchObject({ code: 0 });
  expect(await findSchemaProblems(db.pool)).toEqual([]);
  expect((await db.pool.query("SELECT count(*) AS n FROM event_store_t")).rows).toEqual([{ n: 0 }]);
  expect(await run("db-check", db.url)).toMatchObject({ code: 0 });
}, 120_000);
