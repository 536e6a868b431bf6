import { expect, test } from "vitest";
import { createPool } from "@/server/platform/db/pool";
import { findSchemaProblems } from "@/server/platform/db/schema-check";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();

test("ER-DEP-02 a complete schema is complete for a role whose search_path leaves out public, and its sessions keep their path", async () => {
  const url = new URL(db.url);
  url.searchParams.set("options", "-c search_path=pg_catalog");
  const pool = createPool(url.toString(), { max: 1 });
  try {
    expect((await pool.query("SHOW search_path")).rows).toEqual([{ search_path: "pg_catalog" }]);
    expect(await findSchemaProblems(pool)).toEqual([]);
    expect((await pool.query("SHOW search_path")).rows).toEqual([{ search_path: "pg_catalog" }]);
  } finally {
    await pool.end();
  }
});
