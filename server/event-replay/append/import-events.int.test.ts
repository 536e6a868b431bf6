import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { portalProjection } from "@/server/portal/portal-projection";
import { append, cloudEvent, deps, footprint, HOST, note } from "@/server/testing/append";
import { readPortalEventFiles } from "@/server/testing/data";
import { testDatabase } from "@/server/testing/database";
import { insertFailure } from "@/server/testing/replay-rows";
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

test("ER-APP-38 an import accepts a version jump, pins it as baseline and reports it by line; a lower version is refused", async () => {
  const first = await file([
    thing("jump", 1),
    thing("jump", "2"),
    thing("jump", 7),
    thing("jump", "8"),
    thing("late", 41),
  ]);
  expect(await importEvents(deps(db.pool), [first])).toMatchObject({
    kind: "IMPORTED",
    appendedEvents: 5,
    jumps: [{ file: first, line: 3, from: 2, to: 7 }],
  });
  const { rows } = await db.pool.query(
    `SELECT aggregate_version, version_baseline, convert_from(event_bytes, 'UTF8')::jsonb -> 'versionbaseline' AS pinned,
            convert_from(event_bytes, 'UTF8')::jsonb -> 'aggregateversion' AS stored
     FROM outbox_message_t WHERE aggregate_id = 'jump' ORDER BY c_offset`,
  );
  expect(rows.map((r) => [r.aggregate_version, r.version_baseline, r.pinned, r.stored])).toEqual([
    [1, false, null, 1],
    [2, false, null, 2],
    [7, true, true, 7],
    [8, false, null, 8],
  ]);
  const before = await footprint(db.pool);
  expect(await importEvents(deps(db.pool), [first])).toMatchObject({
    kind: "IMPORTED",
    appendedEvents: 0,
    storedBefore: 5,
    jumps: [],
  });
  const lower = await file([thing("jump", 9), thing("jump", 4)]);
  expect(await importEvents(deps(db.pool), [lower])).toEqual({
    kind: "REFUSED",
    refusedLines: 1,
    refused: [{ file: lower, line: 2, code: "INVALID_REQUEST", field: "/aggregateversion", rule: "VERSION_NOT_NEXT" }],
  });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-38 a baseline claimed in the middle of a transaction, which live could only refuse, is refused by line", async () => {
  const transactionid = newId();
  const member = (version: number, transactionordinal: number, fields = {}) =>
    thing("middle", version, { transactionid, transactionordinal, transactioncount: 2, ...fields });
  const before = await footprint(db.pool);
  const name = await file([note(), member(1, 0), member(5, 1, { versionbaseline: true })]);
  expect(await importEvents(deps(db.pool), [name])).toMatchObject({
    kind: "REFUSED",
    refusedLines: 1,
    refused: [
      { line: 3, code: "INVALID_REQUEST", field: "/versionbaseline", rule: "BASELINE_NOT_FIRST" },
      { line: 3, code: "INVALID_REQUEST", field: "/aggregateversion", rule: "VERSION_NOT_CONTIGUOUS" },
    ],
  });
  expect(await footprint(db.pool)).toEqual(before);
  const first = await file([member(5, 0, { versionbaseline: true }), member(6, 1)]);
  expect(await importEvents(deps(db.pool), [first])).toMatchObject({ kind: "IMPORTED", appendedEvents: 2 });
});

test("ER-APP-02 lines of one transactionid are one transaction, and one that isn't whole is refused by line", async () => {
  const [whole, broken] = [newId(), newId()];
  const part = (transactionid: string, transactionordinal: number, transactioncount: number) =>
    note({ transactionid, transactionordinal, transactioncount });
  const good = await file([part(whole, 0, 2), part(whole, 1, 2), note()]);
  expect(await importEvents(deps(db.pool), [good])).toMatchObject({ appendedEvents: 3, appendedTransactions: 2 });
  const { rows } = await db.pool.query(
    "SELECT transaction_ordinal, transaction_count FROM outbox_message_t WHERE transaction_id = $1",
    [whole],
  );
  expect(rows).toHaveLength(2);
  const before = await footprint(db.pool);
  const bad = await file([note(), part(broken, 0, 3), part(broken, 2, 3), note()]);
  const report = await importEvents(deps(db.pool), [bad]);
  expect(report).toMatchObject({
    kind: "REFUSED",
    refused: expect.arrayContaining([expect.objectContaining({ line: 2, code: "TRANSACTION_INCOMPLETE" })]),
  });
  const torn = await file([part(newId(), 0, 1), part(whole, 0, 2), note(), part(whole, 1, 2)]);
  expect(await importEvents(deps(db.pool), [torn])).toMatchObject({ kind: "REFUSED" });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-29 an import of an event on a blocked scope is refused by line and appends nothing", async () => {
  await insertFailure(db.pool, HOST, { policy: "AGGREGATE_VERSION", scopes: [["AGGREGATE", "Thing:blocked-import"]] });
  const before = await footprint(db.pool);
  const name = await file([thing("free-import", 1), thing("blocked-import", 1), note()]);
  expect(await importEvents(deps(db.pool), [name])).toEqual({
    kind: "REFUSED",
    refusedLines: 1,
    refused: [{ file: name, line: 2, code: "AGGREGATE_PROJECTION_BLOCKED", field: "/subject", rule: "SCOPE_BLOCKED" }],
  });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-48 a line or a file over its bound is refused by a code, without being read into memory", async () => {
  const before = await footprint(db.pool);
  const long = await file([note(), JSON.stringify(note({ data: { text: "x".repeat(6 * 1024 * 1024) } })), note()]);
  expect(await importEvents(deps(db.pool), [long])).toEqual({
    kind: "REFUSED",
    refusedLines: 1,
    refused: [{ file: long, line: 2, code: "REPLAY_LIMIT_EXCEEDED", field: "", rule: "LINE_TOO_LONG" }],
  });
  const huge = path.join(folder, "huge.ndjson");
  const handle = await open(huge, "w");
  await handle.truncate(256 * 1024 * 1024 + 1);
  await handle.close();
  expect(await importEvents(deps(db.pool), [huge])).toMatchObject({
    kind: "REFUSED",
    refused: [{ file: huge, line: null, code: "REPLAY_LIMIT_EXCEEDED", rule: "IMPORT_TOO_LARGE" }],
  });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-16 an import report is bounded and holds places, codes and rules, never a value", async () => {
  const canary = "canary-9d1e";
  const lines = Array.from({ length: 500 }, (_, i) => thing(`${canary}-${i}`, -1, { type: canary, data: canary }));
  const report = await importEvents(deps(db.pool), [await file(lines)]);
  expect(report).toMatchObject({ kind: "REFUSED", refusedLines: 500 });
  expect(report.kind === "REFUSED" && report.refused.length).toBeLessThanOrEqual(100);
  expect(JSON.stringify(report)).not.toContain(canary);
});

test("ER-APP-05 an event id that a file holds twice is refused, across files too", async () => {
  const event = note();
  const [a, b] = [await file([event, note()]), await file([note(), event])];
  expect(await importEvents(deps(db.pool), [a, b])).toEqual({
    kind: "REFUSED",
    refusedLines: 1,
    refused: [{ file: b, line: 2, code: "INVALID_REQUEST", field: "/id", rule: "DUPLICATE_EVENT_ID" }],
  });
});

test("ER-APP-38 an import of more aggregates than are locked one by one still waits for an append under way, and it for the import", async () => {
  const many = await file(Array.from({ length: 1_200 }, (_, i) => thing(`many-${i}`, 1)));
  await append(deps(db.pool), [thing("many-0", 1)]);
  const holder = await db.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM event_offset_counter_t WHERE partition_id = 15 FOR UPDATE");
    const second = append(deps(db.pool), [thing("many-0", 2)]);
    const waiting = (n: number) => async () => {
      const { rows } = await db.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]?.n === n;
    };
    await expect.poll(waiting(1), { timeout: 20_000, interval: 20 }).toBe(true);
    const imported = importEvents(deps(db.pool), [many]);
    await expect.poll(waiting(2), { timeout: 20_000, interval: 20 }).toBe(true);
    await holder.query("COMMIT");
    expect((await second).duplicate).toBe(false);
    expect(await imported).toMatchObject({ kind: "REFUSED", refused: [{ line: 1, rule: "VERSION_NOT_NEXT" }] });
  } finally {
    holder.release(true);
  }
}, 60_000);

test("ER-APP-18 an import may be silent for minutes between two statements while it works on its lines", async () => {
  await db.pool.query(
    `CREATE TABLE seen_timeout (name text);
     CREATE FUNCTION see_timeout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO seen_timeout VALUES (current_setting('idle_in_transaction_session_timeout')); RETURN NULL; END $$;
     CREATE TRIGGER see_timeout AFTER INSERT ON event_store_t FOR EACH STATEMENT EXECUTE FUNCTION see_timeout()`,
  );
  try {
    expect(await importEvents(deps(db.pool), [await file([note()])])).toMatchObject({ kind: "IMPORTED" });
    expect((await db.pool.query("SELECT name FROM seen_timeout")).rows).toEqual([{ name: "10min" }]);
  } finally {
    await db.pool.query(
      "DROP TRIGGER see_timeout ON event_store_t; DROP FUNCTION see_timeout; DROP TABLE seen_timeout",
    );
  }
});
