import { expect, test } from "vitest";
import { buildRegistries } from "@/server/event-replay/registry/domain/registry";
import { newId } from "@/server/platform/ids";
import {
  append,
  cloudEvent,
  codeOf,
  deps,
  footprint,
  HOST,
  note,
  OTHER_HOST,
  REGISTRY_VERSION,
  rulesOf,
  testRegistry,
} from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { appendCommand } from "./append-command";
import { appendEvents } from "./append-events";

const db = testDatabase();
let n = 0;
const subject = () => `thing-${++n}`;
const thing = (id: string, version: unknown, fields = {}) =>
  cloudEvent({ subject: id, aggregateversion: version, data: { thingId: id }, ...fields });
const graph = (root: string, revision: number) =>
  note({ type: "GraphChangedEvent", rootinstanceid: root, instancegraphrevision: revision });
const post = (body: unknown, hostId = HOST) =>
  appendEvents(deps(db.pool), { hostId, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) });

test("ER-APP-06 store, outbox and notification of one transaction appear together with adjacent offsets", async () => {
  const id = subject();
  const result = await append(deps(db.pool), [thing(id, 1), thing(id, 2), note()]);
  const { rows } = await db.pool.query(
    `SELECT o.c_offset, o.transaction_ordinal, o.transaction_count, n.status, n.event_offset, n.event_partition,
            e.metadata ->> 'time' AS time, e.payload ->> 'thingId' AS thing, e.metadata ? 'data' AS doubled
     FROM outbox_message_t o JOIN notification_t n USING (host_id, id) JOIN event_store_t e USING (host_id, id)
     WHERE o.transaction_id = $1 ORDER BY o.c_offset`,
    [result.transactionId],
  );
  expect(rows.map((r) => [r.c_offset - result.firstOffset, r.transaction_ordinal, r.transaction_count])).toEqual([
    [0, 0, 3],
    [1, 1, 3],
    [2, 2, 3],
  ]);
  expect(rows.every((r) => r.status === "PENDING" && r.event_offset === r.c_offset && r.event_partition === 15)).toBe(
    true,
  );
  expect(rows[0]).toMatchObject({ time: "2026-01-02T03:04:05.123456789Z", thing: id, doubled: false });
});

test("ER-APP-07 concurrent appends of one host give one gapless order with every transaction's members adjacent", async () => {
  const results = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      append(
        deps(db.pool),
        Array.from({ length: (i % 4) + 1 }, () => note()),
      ),
    ),
  );
  const { rows } = await db.pool.query<{ transaction_id: string; c_offset: number; transaction_ordinal: number }>(
    "SELECT transaction_id, c_offset, transaction_ordinal FROM outbox_message_t WHERE partition_id = 15 ORDER BY c_offset",
  );
  expect(rows.map((row) => row.c_offset)).toEqual(rows.map((_, i) => i + 1));
  for (const { transactionId, firstOffset, eventIds } of results) {
    const members = rows.filter((row) => row.transaction_id === transactionId);
    expect(members.map((row) => [row.c_offset, row.transaction_ordinal])).toEqual(
      eventIds.map((_, i) => [firstOffset + i, i]),
    );
  }
});

test("ER-APP-16 a refused append leaves no event, outbox, notification, failure and no consumed offset", async () => {
  const [id, root] = [subject(), newId()];
  await append(deps(db.pool), [thing(id, 1), graph(root, 1)]);
  const before = await footprint(db.pool);
  expect(await rulesOf(append(deps(db.pool), [thing(id, 3)]))).toEqual(["/aggregateversion VERSION_NOT_NEXT"]);
  expect(await rulesOf(append(deps(db.pool), [note(), thing(id, 1)]))).toEqual(["/aggregateversion VERSION_NOT_NEXT"]);
  expect(await rulesOf(append(deps(db.pool), [graph(root, 2), graph(root, 3)]))).toEqual([
    "/instancegraphrevision REVISION_NOT_NEXT",
  ]);
  expect(await rulesOf(append(deps(db.pool), [graph(newId(), 2)]))).toEqual([
    "/instancegraphrevision REVISION_NOT_NEXT",
  ]);
  expect(await codeOf(append(deps(db.pool), [thing(subject(), 1, { type: "NobodyKnowsEvent" })]))).toBe(
    "UNSUPPORTED_EVENT_TYPE",
  );
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-16 a refusal by the database after the writes began gives back every row and the reserved offsets", async () => {
  const before = await footprint(db.pool);
  await db.pool.query(
    `CREATE FUNCTION refuse_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT max(next_offset) > 1 FROM event_offset_counter_t) THEN
         RAISE EXCEPTION USING ERRCODE = '23514', MESSAGE = 'secret-value';
       END IF; RETURN NULL; END $$;
     CREATE CONSTRAINT TRIGGER refuse_note AFTER INSERT ON notification_t DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION refuse_note()`,
  );
  try {
    expect(await rulesOf(append(deps(db.pool), [note(), note()]))).toEqual([" REFUSED_BY_DATABASE"]);
  } finally {
    await db.pool.query("DROP TRIGGER refuse_note ON notification_t; DROP FUNCTION refuse_note");
  }
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-17 a transaction is judged whole before the offset counter is touched", async () => {
  const holder = await db.pool.connect();
  const id = subject();
  await append(deps(db.pool), [thing(id, 1)]);
  try {
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM event_offset_counter_t FOR UPDATE");
    // Whoever reserved first would wait here for the counter; a refusal must come while it is held.
    expect(await codeOf(append(deps(db.pool), [note(), thing(id, 9)]))).toBe("INVALID_REQUEST");
    expect(await codeOf(append(deps(db.pool), [note(), thing(subject(), 1, { type: "NobodyKnowsEvent" })]))).toBe(
      "UNSUPPORTED_EVENT_TYPE",
    );
  } finally {
    holder.release(true);
  }
});

test("ER-APP-05 an identical redelivery is a no-op that answers the first result, other content under a stored id is refused", async () => {
  const event = thing(subject(), 1);
  const first = await append(deps(db.pool), [event]);
  const before = await footprint(db.pool);
  expect(await append(deps(db.pool), [event])).toEqual({ ...first, duplicate: true });
  expect(await rulesOf(append(deps(db.pool), [{ ...event, data: { thingId: "x" } }]))).toEqual([
    "/id DUPLICATE_EVENT_ID",
  ]);
  expect(await rulesOf(append(deps(db.pool), [event, note()]))).toEqual([
    "/id STORED_IN_ANOTHER_TRANSACTION",
    "/id TRANSACTION_PARTLY_STORED",
  ]);
  expect(await rulesOf(append(deps(db.pool), [note({ id: event.id }), note({ id: event.id })]))).toEqual([
    "/id DUPLICATE_EVENT_ID",
  ]);
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-05 members of two stored transactions, posted as one, are no redelivery of either", async () => {
  const [a, b, c, d] = [note(), note(), note(), note()];
  const first = await post([a, b]);
  await post([c, d]);
  const before = await footprint(db.pool);
  expect(await rulesOf(post([a, d]))).toEqual(["/id STORED_IN_ANOTHER_TRANSACTION"]);
  expect(await rulesOf(post([c, b]))).toEqual(["/id STORED_IN_ANOTHER_TRANSACTION"]);
  expect(await post([a, b])).toEqual({ ...first, duplicate: true });
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-05 the same event id may exist on another host, and a used transaction id is refused", async () => {
  const event = note();
  await append(deps(db.pool), [event]);
  expect(await codeOf(append(deps(db.pool), [{ ...event, host: OTHER_HOST }]))).toBe("NO_ERROR");
  const transactionId = newId();
  await append(deps(db.pool), [note()], transactionId);
  expect(await rulesOf(append(deps(db.pool), [note()], transactionId))).toEqual([
    "/transactionid TRANSACTION_ID_REUSED",
  ]);
});

test("ER-APP-05 two appends of one event id at the same moment end in one append and one coded refusal or duplicate", async () => {
  for (let i = 0; i < 10; i++) {
    const id = newId();
    const bodies = [thing(subject(), 1, { id }), thing(subject(), 1, { id })];
    const codes = await Promise.all(bodies.map((event) => codeOf(append(deps(db.pool), [event]))));
    expect(codes.sort()).toEqual(["INVALID_REQUEST", "NO_ERROR"]);
  }
});

test("ER-APP-14 the subject is the aggregate id, a disagreeing aggregateId extension is refused", async () => {
  const id = subject();
  expect(await rulesOf(post([thing(id, 1, { aggregateId: "other" })]))).toEqual([
    "/aggregateId AGGREGATE_ID_CONTRADICTS_SUBJECT",
  ]);
  expect(await codeOf(post([thing(id, 1, { aggregateId: id })]))).toBe("NO_ERROR");
  const { rows } = await db.pool.query(
    "SELECT aggregate_type, aggregate_id FROM outbox_message_t WHERE aggregate_id = $1",
    [id],
  );
  expect(rows).toEqual([{ aggregate_type: "Thing", aggregate_id: id }]);
});

test("ER-APP-20 a successful append pins eventschema, replaypolicy and repairschema into the stored CloudEvent", async () => {
  const [created, renamed] = [
    thing(subject(), 1),
    thing(subject(), 1, { type: "ThingRenamedEvent", data: { name: "a" } }),
  ];
  await append(deps(db.pool), [created, renamed]);
  const { rows } = await db.pool.query<{ event: Record<string, unknown> }>(
    `SELECT convert_from(event_bytes, 'UTF8')::jsonb AS event FROM outbox_message_t WHERE id = ANY ($1) ORDER BY c_offset`,
    [[created.id, renamed.id]],
  );
  const pins = rows.map(({ event }) => [event.eventschema, event.replaypolicy, event.repairschema]);
  expect(pins).toEqual([
    ["1", REGISTRY_VERSION, undefined],
    ["1", REGISTRY_VERSION, "thing-renamed-repair-v1"],
  ]);
});

test("ER-APP-21 the pins are columns of both the store and the outbox", async () => {
  const event = thing(subject(), 1, { type: "ThingRenamedEvent", data: { name: "a" } });
  await append(deps(db.pool), [event]);
  for (const table of ["event_store_t", "outbox_message_t"]) {
    const { rows } = await db.pool.query(
      `SELECT event_schema_version, policy_registry_version, repair_schema_version FROM ${table} WHERE id = $1`,
      [event.id],
    );
    expect(rows).toEqual([
      {
        event_schema_version: "1",
        policy_registry_version: REGISTRY_VERSION,
        repair_schema_version: "thing-renamed-repair-v1",
      },
    ]);
  }
});

test("ER-APP-23 new appends are pinned to the current version while an older event keeps its pin and is still recognised", async () => {
  const [older, current] = [testRegistry("event-replay-policy-v2"), testRegistry("event-replay-policy-v3")];
  const event = thing(subject(), 1, { type: "ThingRenamedEvent", data: { name: "a" } });
  await append(deps(db.pool, buildRegistries(older, [])), [event]);
  const both = deps(db.pool, buildRegistries(current, [older]));
  expect(await append(both, [event])).toMatchObject({ duplicate: true });
  const next = thing(event.subject as string, 2);
  await append(both, [next]);
  const { rows } = await db.pool.query(
    "SELECT policy_registry_version AS version FROM outbox_message_t WHERE id = ANY ($1) ORDER BY c_offset",
    [[event.id, next.id]],
  );
  expect(rows.map((row) => row.version)).toEqual(["event-replay-policy-v2", "event-replay-policy-v3"]);
});

test("ER-APP-26 an unknown event type or schema version is refused before anything is written", async () => {
  const before = await footprint(db.pool);
  await expect(post([thing(subject(), 1, { type: "NobodyKnowsEvent" })])).rejects.toMatchObject({
    code: "UNSUPPORTED_EVENT_TYPE",
    details: { errors: [{ field: "/type", rule: "UNKNOWN_EVENT_TYPE", member: 0 }] },
  });
  expect(await codeOf(post([thing(subject(), 1, { eventschema: "2" })]))).toBe("UNSUPPORTED_EVENT_TYPE");
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-48 an event over 4 MiB or a transaction over 16 MiB is refused before any write, one just below is stored", async () => {
  const before = await footprint(db.pool);
  const big = (bytes: number) => note({ data: { text: "x".repeat(bytes) } });
  const MiB = 1024 * 1024;
  await expect(post([big(4 * MiB)])).rejects.toMatchObject({
    code: "REPLAY_LIMIT_EXCEEDED",
    details: { errors: [{ field: "", rule: "PAYLOAD_TOO_LARGE" }] },
  });
  expect(await rulesOf(post([1, 2, 3, 4, 5].map(() => big(3.5 * MiB))))).toEqual([" TRANSACTION_TOO_LARGE"]);
  expect(await footprint(db.pool)).toEqual(before);
  expect(await codeOf(post([big(4 * MiB - 1024)]))).toBe("NO_ERROR");
});

test("ER-VAL-01 members of two hosts are refused though each would be valid alone", async () => {
  const [ours, theirs] = [thing(subject(), 1), thing(subject(), 1, { host: OTHER_HOST })];
  const before = await footprint(db.pool);
  expect(await rulesOf(append(deps(db.pool), [ours, theirs]))).toEqual(["/host MIXED_HOST"]);
  expect(await codeOf(post([ours, theirs]))).toBe("AUTHORIZATION_DENIED");
  expect(await footprint(db.pool)).toEqual(before);
  expect(await codeOf(append(deps(db.pool), [ours]))).toBe("NO_ERROR");
  expect(await codeOf(append(deps(db.pool), [theirs]))).toBe("NO_ERROR");
});

test("ER-APP-18 interactive commands take the next versions under the lock, so concurrent ones never collide", async () => {
  const id = subject();
  const run = () =>
    appendCommand(deps(db.pool), {
      hostId: HOST,
      userId: null,
      changes: [{ eventType: "ThingCreatedEvent", aggregateType: "Thing", aggregateId: id, data: { thingId: id } }],
    });
  const results = await Promise.all(Array.from({ length: 12 }, run));
  const versions = results.map((result) => result.events[0]?.aggregateVersion).sort((a, b) => (a ?? 0) - (b ?? 0));
  expect(versions).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
});

test("ER-APP-16 a command that expects another version than the stored one appends nothing", async () => {
  const id = subject();
  const change = { eventType: "ThingCreatedEvent", aggregateType: "Thing", aggregateId: id, data: { thingId: id } };
  const run = (expectedVersion: number) =>
    appendCommand(deps(db.pool), { hostId: HOST, userId: null, changes: [{ ...change, expectedVersion }] });
  expect((await run(0)).events[0]?.aggregateVersion).toBe(1);
  const before = await footprint(db.pool);
  expect(await rulesOf(run(0))).toEqual(["/aggregateVersion VERSION_CONFLICT"]);
  expect(await rulesOf(run(2))).toEqual(["/aggregateVersion VERSION_CONFLICT"]);
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-APP-16 a body that is no array of events, or whose host isn't the caller's, changes nothing and echoes nothing", async () => {
  const before = await footprint(db.pool);
  const canary = "canary-7f3a";
  const bodies = [
    "",
    "{",
    `{"${canary}":1}`,
    "[]",
    `[1,"${canary}"]`,
    `[{"id":"${canary}"}]`,
    `[{"a":1,"a":"${canary}"}]`,
  ];
  for (const body of bodies) {
    const error = await post(body).catch((thrown) => thrown);
    expect(error.code).toBe("INVALID_REQUEST");
    expect(JSON.stringify(error.details)).not.toContain(canary);
  }
  expect(await codeOf(post([note()], OTHER_HOST))).toBe("AUTHORIZATION_DENIED");
  expect(await footprint(db.pool)).toEqual(before);
});
