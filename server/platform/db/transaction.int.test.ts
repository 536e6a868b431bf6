import { expect, test } from "vitest";
import { testDatabase } from "@/server/testing/database";
import { LockOrderViolation } from "./lock-order";
import { inTransaction } from "./transaction";

const db = testDatabase();

test("a body that swallows an SQL error does not look committed", async () => {
  await db.pool.query("CREATE TABLE swallowed (n int)");
  const run = inTransaction(db.pool, "test", async (tx) => {
    await tx.execute("INSERT INTO swallowed VALUES (1)");
    await tx.execute("SELECT 1/0").catch(() => undefined);
    return "ok";
  });
  await expect(run).rejects.toThrow("rolled back at commit");
  expect((await db.pool.query("SELECT FROM swallowed")).rowCount).toBe(0);
});

test("inside a transaction a time text means UTC and ISO, whatever the session would make of it", async () => {
  const other = db.createPool({ max: 1 });
  await other.query("SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German'");
  const [row] = await inTransaction(other, "test", (tx) =>
    tx.query<{ at: string }>("SELECT '2026-01-01 00:00:00'::timestamptz AS at"),
  );
  expect(row?.at).toBe("2026-01-01 00:00:00+00");
});

test("locks against the declared order throw here, and a savepoint's locks are forgotten with it", async () => {
  await inTransaction(db.pool, "test", async (tx) => {
    tx.lock("ORDERING_SCOPE");
    const mark = tx.markLocks();
    tx.lock("PROJECTION_ROW");
    expect(() => tx.lock("BARRIER")).toThrow(LockOrderViolation);
    tx.rewindLocks(mark);
    tx.lock("FAILURE");
  });
});

test("a serialization failure runs the whole body again, a bounded number of times", async () => {
  let runs = 0;
  const body = inTransaction(db.pool, "test", async (tx) => {
    runs += 1;
    await tx.execute("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$");
  });
  await expect(body).rejects.toMatchObject({ code: "40001" });
  expect(runs).toBe(3);
});
