import { beforeAll, expect, test } from "vitest";
import { loadFailureTransaction } from "@/server/event-replay/capture/load-failure";
import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import { execute, ProjectionWriteError } from "@/server/event-replay/projection/execute";
import { beginStatement, inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { ensureProgressRows, partitionLockKey } from "./outbox-lane";
import { LaneMemory, projectBatch } from "./project-batch";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

const account = (id: string, version: number, data: Record<string, unknown> = {}): OutboxMember => ({
  type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const note = (noteId: string, body: string): OutboxMember => ({ type: "NoteWrittenEvent", data: { noteId, body } });
const TOO_LONG = "x".repeat(41);

const rows = async (text: string, ...values: unknown[]) => (await db.pool.query(text, values)).rows;
const failuresOf = (hostId: string) =>
  rows("SELECT * FROM event_failure_transaction_t WHERE host_id = $1 ORDER BY created_ts, failure_id", hostId);
const progressOf = async (partitionId: number) =>
  (
    await rows(
      "SELECT next_offset FROM consumer_offsets WHERE group_id = 'ledger-group' AND partition_id = $1",
      partitionId,
    )
  )[0]?.next_offset;
const put = (hostId: string, ...transactions: OutboxMember[][]) =>
  putOutbox(db.pool, ...transactions.map((members) => ({ hostId, members })));
const owners = async (prefix: string) =>
  (await rows("SELECT account_id FROM account_t WHERE account_id LIKE $1 ORDER BY 1", `${prefix}%`)).map(
    (row) => row.account_id,
  );

test("ER-CAP-02 a failed transaction is archived whole, its notifications read DLQ, and progress moves in the same commit", async () => {
  const hostId = hostOfPartition(0);
  const [transactionId] = await put(hostId, [account("cap02", 1), note("cap02", TOO_LONG)], [account("cap02-next", 1)]);
  await drainLane(db.pool, ledger, 0);
  const [failure, ...others] = await failuresOf(hostId);
  expect(others).toEqual([]);
  expect(failure).toMatchObject({
    original_transaction_id: transactionId,
    event_count: 2,
    status: "OPEN",
    error_type: "22001",
  });
  const members = await rows(
    "SELECT event_ordinal FROM event_failure_event_t WHERE failure_id = $1 ORDER BY 1",
    failure?.failure_id,
  );
  expect(members.map((member) => member.event_ordinal)).toEqual([0, 1]);
  expect(
    await rows("SELECT DISTINCT status, error FROM notification_t WHERE transaction_id = $1", transactionId),
  ).toEqual([{ status: "DLQ", error: "PROJECTION_FAILED" }]);
  expect(await owners("cap02")).toEqual(["cap02-next"]);
  // One commit: the failure's row and the progress row were written by the same database transaction.
  const [{ same }] = (await rows(
    `SELECT f.xmin::text = p.xmin::text AS same FROM event_failure_transaction_t f, consumer_offsets p
      WHERE f.host_id = $1 AND p.group_id = 'ledger-group' AND p.partition_id = 0`,
    hostId,
  )) as [{ same: boolean }];
  expect(same).toBe(true);
});

test("ER-CAP-03 when the archive refuses a failure neither it nor progress commits, and the next poll sees it again", async () => {
  const hostId = hostOfPartition(1);
  await put(hostId, [account("cap03-good", 1)], [note("cap03", TOO_LONG)]);
  const before = await progressOf(1);
  await db.pool.query("ALTER TABLE event_failure_event_t ADD CONSTRAINT archive_full CHECK (false) NOT VALID");
  await expect(drainLane(db.pool, ledger, 1)).rejects.toThrow("archived");
  expect(await progressOf(1)).toBe(before);
  expect(await failuresOf(hostId)).toEqual([]);
  expect(await owners("cap03")).toEqual([]);
  await db.pool.query("ALTER TABLE event_failure_event_t DROP CONSTRAINT archive_full");
  expect(await drainLane(db.pool, ledger, 1)).toMatchObject({ transactions: 2, captured: 1 });
  expect(await failuresOf(hostId)).toHaveLength(1);
});

test("ER-CAP-04 a failed transaction leaves no projection write of any member", async () => {
  const hostId = hostOfPartition(2);
  await put(hostId, [account("cap04-a", 1), account("cap04-b", 1), note("cap04", TOO_LONG)]);
  await drainLane(db.pool, ledger, 2);
  expect(await owners("cap04")).toEqual([]);
  expect(await rows("SELECT FROM projection_scope_t WHERE host_id = $1", hostId)).toEqual([]);
});

test("ER-CAP-05 a transaction that fails on its last member is one failure with all members in order", async () => {
  const hostId = hostOfPartition(0);
  await put(hostId, [account("cap05", 1, { balance: 5 }), account("cap05-b", 1), account("cap05", 2, { balance: -1 })]);
  await drainLane(db.pool, ledger, 0);
  const [failure, ...others] = await failuresOf(hostId);
  expect(others).toEqual([]);
  expect(failure).toMatchObject({
    event_count: 3,
    error_code: "PROJECTION_FAILED",
    error_type: "23514",
    failed_ordinal: 2,
  });
  const members = await rows(
    "SELECT event_ordinal, aggregate_version FROM event_failure_event_t WHERE failure_id = $1 ORDER BY 1",
    failure?.failure_id,
  );
  expect(members).toEqual([
    { event_ordinal: 0, aggregate_version: 1 },
    { event_ordinal: 1, aggregate_version: 1 },
    { event_ordinal: 2, aggregate_version: 2 },
  ]);
});

test("ER-CAP-06 every other transaction around failed ones is projected in the same run", async () => {
  const hostId = hostOfPartition(3);
  const transactions = Array.from({ length: 200 }, (_, i) =>
    i % 17 === 3 ? [note(`cap06-${i}`, TOO_LONG)] : [account(`cap06-${i}`, 1, { balance: i })],
  );
  await put(hostId, ...transactions);
  const bad = transactions.filter((_, i) => i % 17 === 3).length;
  expect(await drainLane(db.pool, ledger, 3)).toMatchObject({ transactions: 200, captured: bad });
  expect(await owners("cap06-")).toHaveLength(200 - bad);
  expect(await failuresOf(hostId)).toHaveLength(bad);
});

test("ER-CAP-07 the legacy dead_letter_queue row is a diagnostic without payload: deleting it changes no failure", async () => {
  const hostId = hostOfPartition(4);
  await put(hostId, [note("cap07", TOO_LONG)]);
  await drainLane(db.pool, ledger, 4);
  const [legacy] = await rows("SELECT * FROM dead_letter_queue WHERE host_id = $1", hostId);
  expect(legacy).toMatchObject({ payload: null, exception: "PROJECTION_FAILED" });
  const before = await failuresOf(hostId);
  await db.pool.query("DELETE FROM dead_letter_queue");
  expect(await failuresOf(hostId)).toEqual(before);
});

test("ER-CAP-01 rows that stood in dead_letter_queue before are neither read nor captured", async () => {
  const hostId = hostOfPartition(4);
  await db.pool.query(
    "INSERT INTO dead_letter_queue (group_id, host_id, c_offset, transaction_id, exception) VALUES ('ledger-group', $1, 1, $2, 'OLD')",
    [hostId, newId()],
  );
  await put(hostId, [account("cap01", 1)]);
  await drainLane(db.pool, ledger, 4);
  expect(await failuresOf(hostId)).toEqual([]);
});

test("ER-EXE-15 a batch that can't commit moves nothing: progress follows the projection's own commit", async () => {
  const hostId = hostOfPartition(5);
  await put(
    hostId,
    [{ type: "LateLinkedEvent", data: { lateId: "exe15", accountId: "nobody" } }],
    [account("exe15", 1)],
  );
  // A deferred constraint speaks only at commit: first the whole batch is lost, then the culprit is found and captured.
  expect(await drainLane(db.pool, ledger, 5)).toMatchObject({ transactions: 2, captured: 1 });
  expect(await owners("exe15")).toEqual(["exe15"]);
  expect(await failuresOf(hostId)).toMatchObject([{ error_type: "23503", failed_event_type: "LateLinkedEvent" }]);
});

test("ER-EXE-18 versions after a failed one are captured as gaps, never projected over it", async () => {
  const hostId = hostOfPartition(6);
  await put(hostId, [account("exe18", 1, { balance: 1 })]);
  await drainLane(db.pool, ledger, 6);
  await put(hostId, [account("exe18", 2, { balance: -2 })], [account("exe18", 3, { balance: 3 })]);
  await drainLane(db.pool, ledger, 6);
  await put(hostId, [account("exe18", 4, { balance: 4 })]);
  await drainLane(db.pool, ledger, 6);
  const failures = await failuresOf(hostId);
  expect(failures.map((failure) => failure.error_code)).toEqual(["PROJECTION_FAILED", "REPLAY_GAP", "REPLAY_GAP"]);
  expect(failures[2]?.error_details).toEqual({
    scopeType: "AGGREGATE",
    scopeKey: "Account:exe18",
    expected: 2,
    got: 4,
  });
  expect(await rows("SELECT balance FROM account_t WHERE account_id = 'exe18'")).toEqual([{ balance: 1 }]);
});

test("an unknown scope whose first version failed in the same batch takes no later version as its baseline", async () => {
  const hostId = hostOfPartition(6);
  await put(hostId, [account("base", 1, { balance: -1 })], [account("base", 2, { balance: 2 })]);
  await drainLane(db.pool, ledger, 6);
  expect((await failuresOf(hostId)).map((failure) => failure.error_code)).toEqual(["PROJECTION_FAILED", "REPLAY_GAP"]);
  expect(await owners("base")).toEqual([]);
});

test("ER-CAP-19 the failure row names host, projection, group, transaction, source, fingerprint, scopes, safe error and times", async () => {
  const hostId = hostOfPartition(7);
  const [transactionId] = await put(hostId, [account("cap19", 1, { balance: -1 })]);
  await drainLane(db.pool, ledger, 7);
  const [failure] = await failuresOf(hostId);
  expect(failure).toMatchObject({
    projection_name: "ledger",
    consumer_group: "ledger-group",
    first_source_processor: "DATABASE",
    source_partition: 7,
    original_transaction_id: transactionId,
    event_count: 1,
    dependency_scopes: [{ scopeType: "AGGREGATE", scopeKey: "Account:cap19" }],
    replay_policy: "AGGREGATE_VERSION",
    error_code: "PROJECTION_FAILED",
    error_type: "23514",
    error_constraint: "account_t_balance_check",
    error_message: "SQLSTATE 23514, constraint account_t_balance_check",
    failure_count: 1,
  });
  expect(failure?.content_fingerprint).toMatch(/^[0-9a-f]{64}$/);
  const [delivery] = await rows("SELECT * FROM event_failure_delivery_t WHERE host_id = $1", hostId);
  expect(delivery?.source_coordinates).toMatchObject({ partition: 7 });
});

test("ER-CAP-20 ER-APP-22 each member row holds its identity, version, source position, pins, format, bytes and digest", async () => {
  const hostId = hostOfPartition(7);
  const root = newId();
  await put(hostId, [
    account("cap20", 3, { balance: -1 }),
    { type: "GraphNodePlacedEvent", root, revision: 4, data: { noteId: "n" } },
  ]);
  await drainLane(db.pool, ledger, 7);
  const members = await rows(
    `SELECT e.*, o.c_offset, o.event_bytes = e.payload_plain AS same_bytes, o.payload_digest AS outbox_digest
       FROM event_failure_event_t e JOIN outbox_message_t o ON o.host_id = e.host_id AND o.id::text = e.event_id
      WHERE e.host_id = $1 ORDER BY event_ordinal`,
    hostId,
  );
  expect(members[0]).toMatchObject({
    event_type: "AccountUpdatedEvent",
    aggregate_type: "Account",
    aggregate_id: "cap20",
    aggregate_version: 3,
    source_partition: 7,
    source_topic: null,
    payload_format: "event-replay-canonical-v1",
    payload_storage: "DATABASE_PLAIN",
    event_schema_version: "1",
    policy_registry_version: "event-replay-policy-v2",
    same_bytes: true,
  });
  expect(members[1]).toMatchObject({ root_instance_id: root, graph_revision: 4, aggregate_id: null });
  for (const member of members) {
    expect(member.source_offset).toBe(member.c_offset);
    expect(member.payload_digest).toBe(member.outbox_digest);
  }
});

test("ER-CAP-24 the same transaction delivered again moves counters of the one failure and adds no row", async () => {
  const hostId = hostOfPartition(8);
  await put(hostId, [note("cap24", TOO_LONG)]);
  const again = ledgerProjection();
  await drainLane(db.pool, again, 8);
  const [first] = await failuresOf(hostId);
  // The source delivers it once more: the position is set back, as a restored backup would.
  await db.pool.query("ALTER TABLE consumer_offsets DISABLE TRIGGER USER");
  await db.pool.query("ALTER TABLE projection_range_t DISABLE TRIGGER USER");
  await db.pool.query("DELETE FROM projection_range_t WHERE partition_id = 8");
  await db.pool.query("ALTER TABLE projection_range_t ENABLE TRIGGER USER");
  await db.pool.query(
    "UPDATE consumer_offsets SET next_offset = next_offset - 1 WHERE group_id = 'ledger-group' AND partition_id = 8",
  );
  await db.pool.query("ALTER TABLE consumer_offsets ENABLE TRIGGER USER");
  await drainLane(db.pool, again, 8);
  const [second, ...others] = await failuresOf(hostId);
  expect(others).toEqual([]);
  expect(second).toMatchObject({ failure_id: first?.failure_id, failure_count: 2 });
  expect(String(second?.last_failed_ts) >= String(first?.last_failed_ts)).toBe(true);
  expect(await rows("SELECT observation_count FROM event_failure_delivery_t WHERE host_id = $1", hostId)).toEqual([
    { observation_count: 2 },
  ]);
});

test("ER-CAP-26 error texts are our own words, bounded, and hold nothing of the payload", async () => {
  const hostId = hostOfPartition(9);
  const canary = "canary-7b1f";
  const thrower: EventHandler = {
    kind: "rows",
    project(event) {
      throw new Error(`handler text with ${JSON.stringify(event.data)}`);
    },
  };
  const definition = ledgerProjection({ handlers: { AccountUpdatedEvent: thrower } });
  await put(
    hostId,
    [note(canary, `${canary}${TOO_LONG}`)],
    [account("cap26", 1)],
    [account("cap26", 2, { owner: canary })],
  );
  await drainLane(db.pool, definition, 9);
  expect(await failuresOf(hostId)).toHaveLength(2);
  for (const table of [
    "event_failure_transaction_t",
    "event_failure_scope_t",
    "event_failure_delivery_t",
    "notification_t",
    "dead_letter_queue",
    "event_failure_rollup_t",
    "processor_status_t",
  ]) {
    const [{ found }] = (await rows(
      `SELECT count(*)::int AS found FROM ${table} t WHERE t::text LIKE '%${canary}%'`,
    )) as [{ found: number }];
    expect(`${table} ${found}`).toBe(`${table} 0`);
  }
});

test("ER-CAP-37 a replay that fails again is no new failure: the projection refuses, nothing is captured or counted", async () => {
  const hostId = hostOfPartition(9);
  await put(hostId, [account("cap37", 1, { balance: -1 })]);
  await drainLane(db.pool, ledger, 9);
  const before = await failuresOf(hostId);
  const replay = inTransaction(db.pool, "replay", async (tx) => {
    const loaded = await loadFailureTransaction(tx, hostId, before[0]?.failure_id);
    if (!loaded.ok) throw new Error(loaded.code);
    return execute(tx, ledger, [loaded.transaction], "REPLAY");
  });
  await expect(replay).rejects.toBeInstanceOf(ProjectionWriteError);
  expect(await failuresOf(hostId)).toEqual(before);
});

test("one lane is never projected by two processors at once, and a free lane is not held up", async () => {
  const hostId = hostOfPartition(10);
  await put(hostId, [account("lane", 1)]);
  let release: () => void = () => undefined;
  const entered = new Promise<void>((resolve) => {
    release = resolve;
  });
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const slow = ledgerProjection({
    handlers: {
      AccountOpenedEvent: {
        kind: "statements",
        async handle() {
          release();
          await gate;
          return 1;
        },
      },
    },
  });
  const first = projectBatch(db.pool, slow, 10);
  await entered;
  expect(await projectBatch(db.pool, ledger, 10)).toEqual({ kind: "IDLE" });
  await put(hostOfPartition(11), [account("free-lane", 1)]);
  expect(await projectBatch(db.pool, ledger, 11)).toMatchObject({ kind: "DONE", transactions: 1 });
  go();
  expect(await first).toMatchObject({ kind: "DONE" });
});

test("a waiting barrier installer is not overtaken: live work leaves the lane to it", async () => {
  await put(hostOfPartition(12), [account("installer", 1)]);
  const client = await db.pool.connect();
  try {
    await client.query(beginStatement("installer"));
    await client.query(`SELECT pg_advisory_xact_lock(${partitionLockKey(ledger, 12)})`);
    expect(await projectBatch(db.pool, ledger, 12)).toEqual({ kind: "IDLE" });
    await client.query("COMMIT");
  } finally {
    client.release();
  }
  expect(await projectBatch(db.pool, ledger, 12)).toMatchObject({ kind: "DONE" });
});

test("a transaction larger than a batch is read and projected whole", async () => {
  const hostId = hostOfPartition(13);
  await put(
    hostId,
    Array.from({ length: 700 }, (_, i) => account(`big-${i}`, 1)),
    [account("after-big", 1)],
  );
  const memory = new LaneMemory();
  memory.limit = 64;
  expect(await drainLane(db.pool, ledger, 13, memory)).toMatchObject({ transactions: 2, captured: 0 });
  expect(await owners("big-")).toHaveLength(700);
});

test("ER-CAP-36 success is recorded as a range: the pending notification row is not rewritten, the range covers it", async () => {
  const hostId = hostOfPartition(14);
  const [transactionId] = await put(hostId, [account("cap36", 1)]);
  await drainLane(db.pool, ledger, 14);
  const [covered] = await rows(
    `SELECT n.status, EXISTS (SELECT FROM projection_range_t r WHERE r.consumer_group = 'ledger-group' AND r.partition_id = n.event_partition
              AND n.event_offset BETWEEN r.first_offset AND r.last_offset) AS covered
       FROM notification_t n WHERE transaction_id = $1`,
    transactionId,
  );
  expect(covered).toEqual({ status: "PENDING", covered: true });
});

test("with a third of all transactions failing, every one is settled once and in order", async () => {
  const hostId = hostOfPartition(15);
  const transactions = Array.from({ length: 300 }, (_, i) =>
    i % 3 === 0 ? [note(`third-${i}`, TOO_LONG)] : [note(`third-${i}`, "ok")],
  );
  await put(hostId, ...transactions);
  const definition = ledgerProjection({
    handlers: { NoteWrittenEvent: LEDGER_HANDLERS.NoteWrittenEvent as EventHandler },
  });
  expect(await drainLane(db.pool, definition, 15)).toMatchObject({ transactions: 300, captured: 100 });
  expect((await rows("SELECT count(*)::int AS n FROM note_t WHERE note_id LIKE 'third-%'"))[0]).toEqual({ n: 200 });
});
