import { expect, test } from "vitest";
import { LiveProjector } from "@/server/event-replay/live/live-projector";
import { OUTBOX_TOPIC_ID } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { append, cloudEvent, codeOf, deps, HOST, note, testRegistries } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { checkConservation } from "./checker";

const db = testDatabase();

/** Each projected event is one row of its own, so a transaction projected twice would break the key. */
const projection: ProjectionDefinition = {
  projectionName: "conserved",
  consumerGroup: "conserved-group",
  registries: testRegistries,
  tables: new Map(),
  handlerFor: () => ({
    kind: "statements",
    handle: (tx, event) =>
      tx.execute("INSERT INTO seen_t (event_id, n) VALUES ($1, $2)", [event.eventId, event.data.bad === true ? -1 : 1]),
  }),
};

test("ER-EXE-15 with 8 appenders, rollbacks and killed connections every appended transaction is projected once or captured once", async () => {
  await db.pool.query("CREATE TABLE seen_t (event_id uuid PRIMARY KEY, n int CHECK (n > 0))");
  await db.pool.query(
    `CREATE FUNCTION unlucky() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_sleep(random() * 0.003);
       IF random() < 0.05 THEN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = 'injected rollback'; END IF;
       RETURN NULL; END $$;
     CREATE CONSTRAINT TRIGGER unlucky AFTER INSERT ON outbox_message_t DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION unlucky()`,
  );
  const projectors = [1, 2].map(
    () => new LiveProjector(db.createPool({ max: 6 }), projection, { databaseUrl: db.url, lanes: 2, pollMs: 50 }),
  );
  for (const projector of projectors) await projector.start();
  const appenders = db.createPool({ max: 8 });
  const killer = db.createPool({ max: 1 });
  let running = true;
  const kills = (async () => {
    while (running) {
      await killer.query(
        `SELECT pg_sleep(0.03), (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
             AND application_name LIKE 'event-admin:%' AND application_name <> 'event-admin:test'
           ORDER BY random() LIMIT 1)`,
      );
    }
  })();
  const hosts = [HOST, ...["0", "7", "c"].map((digit) => HOST.slice(0, -1) + digit)];
  const codes = await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      const own: string[] = [];
      for (let round = 0; round < 20; round++) {
        const host = hosts[(worker + round) % hosts.length] as string;
        const subject = `w${worker}-r${round}`;
        const bad = round % 7 === 3;
        const first = cloudEvent({ host, subject, data: { thingId: subject, bad } });
        own.push(await codeOf(append(deps(appenders), [first, note({ host }), note({ host })])));
      }
      return own;
    }),
  );
  running = false;
  await kills;
  const caughtUp = async () => {
    const { rows } = await db.pool.query<{ behind: number }>(
      `SELECT count(*)::int AS behind FROM event_offset_counter_t c
       LEFT JOIN consumer_offsets p ON p.partition_id = c.partition_id AND p.group_id = $1 AND p.topic_id = $2
       WHERE c.next_offset > coalesce(p.next_offset, 1)`,
      [projection.consumerGroup, OUTBOX_TOPIC_ID],
    );
    return rows[0]?.behind === 0;
  };
  await expect.poll(caughtUp, { timeout: 60_000, interval: 100 }).toBe(true);
  for (const projector of projectors) await projector.stop();
  expect(codes.flat().filter((code) => code === "NO_ERROR").length).toBeGreaterThan(0);
  expect(codes.flat().filter((code) => code !== "NO_ERROR").length).toBeGreaterThan(0);
  expect(await checkConservation(db.pool, projection)).toEqual([]);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM outbox_message_t) AS appended, (SELECT count(*)::int FROM seen_t) AS projected,
            (SELECT coalesce(sum(event_count), 0)::int FROM event_failure_transaction_t) AS captured`,
  );
  expect(rows[0].projected + rows[0].captured).toBe(rows[0].appended);
  expect(rows[0].captured).toBeGreaterThan(0);
}, 180_000);
