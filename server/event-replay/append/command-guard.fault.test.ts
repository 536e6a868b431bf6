import { expect, test } from "vitest";
import { append, cloudEvent, codeOf, deps, footprint, HOST, note } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { appendCommand } from "./append-command";

const db = testDatabase();
const command = (id: string) =>
  appendCommand(deps(db.pool), {
    hostId: HOST,
    userId: null,
    changes: [{ eventType: "ThingCreatedEvent", aggregateType: "Thing", aggregateId: id, data: { thingId: id } }],
  });

test("ER-CAP-35 a guard that can't be read refuses every ordered command with ORDERED_SCOPE_GUARD_UNAVAILABLE and appends nothing", async () => {
  await command("before");
  await db.pool.query("ALTER TABLE event_failure_scope_t RENAME TO event_failure_scope_gone_t");
  try {
    const before = await db.pool.query("SELECT count(*) FROM event_store_t");
    const offsets = await db.pool.query("SELECT sum(next_offset) AS s FROM event_offset_counter_t");
    await expect(command("during")).rejects.toMatchObject({ code: "ORDERED_SCOPE_GUARD_UNAVAILABLE" });
    const direct = append(deps(db.pool), [cloudEvent({ subject: "during" }), note()]);
    await expect(direct).rejects.toMatchObject({ code: "ORDERED_SCOPE_GUARD_UNAVAILABLE" });
    expect((await db.pool.query("SELECT count(*) FROM event_store_t")).rows).toEqual(before.rows);
    expect((await db.pool.query("SELECT sum(next_offset) AS s FROM event_offset_counter_t")).rows).toEqual(
      offsets.rows,
    );
  } finally {
    await db.pool.query("ALTER TABLE event_failure_scope_gone_t RENAME TO event_failure_scope_t");
  }
  expect(await codeOf(command("after"))).toBe("NO_ERROR");
});

test("ER-CAP-35 a connection lost while the guard is read leaves the append refused and the pool usable", async () => {
  const before = await footprint(db.pool);
  const blocker = await db.pool.connect();
  const admin = await db.pool.connect();
  try {
    await blocker.query("BEGIN");
    await blocker.query("LOCK TABLE event_failure_scope_t IN ACCESS EXCLUSIVE MODE");
    const waiting = codeOf(command("cut"));
    for (;;) {
      const { rows } = await admin.query<{ n: number }>(
        `SELECT count(pg_terminate_backend(a.pid))::int AS n FROM pg_stat_activity a
         WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query LIKE '%event_failure_scope_t%'`,
      );
      if ((rows[0]?.n ?? 0) > 0) break;
    }
    expect(await waiting).toBe("ORDERED_SCOPE_GUARD_UNAVAILABLE");
  } finally {
    await blocker.query("ROLLBACK");
    blocker.release();
    admin.release();
  }
  expect(await footprint(db.pool)).toEqual(before);
  expect(await codeOf(command("cut"))).toBe("NO_ERROR");
});
