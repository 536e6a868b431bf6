import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import pg from "pg";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";

const db = testDatabase();
const ledger = ledgerProjection();
const children = new Set<ChildProcess>();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
afterEach(async () => {
  for (const child of children) await killHard(child);
});

function startProjector(): ChildProcess {
  const child = fork(path.resolve(import.meta.dirname, "../../testing/projector-child.ts"), {
    execArgv: ["--import", "tsx"],
    env: { ...process.env, DATABASE_URL: db.url },
  });
  children.add(child);
  return child;
}

async function killHard(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

const WAIT = { timeout: 60_000, interval: 20 };
const settledUpToDate = () =>
  vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS behind FROM event_offset_counter_t c
         LEFT JOIN consumer_offsets p ON p.partition_id = c.partition_id AND p.group_id = 'ledger-group'
        WHERE c.next_offset > coalesce(p.next_offset, 1)`,
    );
    expect(rows[0].behind).toBe(0);
  }, WAIT);

let serial = 0;
/** A mix that touches everything: good, failing, failing at commit, multi-member, and a gap behind a failure. */
async function putMix(hostId: string): Promise<void> {
  const n = serial++;
  const account = (id: string, version: number, data: Record<string, unknown> = {}): OutboxMember => ({
    type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
    aggregateType: "Account",
    aggregateId: `${id}-${n}`,
    version,
    data,
  });
  const mix: OutboxMember[][] = [
    [account("good", 1, { balance: 1 }), account("pair", 1, { balance: 2 })],
    [account("bad", 1, { balance: -1 })],
    [account("bad", 2, { balance: 5 })],
    [{ type: "NoteWrittenEvent", data: { noteId: `note-${n}`, body: "ok" } }],
    [{ type: "LateLinkedEvent", data: { lateId: `late-${n}`, accountId: "nobody" } }],
    [account("good", 2, { balance: 3 })],
  ];
  await putOutbox(db.pool, ...mix.map((members) => ({ hostId, members })));
}

/** Every point at which live work writes: the projector is stopped there by a lock, then killed hard. */
const POINTS = [
  "consumer_offsets",
  "projection_scope_t",
  "account_t",
  "note_t",
  "event_failure_transaction_t",
  "event_failure_event_t",
  "event_failure_scope_t",
  "event_failure_delivery_t",
  "notification_t",
  "dead_letter_queue",
  "projected_transaction_t",
  "projection_range_t",
];

test("ER-CAP-02 ER-CAP-03 killed hard before any of its writes, the projector loses and doubles nothing", async () => {
  const hostId = hostOfPartition(3);
  for (const table of POINTS) {
    await putMix(hostId);
    const blocker = new pg.Client({ connectionString: db.url });
    await blocker.connect();
    await blocker.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    const projector = startProjector();
    await vi.waitFor(async () => {
      const { rows } = await db.pool.query(
        `SELECT count(*)::int AS waiting FROM pg_locks l WHERE l.relation = $1::regclass AND NOT l.granted
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [table],
      );
      expect(rows[0].waiting).toBeGreaterThan(0);
    }, WAIT);
    await killHard(projector);
    await blocker.query("ROLLBACK");
    await blocker.end();
    expect([table, await checkConservation(db.pool, ledger)]).toEqual([table, []]);
  }
  const last = startProjector();
  await settledUpToDate();
  await killHard(last);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM account_t) AS accounts, (SELECT count(*)::int FROM note_t) AS notes,
              (SELECT count(*)::int FROM event_failure_transaction_t) AS failures,
              (SELECT max(failure_count)::int FROM event_failure_transaction_t) AS most`,
  );
  const rounds = POINTS.length;
  expect(rows[0]).toEqual({ accounts: 2 * rounds, notes: rounds, failures: 3 * rounds, most: 1 });
}, 240_000);

test("ER-EXE-15 the server ends every connection in the middle of batches: the projector reconnects and settles the rest", async () => {
  const hostId = hostOfPartition(5);
  const projector = startProjector();
  await once(projector, "message");
  for (let i = 0; i < 6; i++) {
    await putMix(hostId);
    await db.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'event-admin:%' AND pid <> pg_backend_pid()
            AND application_name NOT LIKE 'event-admin:test%'`,
    );
  }
  await settledUpToDate();
  expect(projector.exitCode).toBeNull();
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
}, 120_000);
