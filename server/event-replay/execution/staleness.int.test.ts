import { beforeAll, expect, test } from "vitest";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { AppError } from "@/server/platform/errors";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { readContext } from "@/server/testing/read-context";
import {
  type Captured,
  captureWithDefect,
  failedUpdates,
  type SeededPlan,
  seedPlan,
} from "@/server/testing/replay-plans";
import { insertRepair } from "@/server/testing/replay-rows";
import { executeEventReplay } from "./execute-event-replay";
import { processReplay } from "./process-event-replay";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

/** As an administrator with the tables' owner could: guards off, one change, guards on. */
async function tamper(sql: string, values: unknown[]): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query(
      "BEGIN; ALTER TABLE event_failure_event_t DISABLE TRIGGER ALL; ALTER TABLE event_failure_transaction_t DISABLE TRIGGER ALL",
    );
    await client.query(sql, values);
    await client.query(
      "ALTER TABLE event_failure_event_t ENABLE TRIGGER ALL; ALTER TABLE event_failure_transaction_t ENABLE TRIGGER ALL; COMMIT",
    );
  } finally {
    client.release();
  }
}

async function executeCode(plan: SeededPlan, projection: ProjectionDefinition = ledger): Promise<string> {
  let calls = 0;
  const ctx = {
    ...readContext(db.pool, plan.hostId),
    projection,
    callQuery: () => {
      calls += 1;
      return Promise.resolve({ kind: "LOST" as const });
    },
  };
  const code = await executeEventReplay(ctx, { ...plan, reason: "go" }).then(
    () => "ok",
    (error: AppError) => error.code,
  );
  const { rows } = await db.pool.query("SELECT status FROM event_replay_request_t WHERE replay_request_id = $1", [
    plan.replayRequestId,
  ]);
  return calls === 0 && rows[0].status === "APPROVED" ? code : `${code} after ${calls} calls, ${rows[0].status}`;
}

/** The same change after the intent: the processor finds it by itself; nothing is projected. */
async function processOutcome(
  captured: Captured,
  change: () => Promise<unknown>,
  projection = ledger,
): Promise<unknown> {
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  await change();
  const { status, failureCode } = await processReplay({ pool: db.pool, projection }, plan);
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS n FROM event_replay_attempt_t WHERE replay_request_id = $1 AND result = 'SUCCEEDED'",
    [plan.replayRequestId],
  );
  return { status, failureCode, succeeded: rows[0].n };
}

const STALE = { status: "FAILED", failureCode: "STALE_PLAN", succeeded: 0 };

test("ER-PLN-14 failure content changed after planning: STALE_PLAN at execute and at processing", async () => {
  const captured = await failedUpdates(db.pool, ["content"]);
  const plan = await seedPlan(db.pool, captured);
  const change = (digit: string) =>
    tamper("UPDATE event_failure_transaction_t SET content_fingerprint = repeat($2, 64) WHERE host_id = $1", [
      captured.hostId,
      digit,
    ]);
  await change("a");
  expect(await executeCode(plan)).toBe("STALE_PLAN");
  expect(await processOutcome(captured, () => change("b"))).toEqual(STALE);
});

test("ER-PLN-14 dependency state changed after planning (a failure of the plan resolved by another): STALE_PLAN", async () => {
  const ordered = await failedUpdates(db.pool, ["dependency"], 2);
  // Without a scope nothing but the failure itself can tell.
  const unordered = await captureWithDefect(db.pool, [
    [{ type: "NoteWrittenEvent", data: { noteId: "n1", body: "one" } }],
    [{ type: "NoteWrittenEvent", data: { noteId: "n2", body: "two" } }],
  ]);
  for (const captured of [ordered, unordered]) {
    const first = { ...captured, failureIds: captured.failureIds.slice(0, 1) };
    const stale = await seedPlan(db.pool, captured);
    const late = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
    const other = await seedPlan(db.pool, first, { status: "INSTALLING_BARRIER" });
    expect(await processReplay({ pool: db.pool, projection: ledger }, other)).toMatchObject({ status: "SUCCEEDED" });
    expect(await executeCode(stale)).toBe("STALE_PLAN");
    expect(await processReplay({ pool: db.pool, projection: ledger }, late)).toMatchObject({
      failureCode: "STALE_PLAN",
    });
  }
});

test("ER-PLN-14 projection version of a scope changed after planning: STALE_PLAN at execute and at processing", async () => {
  const captured = await failedUpdates(db.pool, ["version"]);
  const plan = await seedPlan(db.pool, captured);
  await db.pool.query("UPDATE projection_scope_t SET projected_version = projected_version + 1 WHERE host_id = $1", [
    captured.hostId,
  ]);
  expect(await executeCode(plan)).toBe("STALE_PLAN");
  const another = await failedUpdates(db.pool, ["version2"]);
  const move = () =>
    db.pool.query("UPDATE projection_scope_t SET projected_version = projected_version + 1 WHERE host_id = $1", [
      another.hostId,
    ]);
  expect(await processOutcome(another, move)).toEqual(STALE);
});

test("ER-PLN-14 a repair proposed after planning: STALE_PLAN at execute and at processing", async () => {
  const captured = await failedUpdates(db.pool, ["repair"]);
  const plan = await seedPlan(db.pool, captured);
  const propose = () => insertRepair(db.pool, captured.hostId, captured.failureIds[0] as string);
  expect(await processOutcome(captured, propose)).toEqual(STALE);
  expect(await executeCode(plan)).toBe("STALE_PLAN");
});

test("ER-PLN-14 registry version changed after planning: STALE_PLAN at execute and at processing", async () => {
  const captured = await failedUpdates(db.pool, ["registry"]);
  const plan = await seedPlan(db.pool, captured);
  const current = { ...ledger.registries.current, version: "event-replay-policy-v3" };
  const newer = { ...ledger, registries: { ...ledger.registries, current, all: [current, ...ledger.registries.all] } };
  expect(await executeCode(plan, newer)).toBe("STALE_PLAN");
  expect(await processOutcome(captured, async () => undefined, newer)).toEqual(STALE);
});

test("ER-PLN-14 a payload digest changed after planning: STALE_PLAN at execute and at processing", async () => {
  const captured = await failedUpdates(db.pool, ["digest"]);
  const plan = await seedPlan(db.pool, captured);
  const change = (bytes: string) =>
    tamper(
      `UPDATE event_failure_event_t SET payload_plain = convert_to($2, 'UTF8'), payload_digest = encode(sha256(convert_to($2, 'UTF8')), 'hex'),
         decrypted_payload_bytes = octet_length(convert_to($2, 'UTF8')) WHERE host_id = $1`,
      [captured.hostId, bytes],
    );
  await change('{"data":{}}');
  expect(await executeCode(plan)).toBe("STALE_PLAN");
  expect(await processOutcome(captured, () => change('{"data":{"n":1}}'))).toEqual(STALE);
});

test("ER-PAY-07 one flipped stored byte: PAYLOAD_DIGEST_MISMATCH at execution, nothing projected", async () => {
  const captured = await failedUpdates(db.pool, ["flipped"]);
  await db.pool.query("ALTER TABLE event_failure_event_t DROP CONSTRAINT event_failure_event_payload_ck");
  const flip = () =>
    tamper("UPDATE event_failure_event_t SET payload_plain = set_byte(payload_plain, 5, 33) WHERE host_id = $1", [
      captured.hostId,
    ]);
  expect(await processOutcome(captured, flip)).toEqual({ ...STALE, failureCode: "PAYLOAD_DIGEST_MISMATCH" });
});

test("ER-PLN-14 live work of other scopes, accounts and hosts never makes a plan stale", async () => {
  const captured = await failedUpdates(db.pool, ["calm"]);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  await captureWithDefect(
    db.pool,
    [[{ type: "AccountOpenedEvent", aggregateType: "Account", aggregateId: "new", version: 1, data: {} }]],
    captured.hostId,
  );
  await drainLane(db.pool, ledger, Number.parseInt(captured.hostId.slice(-1), 16));
  expect(await processReplay({ pool: db.pool, projection: ledger }, plan)).toMatchObject({ status: "SUCCEEDED" });
});

test("ER-APR-14 an item bound to a repair never runs the original bytes in its place: refused before any intent", async () => {
  const captured = await failedUpdates(db.pool, ["bound"]);
  const repairId = await insertRepair(db.pool, captured.hostId, captured.failureIds[0] as string);
  const plan = await seedPlan(db.pool, captured, { repairId });
  expect(await executeCode(plan)).toBe("INVALID_REPLAY_STATE");
});
