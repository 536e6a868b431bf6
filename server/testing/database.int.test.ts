import { expect, test } from "vitest";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();

test("a test file has a database of its own with the product's types", async () => {
  const { rows } = await db.pool.query("select current_database() as name, 9007199254740991::int8 as n");
  expect(rows[0]).toEqual({ name: db.name, n: 9007199254740991 });
  expect(db.createPool()).not.toBe(db.pool);
});
