import { expect, test } from "vitest";
import { encodeAggregateScopeKey } from "@/server/event-replay/registry/domain/scopes";
import { newId } from "@/server/platform/ids";
import { append, cloudEvent, codeOf, deps, footprint, HOST, note, OTHER_HOST } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { insertFailure, insertRepair, runningRequest, type Sql } from "@/server/testing/replay-rows";
import { appendCommand } from "./append-command";
import { appendEvents } from "./append-events";

const db = testDatabase();
let n = 0;
const subject = () => `guarded-${++n}`;
const thing = (id: string, version = 1, fields = {}) =>
  cloudEvent({ subject: id, aggregateversion: version, data: { thingId: id }, ...fields });
const scope = (id: string) => ({ type: "AGGREGATE" as const, key: encodeAggregateScopeKey("Thing", id) });
type FailureScope = { readonly type: "AGGREGATE" | "GRAPH_ROOT"; readonly key: string };
const openFailure = (hostId: string, scopes: readonly FailureScope[], on: Sql = db.pool) =>
  insertFailure(on, hostId, {
    policy: scopes[0]?.type === "GRAPH_ROOT" ? "GRAPH_ROOT" : "AGGREGATE_VERSION",
    scopes: scopes.map(({ type, key }) => [type, key] as const),
  });
const decide = (repairId: string, fields: string) =>
  db.pool.query(
    `UPDATE event_repair_t SET decision_by = 'bob', decision_ts = now(), updated_ts = now(), ${fields}
     WHERE host_id = $1 AND repair_id = $2`,
    [HOST, repairId],
  );
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
  const failureId = await openFailure(HOST, [scope(id)]);
  const before = await footprint(db.pool);
  await expect(command(id)).rejects.toMatchObject({
    code: "AGGREGATE_PROJECTION_BLOCKED",
    details: { failureIds: [failureId] },
  });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-29 one blocked member scope rejects the whole transaction", async () => {
  const [free, blocked] = [subject(), subject()];
  await openFailure(HOST, [scope(blocked)]);
  const before = await footprint(db.pool);
  expect(await codeOf(append(deps(db.pool), [thing(free), note(), thing(blocked)]))).toBe(
    "AGGREGATE_PROJECTION_BLOCKED",
  );
  expect(await footprint(db.pool)).toEqual(before);
  expect(await codeOf(append(deps(db.pool), [thing(free), note()]))).toBe("NO_ERROR");
});

test("ER-CAP-29 a blocked aggregate is reported before a version conflict of the same command", async () => {
  const id = subject();
  await openFailure(HOST, [scope(id)]);
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
  const failureId = await openFailure(HOST, [scope(id)]);
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  const rejected = await insertRepair(db.pool, HOST, failureId);
  await decide(rejected, "status = 'REJECTED', completed_ts = now()");
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  const repairId = await insertRepair(db.pool, HOST, failureId);
  await expect(command(id)).rejects.toMatchObject({
    code: "AGGREGATE_REPAIR_REQUIRED",
    details: { failureIds: [failureId] },
  });
  await decide(repairId, "status = 'APPROVED', approved_by = 'bob', approved_ts = now()");
  expect(await codeOf(command(id))).toBe("AGGREGATE_REPAIR_REQUIRED");
});

test("ER-CAP-31 the same key on another host, another aggregate and another root pass the guard", async () => {
  const [id, root] = [subject(), newId()];
  await openFailure(HOST, [scope(id), { type: "GRAPH_ROOT", key: root }]);
  expect(await codeOf(command(id, OTHER_HOST))).toBe("NO_ERROR");
  expect(await codeOf(command(`${id}x`))).toBe("NO_ERROR");
  expect(await codeOf(append(deps(db.pool), [graph(newId(), 1)]))).toBe("NO_ERROR");
  expect(await codeOf(command(root))).toBe("NO_ERROR");
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-CAP-32 the guard covers GRAPH_ROOT scopes as well as AGGREGATE scopes", async () => {
  const root = newId();
  expect(await codeOf(append(deps(db.pool), [graph(root, 1)]))).toBe("NO_ERROR");
  await openFailure(HOST, [{ type: "GRAPH_ROOT", key: root }]);
  const before = await footprint(db.pool);
  expect(await codeOf(append(deps(db.pool), [graph(root, 2)]))).toBe("AGGREGATE_PROJECTION_BLOCKED");
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-28 the guard finds a failure by the byte-equal key of the shared encoder, whatever the id holds", async () => {
  for (const id of [`a:b ${subject()}`, `Ünïcode "quoted" \\ ${subject()}`, `{x,y} ${subject()}`, `NULL`, ` lead`]) {
    expect(await codeOf(command(id))).toBe("NO_ERROR");
    await openFailure(HOST, [scope(id)]);
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
    await openFailure(HOST, [scope(id)], capture);
    expect((await command(id)).events[0]?.aggregateVersion).toBe(2);
    await capture.query("COMMIT");
  } finally {
    capture.release(true);
  }
  expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
});

test("ER-CAP-34 the resolution by a replay unblocks the scope with its very commit, not before", async () => {
  const id = subject();
  const failureId = await openFailure(HOST, [scope(id)]);
  const requestId = await runningRequest(db.pool, HOST, { failures: [failureId] });
  const replay = await db.pool.connect();
  try {
    await replay.query("BEGIN");
    await replay.query(
      `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $3,
         resolution_code = 'RESOLVED_BY_EXACT_REPLAY' WHERE host_id = $1 AND failure_id = $2`,
      [HOST, failureId, requestId],
    );
    expect(await codeOf(command(id))).toBe("AGGREGATE_PROJECTION_BLOCKED");
    await replay.query("COMMIT");
  } finally {
    replay.release(true);
  }
  expect(await codeOf(command(id))).toBe("NO_ERROR");
});

test("ER-CAP-34 an ordered failure can't be waived, so no waiver unblocks its scope", async () => {
  const id = subject();
  const failureId = await openFailure(HOST, [scope(id)]);
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
  await openFailure(HOST, [scope(`${id}-unrelated`)]);
  expect(await codeOf(command(id))).toBe("NO_ERROR");
});

test("ER-CAP-29 posting a stored transaction again on a scope blocked since then is still answered as the duplicate it is", async () => {
  const event = thing(subject());
  const body = Buffer.from(JSON.stringify([event]));
  const first = await appendEvents(deps(db.pool), { hostId: HOST, body });
  await openFailure(HOST, [scope(event.subject as string)]);
  expect(await appendEvents(deps(db.pool), { hostId: HOST, body })).toEqual({ ...first, duplicate: true });
});
