import { beforeAll, expect, test } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { execute } from "@/server/event-replay/projection/execute";
import { inTransaction } from "@/server/platform/db/transaction";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { loadFailureTransaction } from "./load-failure";

const db = testDatabase();
const ledger = ledgerProjection();
const BODY = "x".repeat(41);

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

async function captured(name: string, definition: ProjectionDefinition, registryVersion?: string) {
  const hostId = hostOfPartition(1);
  const pinned = registryVersion === undefined ? {} : { registryVersion };
  const opened = { type: "AccountOpenedEvent", aggregateType: "Account", aggregateId: name, version: 1 };
  await putOutbox(db.pool, {
    hostId,
    members: [
      { ...opened, data: { owner: "o" }, ...pinned },
      { type: "NoteWrittenEvent", data: { noteId: name, body: BODY }, ...pinned },
    ],
  });
  await drainLane(db.pool, definition, 1);
  const { rows } = await db.pool.query("SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1", [
    hostId,
  ]);
  expect(rows).toHaveLength(1);
  return { hostId, failureId: rows[0].failure_id as string };
}

/** Replays and rolls back: the rows of this transaction, as the database transaction saw them. */
async function replayed(hostId: string, failureId: string, definition: ProjectionDefinition) {
  const seen: { kinds: string[]; accounts: unknown[]; notes: unknown[] } = { kinds: [], accounts: [], notes: [] };
  const undo = new Error("undo");
  await inTransaction(db.pool, "replay", async (tx) => {
    await tx.execute("ALTER TABLE note_t ALTER COLUMN body TYPE varchar(400)");
    const loaded = await loadFailureTransaction(tx, hostId, failureId);
    if (!loaded.ok) throw new Error(loaded.code);
    const outcomes = await execute(tx, definition, [loaded.transaction], "REPLAY");
    seen.kinds = outcomes.map((outcome) => outcome.kind);
    seen.accounts = await tx.query("SELECT account_id, owner, aggregate_version FROM account_t");
    seen.notes = await tx.query("SELECT note_id, body FROM note_t");
    throw undo;
  }).catch((error) => {
    if (error !== undo) throw error;
  });
  return seen;
}

test("ER-PAY-06 a failure is replayed whole from its own bytes after its store and outbox rows are gone", async () => {
  const { hostId, failureId } = await captured("pay06", ledger);
  for (const table of ["outbox_message_t", "event_store_t"]) {
    await db.pool.query(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
    expect((await db.pool.query(`DELETE FROM ${table} WHERE host_id = $1`, [hostId])).rowCount).toBe(2);
    await db.pool.query(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
  }
  expect(await replayed(hostId, failureId, ledger)).toEqual({
    kinds: ["PROJECTED"],
    accounts: [{ account_id: "pay06", owner: "o", aggregate_version: 1 }],
    notes: [{ note_id: "pay06", body: BODY }],
  });
});

test("ER-APP-23 a failure is captured with its members' own version and replayed under it while a newer one means something else", async () => {
  const current = { ...ledger.registries.current, version: "event-replay-policy-v3" };
  const older = ledger.registries.current;
  const newer: ProjectionDefinition = {
    ...ledger,
    registries: {
      current,
      all: [current, older],
      version: (v) => (v === current.version ? current : v === older.version ? older : undefined),
    },
    handlerFor: (entry, version) =>
      version === older.version
        ? ledger.handlerFor(entry, version)
        : { kind: "rows", project: () => [{ table: "note_t", key: ["newer"], set: { body: "newer meaning" } }] },
  };
  const { hostId, failureId } = await captured("app23", newer, older.version);
  const { rows } = await db.pool.query(
    "SELECT DISTINCT policy_registry_version AS version FROM event_failure_event_t WHERE failure_id = $1",
    [failureId],
  );
  expect(rows).toEqual([{ version: older.version }]);
  expect(await replayed(hostId, failureId, newer)).toMatchObject({
    kinds: ["PROJECTED"],
    accounts: [{ account_id: "app23" }],
    notes: [{ note_id: "app23", body: BODY }],
  });
});
