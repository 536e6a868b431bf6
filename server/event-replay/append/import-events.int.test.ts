import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { portalProjection } from "@/server/portal/portal-projection";
import { cloudEvent, deps, footprint, note } from "@/server/testing/append";
import { readPortalEventFiles } from "@/server/testing/data";
import { testDatabase } from "@/server/testing/database";
import { importEvents } from "./import-events";

const db = testDatabase();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "import-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function file(lines: readonly (Record<string, unknown> | string)[]): Promise<string> {
  const name = path.join(folder, `${newId()}.ndjson`);
  await writeFile(name, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return name;
}

const thing = (subject: string, aggregateversion: unknown, fields = {}) =>
  cloudEvent({ subject, aggregateversion, data: { thingId: subject }, ...fields });

test("ER-APP-18 real portal events are imported whole, in source order, and a second import changes nothing", async () => {
  const files = readPortalEventFiles();
  const projection = portalProjection();
  const report = await importEvents(
    { pool: db.pool, projection },
    files.map((f) => f.path),
  );
  expect(report).toMatchObject({ kind: "IMPORTED", appendedEvents: 2049, appendedTransactions: 2049, storedBefore: 0 });
  const ids = files.flatMap((f) => f.lines.map((line) => (JSON.parse(line) as { id: string }).id));
  const { rows } = await db.pool.query<{ id: string }>("SELECT id FROM outbox_message_t ORDER BY c_offset");
  expect(rows.map((row) => row.id)).toEqual(ids);
  const before = await footprint(db.pool);
  const again = await importEvents(
    { pool: db.pool, projection },
    files.map((f) => f.path),
  );
  expect(again).toMatchObject({ kind: "IMPORTED", appendedEvents: 0, storedBefore: 2049 });
  expect(await footprint(db.pool)).toEqual(before);
}, 60_000);

test("ER-APP-16 one refused line of an import appends nothing and is named by line, code, field and rule", async () => {
  const before = await footprint(db.pool);
  const name = await file([
    thing("i-1", 1),
    note(),
    thing("i-1", 0),
    "{",
    thing("i-2", 1, { type: "NobodyKnowsEvent" }),
  ]);
  const report = await importEvents(deps(db.pool), [name]);
  expect(report).toEqual({
    kind: "REFUSED",
    refusedLines: 3,
    refused: [
      { file: name, line: 3, code: "INVALID_REQUEST", field: "/aggregateversion", rule: "NOT_POSITIVE" },
      { file: name, line: 4, code: "INVALID_REQUEST", field: "", rule: "SYNTAX" },
      { file: name, line: 5, code: "UNSUPPORTED_EVENT_TYPE", field: "/type", rule: "UNKNOWN_EVENT_TYPE" },
    ],
  });
  expect(await footprint(db.pool)).toEqual(before);
});
