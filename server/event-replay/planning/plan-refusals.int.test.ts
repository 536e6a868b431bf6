import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { CreatePlanResponse, GetReplayResponse } from "@/server/contracts/replay";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { insertFailures } from "@/server/testing/failures";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember } from "@/server/testing/outbox";
import { as, call, planRequest, refusal } from "@/server/testing/planning";
import { account, captureWithDefect, failedUpdates } from "@/server/testing/replay-plans";
import { insertRepair } from "@/server/testing/replay-rows";

const db = testDatabase();
const LEDGER = { projectionName: "ledger", consumerGroup: "ledger-group" } as const;

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
afterEach(() => {
  delete process.env.EVENT_REPLAY_CONFIG;
});

const plan = (
  hostId: string,
  failureIds: readonly string[],
  overrides: object = {},
  projection?: ProjectionDefinition,
) =>
  call<CreatePlanResponse>(
    as(db.pool, { hostId, name: "alice", ...(projection && { projection }) }),
    "createEventReplayPlan",
    planRequest(failureIds, overrides),
  );
const note = (): OutboxMember => ({ type: "NoteWrittenEvent", data: { noteId: newId(), body: "b" } });

test("ER-PLN-02 a plan runs archived failures, changed by nothing but the approved repair it names", async () => {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const [failureId] = failureIds as [string];
  expect((await refusal(plan(hostId, failureIds, { repairId: newId() }))).code).toBe("REPAIR_NOT_FOUND");
  const repairId = await insertRepair(db.pool, hostId, failureId);
  expect(await refusal(plan(hostId, failureIds))).toEqual({ code: "EVENT_REPAIR_REQUIRED", details: { failureIds } });
  expect((await refusal(plan(hostId, failureIds, { repairId }))).code).toBe("REPAIR_NOT_APPROVED");
  await db.pool.query(
    `UPDATE event_repair_t SET status = 'APPROVED', decision_by = 'bob', decision_ts = now(), approved_by = 'bob', approved_ts = now()
      WHERE repair_id = $1`,
    [repairId],
  );
  const other = await failedUpdates(db.pool, [newId()]);
  expect((await refusal(plan(other.hostId, other.failureIds, { repairId }))).code).toBe("REPAIR_NOT_FOUND");
  const bound = await plan(hostId, failureIds, { repairId });
  expect(bound.repairId).toBe(repairId);
  const seen = await call<GetReplayResponse>(as(db.pool, { hostId, name: "bob" }), "getEventReplay", {
    replayRequestId: bound.replayRequestId,
  });
  expect([seen.repairId, seen.repairStatus, seen.items[0]?.repairId]).toEqual([repairId, "APPROVED", repairId]);
});

test("ER-PLN-03 archived bytes that are gone, or don't match their digest, are refused at planning", async () => {
  const gone = await failedUpdates(db.pool, [newId()]);
  await db.pool.query(
    `UPDATE event_failure_event_t SET payload_storage = 'DELETED', payload_plain = NULL, payload_deleted_ts = now(),
       payload_deleted_reason = 'retention' WHERE host_id = $1`,
    [gone.hostId],
  );
  expect(await refusal(plan(gone.hostId, gone.failureIds))).toEqual({
    code: "PAYLOAD_UNAVAILABLE",
    details: { failureIds: gone.failureIds },
  });
  const torn = await failedUpdates(db.pool, [newId()]);
  const client = await db.pool.connect();
  try {
    await client.query("ALTER TABLE event_failure_event_t DISABLE TRIGGER ALL");
    await client.query("ALTER TABLE event_failure_event_t DROP CONSTRAINT event_failure_event_payload_ck");
    await client.query("UPDATE event_failure_event_t SET payload_plain = payload_plain || ' ' WHERE host_id = $1", [
      torn.hostId,
    ]);
  } finally {
    client.release();
  }
  expect((await refusal(plan(torn.hostId, torn.failureIds))).code).toBe("PAYLOAD_DIGEST_MISMATCH");
});

test("ER-PLN-04 an excluded type anywhere in the plan is EVENT_NOT_REPLAYABLE, an unregistered one UNSUPPORTED_EVENT_TYPE", async () => {
  const id = newId();
  const { hostId, failureIds } = await captureWithDefect(db.pool, [
    [account(id, 1, 1)],
    [account(id, 2, 2), note()],
    [account(id, 3, 3)],
  ]);
  const config = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "plan-config-")), "event-replay.yml");
  fs.writeFileSync(config, "excludedEventTypes: [NoteWrittenEvent]\n");
  process.env.EVENT_REPLAY_CONFIG = config;
  // The excluded member lies in the failure that the closure adds.
  expect(await refusal(plan(hostId, [failureIds[1] as string]))).toEqual({
    code: "EVENT_NOT_REPLAYABLE",
    details: { failureIds: [failureIds[0]] },
  });
  delete process.env.EVENT_REPLAY_CONFIG;
  const ledger = ledgerProjection();
  const forgotten = { ...ledger, registries: { ...ledger.registries, version: () => undefined } };
  expect((await refusal(plan(hostId, failureIds, {}, forgotten))).code).toBe("UNSUPPORTED_EVENT_TYPE");
  const [forbidden] = await insertFailures(db.pool, {
    hostId,
    ...LEDGER,
    members: [{ eventType: "NoteWrittenEvent" }],
    replayPolicy: "NOT_REPLAYABLE",
  });
  expect((await refusal(plan(hostId, [forbidden?.failureId as string]))).code).toBe("EVENT_NOT_REPLAYABLE");
});

test("ER-PLN-05 scopes come from the pinned metadata: graph roots, aggregates, or none for an unordered transaction", async () => {
  const [a, root] = [newId(), newId()];
  const node: OutboxMember = { type: "GraphNodePlacedEvent", root, revision: 1, data: { noteId: newId(), body: "b" } };
  const { hostId, failureIds } = await captureWithDefect(db.pool, [
    [account(a, 1, 1)],
    [account(a, 2, 2)],
    [node, note()],
    [note()],
  ]);
  const modes: string[] = [];
  const scopeCounts: number[] = [];
  for (const failureId of failureIds) {
    const made = await plan(hostId, [failureId]);
    modes.push(made.isolationScope.mode);
    scopeCounts.push(made.scopeCount);
  }
  expect(modes).toEqual(["AGGREGATE", "GRAPH_ROOT", "TRANSACTION_ONLY"]);
  expect(scopeCounts).toEqual([1, 1, 0]);
});

test("ER-PLN-08 a hole that no captured failure fills is refused with each missing version of each scope", async () => {
  const [a, root] = [newId(), newId()];
  const { hostId } = await captureWithDefect(db.pool, [[account(a, 1, 1)]]);
  const late = { eventType: "AccountUpdatedEvent", aggregateType: "Account", aggregateId: a };
  const [gap, rootGap] = await insertFailures(
    db.pool,
    { hostId, ...LEDGER, members: [{ ...late, version: 4 }] },
    {
      hostId,
      ...LEDGER,
      members: [
        { eventType: "GraphNodePlacedEvent", root, revision: 1 },
        { eventType: "GraphNodePlacedEvent", root, revision: 3 },
      ],
    },
  );
  expect(await refusal(plan(hostId, [gap?.failureId as string]))).toEqual({
    code: "REPLAY_GAP",
    details: {
      missing: [2, 3].map((version) => ({ scope: `Account:${a}`, version })),
      scopes: [`Account:${a}`],
      failureIds: [],
    },
  });
  const inner = await refusal(plan(hostId, [rootGap?.failureId as string]));
  expect(inner.details.missing).toEqual([{ scope: root, revision: 2 }]);
});

test("ER-PLN-22 a predecessor kept as evidence only never counts as satisfied, in a known and in an unknown scope", async () => {
  const [known, unknown] = [newId(), newId()];
  const { hostId } = await captureWithDefect(db.pool, [[account(known, 1, 1)]]);
  const member = (aggregateId: string, version: number) => ({
    eventType: "AccountUpdatedEvent",
    aggregateType: "Account",
    aggregateId,
    version,
  });
  for (const [aggregateId, first] of [
    [known, 2],
    [unknown, 1],
  ] as const) {
    const [evidence, after] = await insertFailures(
      db.pool,
      { hostId, ...LEDGER, members: [member(aggregateId, first)], executable: false },
      { hostId, ...LEDGER, members: [member(aggregateId, first + 1)] },
    );
    expect(await refusal(plan(hostId, [after?.failureId as string]))).toEqual({
      code: "REPLAY_GAP",
      details: {
        missing: [{ scope: `Account:${aggregateId}`, version: first, transactionId: evidence?.transactionId }],
        scopes: [`Account:${aggregateId}`],
        failureIds: [evidence?.failureId],
      },
    });
    expect((await refusal(plan(hostId, [evidence?.failureId as string]))).code).toBe("EVENT_NOT_REPLAYABLE");
  }
});

test("ER-PLN-07 what is no longer open can't be planned, and the refusal names it", async () => {
  const { hostId, failureIds } = await captureWithDefect(db.pool, [[note()], [note()]], hostOfPartition(4));
  const { waiveFailures } = await import("@/server/testing/failures");
  await waiveFailures(db.pool, hostId, [failureIds[0] as string]);
  expect(await refusal(plan(hostId, failureIds))).toEqual({
    code: "INVALID_REPLAY_STATE",
    details: { failureIds: [failureIds[0]] },
  });
});
