import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { CaptureError } from "@/server/event-replay/capture/capture-failure";
import type { EventHandler, ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { LiveProjector } from "./live-projector";
import { ensureProgressRows } from "./outbox-lane";
import { LaneMemory, projectBatch } from "./project-batch";

const db = testDatabase();
const ledger = ledgerProjection();
const running: LiveProjector[] = [];

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});
afterEach(async () => {
  for (const projector of running.splice(0)) await projector.stop();
});

const account = (id: string, version = 1, data: Record<string, unknown> = {}, type?: string): OutboxMember => ({
  type: type ?? (version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent"),
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const put = (hostId: string, ...transactions: OutboxMember[][]) =>
  putOutbox(db.pool, ...transactions.map((members) => ({ hostId, members })));
const failuresOf = async (hostId: string) =>
  (
    await db.pool.query(
      "SELECT error_code, error_type, failed_ordinal FROM event_failure_transaction_t WHERE host_id = $1 ORDER BY created_ts, original_transaction_id",
      [hostId],
    )
  ).rows;
const statements = (handle: Extract<EventHandler, { kind: "statements" }>["handle"]): EventHandler => ({
  kind: "statements",
  handle,
});

test("the member to blame is found in a long transaction by halving, not by trying every prefix", async () => {
  const hostId = hostOfPartition(0);
  let calls = 0;
  const counting = ledgerProjection({
    handlers: {
      AccountOpenedEvent: statements(async (tx, event) => {
        calls += 1;
        if (event.data.bad) await tx.execute("SELECT 1/0");
        return 1;
      }),
    },
  });
  const size = 200;
  await put(
    hostId,
    Array.from({ length: size }, (_, i) => account(`long-${i}`, 1, i === 150 ? { bad: true } : {})),
  );
  await drainLane(db.pool, counting, 0);
  expect(await failuresOf(hostId)).toEqual([
    { error_code: "PROJECTION_FAILED", error_type: "22012", failed_ordinal: 150 },
  ]);
  expect(calls).toBeLessThan(size * 10);
});

test("a cancelled transaction is captured only when it was cancelled alone twice, and others do not pay for it", async () => {
  const hostId = hostOfPartition(1);
  const slow = ledgerProjection({
    handlers: {
      AccountOpenedEvent: statements(async (tx, event) => {
        if (event.data.slow)
          await tx.execute("DO $$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = '57014'; END $$");
        return 1;
      }),
    },
  });
  const transactions = Array.from({ length: 12 }, (_, i) => [account(`slow-${i}`, 1, { slow: i % 2 === 1 })]);
  await put(hostId, ...transactions);
  const memory = new LaneMemory();
  let rounds = 0;
  let settled = 0;
  while (settled < transactions.length) {
    rounds += 1;
    const result = await projectBatch(db.pool, slow, 1, memory).catch(() => null);
    if (rounds === 1) expect(await failuresOf(hostId)).toEqual([]);
    if (result?.kind === "DONE") settled += result.transactions;
    expect(rounds).toBeLessThan(30);
  }
  expect((await failuresOf(hostId)).map((failure) => failure.error_type)).toEqual(new Array(6).fill("57014"));
  expect(memory.cancelledBefore.size).toBe(0);
});

test("a deferred trigger with an error of its own is the transaction's failure and stops nothing", async () => {
  const hostId = hostOfPartition(2);
  await db.pool.query(`
    CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.note_id LIKE 'late-refused%' THEN RAISE EXCEPTION 'no'; END IF; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER refuse_late AFTER INSERT ON note_t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_late();`);
  await put(
    hostId,
    [{ type: "NoteWrittenEvent", data: { noteId: "late-fine" } }],
    [{ type: "NoteWrittenEvent", data: { noteId: "late-refused" } }],
    [account("after-late")],
  );
  expect(await drainLane(db.pool, ledger, 2)).toMatchObject({ transactions: 3, captured: 1 });
  expect(await failuresOf(hostId)).toEqual([
    { error_code: "PROJECTION_FAILED", error_type: "P0001", failed_ordinal: 0 },
  ]);
});

test("a handler that swallows an SQL error fails its own transaction, not the lane", async () => {
  const hostId = hostOfPartition(3);
  const swallowing = ledgerProjection({
    handlers: {
      AccountOpenedEvent: statements(async (tx, event) => {
        if (event.data.bad) await tx.execute("SELECT 1/0").catch(() => undefined);
        return 1;
      }),
    },
  });
  await put(hostId, [account("swallow-a")], [account("swallow-b", 1, { bad: true })], [account("swallow-c")]);
  expect(await drainLane(db.pool, swallowing, 3)).toMatchObject({ transactions: 3, captured: 1 });
  expect(await failuresOf(hostId)).toMatchObject([{ error_code: "PROJECTION_FAILED" }]);
});

test("ER-CAP-03 an archive that refuses a gap is the archive's trouble: nothing moves, and it says so", async () => {
  const hostId = hostOfPartition(4);
  await put(hostId, [account("arch", 1)], [account("arch", 5)]);
  await db.pool.query("ALTER TABLE event_failure_event_t ADD CONSTRAINT archive_full CHECK (false) NOT VALID");
  await expect(projectBatch(db.pool, ledger, 4)).rejects.toBeInstanceOf(CaptureError);
  await db.pool.query("ALTER TABLE event_failure_event_t DROP CONSTRAINT archive_full");
  expect(await drainLane(db.pool, ledger, 4)).toMatchObject({ transactions: 2, captured: 1 });
});

test("one batch: a row deleted and made again under another spelling of its uuid is there, as one by one", async () => {
  const hostId = hostOfPartition(5);
  await db.pool.query("CREATE TABLE uuid_row_t (id uuid PRIMARY KEY, body text)");
  const id = newId();
  const table = { name: "uuid_row_t", columns: { id: "uuid", body: "text" }, key: ["id"], parents: [] } as const;
  const spelled = (event: { data: Readonly<Record<string, unknown>> }) => [event.data.id as string];
  const definition: ProjectionDefinition = {
    ...ledgerProjection({
      handlers: {
        AccountOpenedEvent: {
          kind: "rows",
          project: (event) => [{ table: "uuid_row_t", key: spelled(event), set: { body: "set" } }],
        },
        AccountUpdatedEvent: {
          kind: "rows",
          project: (event) =>
            event.data.gone
              ? [{ table: "uuid_row_t", key: spelled(event), delete: true }]
              : [{ table: "uuid_row_t", key: spelled(event), set: { body: "again" } }],
        },
      },
    }),
    tables: new Map([[table.name, table]]),
  };
  await put(
    hostId,
    [account("spelled", 1, { id })],
    [account("spelled", 2, { id, gone: true })],
    [account("spelled", 3, { id: id.toUpperCase() })],
  );
  expect(await drainLane(db.pool, definition, 5)).toMatchObject({ transactions: 3, captured: 0 });
  expect((await db.pool.query("SELECT body FROM uuid_row_t WHERE id = $1", [id])).rows).toEqual([{ body: "again" }]);
});

test("lanes whose archive refuses do not hold up a lane that is well", async () => {
  const group = ledgerProjection({ consumerGroup: "rest-group" });
  const refused = [6, 7, 8].map(hostOfPartition);
  await db.pool.query(
    `ALTER TABLE event_failure_transaction_t ADD CONSTRAINT refuse_rest CHECK (consumer_group <> 'rest-group') NOT VALID`,
  );
  for (const hostId of refused)
    await put(hostId, [{ type: "NoteWrittenEvent", data: { noteId: "n", body: "x".repeat(41) } }]);
  const projector = new LiveProjector(db.pool, group, { databaseUrl: db.url, lanes: 1, pollMs: 50 });
  running.push(projector);
  await projector.start();
  await vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      "SELECT state, code FROM processor_status_t WHERE consumer_group = 'rest-group'",
    );
    expect(rows).toEqual([{ state: "RETRYING", code: "CAPTURE_SQLSTATE_23514" }]);
  });
  await put(hostOfPartition(9), [account("healthy-lane")]);
  await vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      "SELECT FROM projection_scope_t WHERE consumer_group = 'rest-group' AND scope_key = 'Account:healthy-lane'",
    );
    expect(rows).toHaveLength(1);
  }, 10_000);
  await db.pool.query("ALTER TABLE event_failure_transaction_t DROP CONSTRAINT refuse_rest");
  await vi.waitFor(async () => {
    const { rows } = await db.pool.query("SELECT state FROM processor_status_t WHERE consumer_group = 'rest-group'");
    expect(rows).toEqual([{ state: "HEALTHY" }]);
  }, 20_000);
});

test("a hole in the outbox stops its lane instead of being skipped", async () => {
  const hostId = hostOfPartition(10);
  await put(hostId, [account("hole-1")], [account("hole-2")]);
  await db.pool.query("ALTER TABLE outbox_message_t DISABLE TRIGGER USER");
  await db.pool.query("DELETE FROM outbox_message_t WHERE host_id = $1 AND aggregate_id = 'hole-1'", [hostId]);
  await db.pool.query("ALTER TABLE outbox_message_t ENABLE TRIGGER USER");
  await expect(projectBatch(db.pool, ledger, 10)).rejects.toThrow("hole");
});
