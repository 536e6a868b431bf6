import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { readPortalEventFiles } from "@/server/testing/data";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();
const ROOT = path.resolve(import.meta.dirname, "../..");

type Run = { readonly code: number; readonly stdout: string; readonly stderr: string };

function runImport(...files: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--import", "tsx", "server/cli/import.ts", ...files],
      { cwd: ROOT, env: { ...process.env, DATABASE_URL: db.url } },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

test("ER-APP-16 npm run import: exit 2 names file, line, code and field of a refused line, exit 0 appends once and then says it is a no-op", async () => {
  const [users] = readPortalEventFiles().filter(({ name }) => name.includes("user-org"));
  const folder = await mkdtemp(path.join(tmpdir(), "import-cli-"));
  const good = users?.path as string;
  const lines = (await readFile(good, "utf8")).trimEnd().split("\n");
  const bad = path.join(folder, "bad.ndjson");
  await writeFile(bad, [lines[0], '{"canary-13aa":1}', ...lines.slice(1)].join("\n"));

  const refused = await runImport(bad);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`${bad}:2 INVALID_REQUEST /id REQUIRED`);
  expect(refused.stderr).toContain("Nothing was appended.");
  expect(refused.stdout + refused.stderr).not.toContain("canary-13aa");
  expect((await db.pool.query("SELECT 1 FROM event_store_t")).rowCount).toBe(0);

  const first = await runImport(good);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain(`${lines.length} events appended`);
  expect(first.stderr).toMatch(/validating.*appending/s);
  const again = await runImport(good);
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toContain("stored already");
  expect((await db.pool.query("SELECT 1 FROM event_store_t")).rowCount).toBe(lines.length);

  expect(await runImport(path.join(folder, "absent.ndjson"))).toMatchObject({ code: 1 });
}, 120_000);
