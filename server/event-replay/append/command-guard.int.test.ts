import { expect, test } from "vitest";
import { encodeAggregateScopeKey } from "@/server/event-replay/registry/domain/scopes";
import { newId } from "@/server/platform/ids";
import { append, cloudEvent, codeOf, deps, footprint, HOST, note, OTHER_HOST } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import {
  decideRepair,
  openFailure,
  proposeRepair,
  RESOLVE_FAILURE,
  runningReplay,
} from "@/server/testing/open-failure";
import { appendCommand } from "./append-command";
import { appendEvents } from "./append-events";

const db = testDatabase();
let n = 0;
const subject = () => `guarded-${++n}`;
const thing = (id: string, version = 1, fields = {}) =>
  cloudEvent({ subject: id, aggregateversion: version, data: { thingId: id }, ...fields });
const scope = (id: string) => ({ type: "AGGREGATE" as const, key: encodeAggregateScopeKey("Thing", id) });
const command = (id: string, hostId = HOST) =>
  appendCommand(deps(db.pool), {
    hostId,
    userId: null,
    changes: [{ eventType: "ThingCreatedEvent", aggregateType: "Thing", aggregateId: id, data: { thingId: id } }],
  });
const graph = (root: string, revision: number) =>
  note({ type: "GraphChangedEvent", rootinstanceid: root, instancegraphrevision: revision });

test("ER-CAP-29 a command on a blocked aggregate answers AGGREGATE_PROJECTION_BLOCKED with the failure and appends nothing", async () => {
  const id = subject();
  await command(id);
  const failureId = await openFailure(db.pool, HOST, [scope(id)]);
  const before = await footprint(db.pool);
  await expect(command(id)).rejects.toMatchObject({
    code: "AGGREGATE_PROJECTION_BLOCKED",
    details: { failureIds: [failureId] },
  });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-29 one blocked member scope rejects the whole transaction", async () => {
  const [free, blocked] = [subject(), subject()];
  await openFailure(db.pool, HOST, [scope(blocked)]);
  const before = await footprint(db.pool);
  expect(await codeOf(append(deps(db.pool), [thing(free), note(), thing(blocked)]))).toBe(
    "AGGREGATE_PROJECTION_BLOCKED",
  );
  expect(await footprint(db.pool)).toEqual(before);
  expect(await codeOf(append(deps(db.pool), [thing(free), note()]))).toBe("NO_ERROR");
});

test("ER-CAP-29 a blocked aggregate is reported before a version conflict of the same command", async () => {
  const id = subject();
  await openFailure(db.pool, HOST, [scope(id)]);
  expect(await codeOf(append(deps(db.pool), [thing(id, 1)]))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  const stale = appendCommand(deps(db.pool), {
    hostId: HOST,
    userId: null,
    changes: [
      {
        eventType: "ThingCreatedEvent",
        aggregateType: "Thing",
        aggregateId: id,
        expectedVersion: 7,
        data: { thingId: id },
      },
    ],
  });
  expect(await codeOf(stale)).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-CAP-30 a proposed or approved repair turns the refusal into AGGREGATE_REPAIR_REQUIRED, a rejected one doesn't", async () => {
  const id = subject();
  const failureId = await openFailure(db.pool, HOST, [scope(id)]);
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  const rejected = await proposeRepair(db.pool, HOST, failureId);
  await decideRepair(db.pool, HOST, rejected, "REJECTED");
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  const repairId = await proposeRepair(db.pool, HOST, failureId);
  await expect(command(id)).rejects.toMatchObject({
    code: "AGGREGATE_REPAIR_REQUIRED",
    details: { failureIds: [failureId] },
  });
  await decideRepair(db.pool, HOST, repairId, "APPROVED");
  expect(await codeOf(command(id))).toBe("AGGREGATE_REPAIR_REQUIRED");
});

test("ER-CAP-31 the same key on another host, another aggregate and another root pass the guard", async () => {
  const [id, root] = [subject(), newId()];
  await openFailure(db.pool, HOST, [scope(id), { type: "GRAPH_ROOT", key: root }]);
  expect(await codeOf(command(id, OTHER_HOST))).toBe("NO_ERROR");
  expect(await codeOf(command(`${id}x`))).toBe("NO_ERROR");
  expect(await codeOf(append(deps(db.pool), [graph(newId(), 1)]))).toBe("NO_ERROR");
  expect(await codeOf(command(root))).toBe("NO_ERROR");
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-CAP-32 the guard covers GRAPH_ROOT scopes as well as AGGREGATE scopes", async () => {
  const root = newId();
  expect(await codeOf(append(deps(db.pool), [graph(root, 1)]))).toBe("NO_ERROR");
  await openFailure(db.pool, HOST, [{ type: "GRAPH_ROOT", key: root }]);
  const before = await footprint(db.pool);
  expect(await codeOf(append(deps(db.pool), [graph(root, 2)]))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-28 the guard finds a failure by the byte-equal key of the shared encoder, whatever the id holds", async () => {
  for (const id of [`a:b ${subject()}`, `Ünïcode "quoted" \\ ${subject()}`, `{x,y} ${subject()}`, `NULL`, ` lead`]) {
    expect(await codeOf(command(id))).toBe("NO_ERROR");
    await openFailure(db.pool, HOST, [scope(id)]);
    expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
    const { rows } = await db.pool.query("SELECT 1 FROM event_store_t WHERE host_id = $1 AND aggregate_id = $2", [
      HOST,
      id,
    ]);
    expect(rows).toHaveLength(1);
  }
});

test("ER-CAP-33 the guard is eventual: version N+1 may be appended before the capture of N commits, and only until then", async () => {
  const id = subject();
  await command(id);
  const capture = await db.pool.connect();
  try {
    await capture.query("BEGIN");
    const failureId = newId();
    await capture.query(
      `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
         original_transaction_id, content_fingerprint, event_count, replay_policy, cause_key)
       VALUES ($1, $2::uuid, 'p', 'g', 'DATABASE', $2::uuid::text, repeat('a', 64), 1, 'AGGREGATE_VERSION', 'c')`,
      [HOST, failureId],
    );
    await capture.query(
      `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, source_processor,
         source_partition, source_offset, payload_format, payload_digest, payload_storage, payload_plain, decrypted_payload_bytes)
       VALUES ($1, $2::uuid, 0, $2::uuid::text, 't', 'DATABASE', 0, 1, 'f', encode(sha256('x'), 'hex'), 'DATABASE_PLAIN', 'x', 1)`,
      [HOST, failureId],
    );
    await capture.query(
      `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
       VALUES ($1, $2, 'p', 'g', 'AGGREGATE', $3)`,
      [HOST, failureId, scope(id).key],
    );
    expect((await command(id)).events[0]?.aggregateVersion).toBe(2);
    await capture.query("COMMIT");
  } finally {
    capture.release(true);
  }
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-CAP-34 the resolution by a replay unblocks the scope with its very commit, not before", async () => {
  const id = subject();
  const failureId = await openFailure(db.pool, HOST, [scope(id)]);
  const requestId = await runningReplay(db.pool, HOST, failureId);
  const replay = await db.pool.connect();
  try {
    await replay.query("BEGIN");
    await replay.query(RESOLVE_FAILURE, [HOST, failureId, requestId]);
    expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
    await replay.query("COMMIT");
  } finally {
    replay.release(true);
  }
  expect(await codeOf(command(id))).toBe("NO_ERROR");
});

test("ER-CAP-34 an ordered failure can't be waived, so no waiver unblocks its scope", async () => {
  const id = subject();
  const failureId = await openFailure(db.pool, HOST, [scope(id)]);
  const waive = db.pool.query(
    "UPDATE event_failure_transaction_t SET status = 'WAIVED', resolved_ts = now() WHERE host_id = $1 AND failure_id = $2",
    [HOST, failureId],
  );
  await expect(waive).rejects.toMatchObject({ code: "EA006" });
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-DEP-05 the guard is inert where nothing is captured: open failures alone decide, no deployment order", async () => {
  const id = subject();
  expect(await codeOf(command(id))).toBe("NO_ERROR");
  await openFailure(db.pool, HOST, [scope(`${id}-unrelated`)]);
  expect(await codeOf(command(id))).toBe("NO_ERROR");
});

test("ER-CAP-29 posting a stored transaction again on a scope blocked since then is still answered as the duplicate it is", async () => {
  const event = thing(subject());
  const body = Buffer.from(JSON.stringify([event]));
  const first = await appendEvents(deps(db.pool), { hostId: HOST, body });
  await openFailure(db.pool, HOST, [scope(event.subject as string)]);
  expect(await appendEvents(deps(db.pool), { hostId: HOST, body })).toEqual({ ...first, duplicate: true });
});
