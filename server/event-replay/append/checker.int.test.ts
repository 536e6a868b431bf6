import { beforeAll, expect, test } from "vitest";
import { installBarriers, releaseIfDrained, startDraining } from "@/server/event-replay/execution/barriers";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { append, cloudEvent, deps, HOST, note, REGISTRY_VERSION, testRegistries } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { GROUP, insertFailure, moveRequest, PROJECTION, runningRequest } from "@/server/testing/replay-rows";
import { checkConservation } from "./checker";

const db = testDatabase();
const LANE = 15;

/** Projects everything except what is named "broken", which the database refuses. */
const projection: ProjectionDefinition = {
  projectionName: "checked",
  consumerGroup: "checked-group",
  registries: testRegistries,
  tables: new Map(),
  handlerFor: () => ({
    kind: "statements",
    handle: async (tx, event) =>
      (await tx.query("SELECT 1 / $1::int AS one", [event.data.name === "broken" ? 0 : 1])).length,
  }),
};
const thing = (id: string, version: number, data: Record<string, unknown> = {}) =>
  cloudEvent({ type: "ThingRenamedEvent", subject: id, aggregateversion: version, data: { name: id, ...data } });
const rules = async () => [...new Set((await checkConservation(db.pool, projection)).map(({ rule }) => rule))];

beforeAll(async () => {
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, projection));
});

test("ER-APP-22 capture copies the pins of the append onto the failure and each of its members", async () => {
  const result = await append(deps(db.pool), [thing("pinned", 1, { name: "broken" }), note()]);
  await drainLane(db.pool, projection, LANE);
  const { rows } = await db.pool.query(
    `SELECT f.policy_registry_version AS of_failure, m.event_schema_version, m.policy_registry_version, m.repair_schema_version,
            m.payload_plain = o.event_bytes AS same_bytes
     FROM event_failure_transaction_t f JOIN event_failure_event_t m USING (host_id, failure_id)
     JOIN outbox_message_t o ON o.host_id = f.host_id AND o.id::text = m.event_id
     WHERE f.original_transaction_id = $1 ORDER BY m.event_ordinal`,
    [result.transactionId],
  );
  const pins = {
    of_failure: REGISTRY_VERSION,
    event_schema_version: "1",
    policy_registry_version: REGISTRY_VERSION,
    same_bytes: true,
  };
  expect(rows).toEqual([
    { ...pins, repair_schema_version: "thing-renamed-repair-v1" },
    { ...pins, repair_schema_version: null },
  ]);
});

test("ER-EXE-15 the checker finds every appended transaction projected once or captured once, and nothing else", async () => {
  for (let i = 0; i < 20; i++) {
    await append(deps(db.pool), [thing(`kept-${i}`, 1, i % 5 === 0 ? { name: "broken" } : {}), note()]);
  }
  expect(await rules()).toEqual([]);
  await drainLane(db.pool, projection, LANE);
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS n FROM event_failure_transaction_t WHERE projection_name = 'checked'",
  );
  expect(rows[0].n).toBe(5);
  expect(await rules()).toEqual([]);
});

test("ER-EXE-15 the checker names a transaction that progress passed without projecting or capturing it", async () => {
  const lost = await append(deps(db.pool), [thing("lost", 1)]);
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(
      "UPDATE consumer_offsets SET next_offset = next_offset + 1 WHERE group_id = $1 AND partition_id = $2",
      [projection.consumerGroup, LANE],
    );
    await client.query("COMMIT");
  } finally {
    client.release();
  }
  const found = await checkConservation(db.pool, projection);
  expect(found).toContainEqual({
    rule: "LOST",
    hostId: HOST,
    transactionId: lost.transactionId,
    partition: LANE,
    offset: lost.firstOffset,
  });
  expect(found.map(({ rule }) => rule)).toContain("RANGES_NOT_EXACT");
});

test("ER-ISO-16 the checker names an item or a failure that is done without a committed attempt, and only while that stands", async () => {
  const failureId = await insertFailure(db.pool, HOST);
  const requestId = await runningRequest(db.pool, HOST, { failures: [failureId] });
  const found = async () =>
    (await checkConservation(db.pool, { projectionName: PROJECTION, consumerGroup: GROUP })).map(({ rule }) => rule);
  const item = (status: string) =>
    db.pool.query("UPDATE event_replay_item_t SET status = $2 WHERE replay_request_id = $1", [requestId, status]);
  await item("RUNNING");
  expect(await found()).not.toContain("REPLAY_NOT_ONCE");
  await db.pool.query(
    `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $2,
       resolution_code = 'RESOLVED_BY_EXACT_REPLAY' WHERE failure_id = $1`,
    [failureId, requestId],
  );
  expect(await found()).toContain("REPLAY_NOT_ONCE");
  await item("SUCCEEDED");
  expect(await found()).toContain("REPLAY_NOT_ONCE");
  await db.pool.query(
    `INSERT INTO event_replay_attempt_t (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number, worker_id, fencing_token)
     VALUES ($1, gen_random_uuid(), $2, 0, 1, 'worker', 1)`,
    [HOST, requestId],
  );
  await db.pool.query(
    "UPDATE event_replay_attempt_t SET result = 'SUCCEEDED', projection_committed = true, completed_ts = clock_timestamp() WHERE replay_request_id = $1",
    [requestId],
  );
  expect(await found()).not.toContain("REPLAY_NOT_ONCE");
});

test("ER-ISO-07 the checker names a barrier whose request has ended, and at rest any that is up", async () => {
  const failureId = await insertFailure(db.pool, HOST);
  const requestId = await runningRequest(db.pool, HOST, { failures: [failureId] });
  const { projectionName, consumerGroup } = projection;
  const holder = { hostId: HOST, requestId, projection: { projectionName, consumerGroup }, partitionId: LANE };
  const scopes = [{ type: "AGGREGATE" as const, key: "Thing:left" }];
  await inTransaction(db.pool, "install", (tx) => installBarriers(tx, { ...holder, scopes, fencingToken: 1 }));
  const atRest = async () =>
    (await checkConservation(db.pool, projection, { atRest: true })).filter(({ rule }) => rule === "BARRIER_LEFT");
  expect(await rules()).not.toContain("BARRIER_LEFT");
  expect(await atRest()).toHaveLength(1);
  await moveRequest(db.pool, HOST, requestId, "FAILED");
  expect(await rules()).toContain("BARRIER_LEFT");
  await inTransaction(db.pool, "drain", (tx) => startDraining(tx, holder));
  await inTransaction(db.pool, "release", (tx) => releaseIfDrained(tx, holder));
  expect(await rules()).not.toContain("BARRIER_LEFT");
  expect(await atRest()).toEqual([]);
});

test("ER-ISO-07 the checker names parked work whose barrier is gone", async () => {
  const failureId = await insertFailure(db.pool, HOST);
  const requestId = await runningRequest(db.pool, HOST, { failures: [failureId] });
  const { projectionName, consumerGroup } = projection;
  const holder = { hostId: HOST, requestId, projection: { projectionName, consumerGroup }, partitionId: LANE };
  const scope = { type: "AGGREGATE" as const, key: "Thing:parked" };
  await inTransaction(db.pool, "install", (tx) => installBarriers(tx, { ...holder, scopes: [scope], fencingToken: 1 }));
  const { transactionId } = await append(deps(db.pool), [thing("parked", 1)]);
  const rulesOfParked = async () =>
    (await checkConservation(db.pool, projection)).filter((v) => v.transactionId === transactionId).map((v) => v.rule);
  expect(await drainLane(db.pool, projection, LANE)).toMatchObject({ parked: 1 });
  expect(await rulesOfParked()).toEqual([]);
  await inTransaction(db.pool, "drain", (tx) => startDraining(tx, holder));
  await db.pool.query(
    "UPDATE event_replay_barrier_t SET released_ts = now(), released_by = 'nobody', release_reason = 'too early' WHERE replay_request_id = $1",
    [requestId],
  );
  expect(await rulesOfParked()).toEqual(["PARKED_LOST"]);
});
