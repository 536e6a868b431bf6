import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { PolicyRegistries, PolicyRegistry } from "@/server/event-replay/registry/domain/policy";
import { buildRegistry, RegistryError } from "@/server/event-replay/registry/domain/registry";
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
  testRegistry,
} from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { checkConservation } from "./checker";
import { importEvents } from "./import-events";

const db = testDatabase();
const projection = { projectionName: "portal-query", consumerGroup: "user-query-group" };

async function withTrigger(table: string, body: string, work: () => Promise<void>): Promise<void> {
  await db.pool.query(
    `CREATE FUNCTION injected() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$;
     CREATE TRIGGER injected AFTER INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION injected()`,
  );
  try {
    await work();
  } finally {
    await db.pool.query(`DROP TRIGGER injected ON ${table}; DROP FUNCTION injected()`);
  }
}

test("ER-APP-06 an error between the store insert and the outbox insert leaves zero rows in both", async () => {
  const before = await footprint(db.pool);
  for (const table of ["event_store_t", "outbox_message_t", "notification_t"]) {
    await withTrigger(table, "RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = 'injected';", async () => {
      expect(await codeOf(append(deps(db.pool), [note(), note()]))).toBe("XX000");
    });
    expect(await footprint(db.pool)).toEqual(before);
  }
  expect(await codeOf(append(deps(db.pool), [note(), note()]))).toBe("NO_ERROR");
});

test("ER-APP-06 an appender killed at each of its writes leaves nothing and consumes no offset", async () => {
  const before = await footprint(db.pool);
  for (const table of ["event_store_t", "outbox_message_t", "notification_t"]) {
    await withTrigger(table, "PERFORM pg_terminate_backend(pg_backend_pid());", async () => {
      expect(await codeOf(append(deps(db.pool), [note(), note()]))).not.toBe("NO_ERROR");
    });
    expect(await footprint(db.pool)).toEqual(before);
  }
});

test("ER-APP-09 a reader polling by offset never sees a part of a transaction nor a row that appears behind it", async () => {
  const appenders = 8;
  const rounds = 25;
  const hosts = [HOST, HOST.replace(/5c5f$/, "5c4f"), HOST.replace(/dc5f$/, "dc3f")];
  const pool = db.createPool({ max: appenders + 2 });
  const killer = db.createPool({ max: 1 });
  let running = true;
  const seen: { transaction_id: string; transaction_ordinal: number; transaction_count: number; c_offset: number }[] =
    [];
  const problems: string[] = [];
  await db.pool.query(
    `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_sleep(random() * 0.004);
       IF random() < 0.1 THEN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = 'injected rollback'; END IF;
       RETURN NULL; END $$;
     CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON notification_t DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION slow_commit()`,
  );
  const { rows: start } = await db.pool.query<{ next_offset: number }>(
    "SELECT next_offset FROM event_offset_counter_t WHERE partition_id = 15",
  );
  const reader = (async () => {
    let next = start[0]?.next_offset ?? 1;
    for (let last = false; !last; ) {
      last = !running;
      const { rows } = await db.pool.query<(typeof seen)[number]>(
        `SELECT transaction_id, transaction_ordinal, transaction_count, c_offset FROM outbox_message_t
         WHERE partition_id = 15 AND c_offset >= $1 ORDER BY c_offset`,
        [next],
      );
      for (const row of rows) {
        if (row.c_offset !== next) problems.push(`hole before ${row.c_offset}`);
        next = row.c_offset + 1;
      }
      for (let i = 0; i < rows.length; ) {
        const first = rows[i] as (typeof seen)[number];
        const members = rows.slice(i, i + first.transaction_count);
        const whole = members.every(
          (m, ordinal) => m.transaction_id === first.transaction_id && m.transaction_ordinal === ordinal,
        );
        if (!whole || members.length !== first.transaction_count) problems.push(`partial at ${first.c_offset}`);
        i += first.transaction_count;
      }
      seen.push(...rows);
    }
  })();
  const kills = (async () => {
    while (running) {
      await killer.query(
        `SELECT pg_sleep(0.02), (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'event-admin:append' AND state <> 'idle'
           ORDER BY random() LIMIT 1)`,
      );
    }
  })();
  let appended = 0;
  let refused = 0;
  await Promise.all(
    Array.from({ length: appenders }, async (_, worker) => {
      for (let round = 0; round < rounds; round++) {
        const host = hosts[(worker + round) % hosts.length] as string;
        const events = Array.from({ length: 1 + ((worker + round) % 5) }, () => note({ host }));
        const code = await codeOf(append(deps(pool), events));
        if (code === "NO_ERROR") appended++;
        else refused++;
      }
    }),
  );
  running = false;
  await Promise.all([reader, kills]);
  await db.pool.query("DROP TRIGGER slow_commit ON notification_t; DROP FUNCTION slow_commit()");
  expect(problems).toEqual([]);
  expect(refused).toBeGreaterThan(0);
  expect(new Set(seen.map((row) => row.transaction_id)).size).toBeGreaterThanOrEqual(appended);
  expect(await checkConservation(db.pool, projection)).toEqual([]);
}, 120_000);

test("ER-APP-07 concurrent appends over several partitions and aggregates neither deadlock nor reorder an aggregate", async () => {
  const pool = db.createPool({ max: 8 });
  const ids = ["a", "b", "c"].map((name) => `crossed-${name}`);
  const codes = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const host = i % 2 === 0 ? HOST : OTHER_HOST;
      const order = i % 3 === 0 ? ids : [...ids].reverse();
      const events = order.map((id) =>
        cloudEvent({ host, subject: `${id}-${i}`, aggregateversion: 1, data: { thingId: id } }),
      );
      return codeOf(append(deps(pool), events));
    }),
  );
  expect(new Set(codes)).toEqual(new Set(["NO_ERROR"]));
  expect(await checkConservation(db.pool, projection)).toEqual([]);
});

test("ER-APP-45 with a broken registry every append is refused, no offset is reserved and no partial row stays", async () => {
  const sound = testRegistry();
  const broken = (change: Partial<PolicyRegistry>): PolicyRegistries => {
    const current = { ...sound, ...change };
    return { current, all: [current], version: () => current };
  };
  const registries = [
    broken({ validators: new Map() }),
    broken({
      find: () => {
        throw new Error("canary");
      },
    }),
    broken({
      validators: new Map([
        [
          "PORTAL_OBJECT_V1",
          () => {
            throw new Error("canary");
          },
        ],
      ]),
    }),
    broken({ find: () => undefined }),
  ];
  const before = await footprint(db.pool);
  for (const registry of registries) {
    const error = await append(deps(db.pool, registry), [note(), note()]).catch((thrown) => thrown);
    expect(["INVALID_REQUEST", "UNSUPPORTED_EVENT_TYPE"]).toContain(error.code);
    expect(JSON.stringify(error.details)).not.toContain("canary");
  }
  const folder = await mkdtemp(path.join(tmpdir(), "broken-"));
  await writeFile(path.join(folder, "a.ndjson"), JSON.stringify(note()));
  for (const registry of registries) {
    expect(await importEvents(deps(db.pool, registry), [path.join(folder, "a.ndjson")])).toMatchObject({
      kind: "REFUSED",
    });
  }
  expect(await footprint(db.pool)).toEqual(before);
  const twice = [...sound.entries, ...sound.entries.slice(0, 1)];
  const build = () =>
    buildRegistry({ version: "v", entries: twice, validators: sound.validators, repairSchemas: sound.repairSchemas });
  expect(build).toThrow(RegistryError);
});

test("ER-APP-16 no value of a refused event reaches the error, whatever refuses it", async () => {
  const canary = "canary-51c2";
  const failing = [
    append(deps(db.pool), [note({ type: canary })]),
    append(deps(db.pool), [cloudEvent({ subject: canary, aggregateversion: 1, aggregatetype: canary })]),
    append(deps(db.pool), [
      note({ id: newId(), nonce: "99999999999999999999", data: { [canary]: canary }, transactionid: newId() }),
    ]),
  ];
  for (const work of failing) {
    const error = await work.then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).not.toBeNull();
    expect(`${error.message} ${JSON.stringify(error.details ?? null)}`).not.toContain(canary);
  }
});
