import { expect, test } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { inTransaction } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import { append } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { portalProjection } from "./portal-projection";

const db = testDatabase();
const definition = portalProjection();
const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const USER = "01964b05-5532-7c79-8cde-191dcbd421b8";

const created = (type: string, subject: string, data: object) => ({
  ...{ specversion: "1.0", id: crypto.randomUUID(), source: "urn:test", type: `${type}CreatedEvent`, subject, data },
  ...{ time: "2026-01-02T03:04:05Z", host: HOST, user: USER, aggregatetype: type, aggregateversion: 1 },
});
const user = (userId: string, birthday: string) =>
  created("User", userId, {
    userId,
    email: `${userId}@example.com`,
    birthday,
    entityId: userId,
    userType: "E",
    language: "en",
  });

test("ER-EXE-11 a birthday of `now` is captured as its transaction's own failure instead of becoming the day of the projection", async () => {
  await inTransaction(db.pool, "test", (tx) => ensureProgressRows(tx, definition));
  const deps = { pool: db.pool, projection: definition };
  await append(deps, [user("anna", "1990-02-28")]);
  const clock = await append(deps, [user("ben", "now")]);
  const style = await append(deps, [user("cleo", "01/02/2026")]);
  await append(deps, [user("dora", "2000-02-29")]);
  await append(deps, [created("Config", "c", { configId: USER.toUpperCase(), configName: "c", configPhase: "R" })]);
  expect(await drainLane(db.pool, definition, partitionOfHost(HOST))).toMatchObject({ captured: 2 });
  const failures = await db.pool.query(
    `SELECT original_transaction_id AS id, error_code, error_type FROM event_failure_transaction_t ORDER BY 1`,
  );
  const expected = [clock, style].map(({ transactionId: id }) => ({
    id,
    error_code: "PROJECTION_FAILED",
    error_type: null,
  }));
  expect(failures.rows).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
  const users = await db.pool.query("SELECT user_id, birthday::text FROM user_t ORDER BY 1");
  expect(users.rows).toEqual([
    { user_id: "anna", birthday: "1990-02-28" },
    { user_id: "dora", birthday: "2000-02-29" },
  ]);
  expect((await db.pool.query("SELECT config_id FROM config_t")).rows).toEqual([{ config_id: USER }]);
});
