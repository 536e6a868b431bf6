import { expect, test } from "vitest";
import type { Tx } from "@/server/platform/db/transaction";
import { HOST } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { undone } from "@/server/testing/refusals";
import { insertFailure } from "@/server/testing/replay-rows";
import { loadHeldScopes } from "./repository";

const db = testDatabase();

/** The statement the guard runs, with its values, exactly as it goes to the database. */
async function guardStatement(key: string): Promise<{ text: string; values: readonly unknown[] }> {
  let sent: { text: string; values: readonly unknown[] } | undefined;
  const recorder = {
    async query(text: string, values: readonly unknown[]) {
      sent = { text, values };
      return [];
    },
  } as unknown as Tx;
  await loadHeldScopes(recorder, [{ hostId: HOST, type: "AGGREGATE", key }]);
  if (!sent) throw new Error("the guard sent nothing");
  return sent;
}

test("ER-CAP-27 the guard's own statement finds an open scope among thousands through the partial index of open rows", async () => {
  await undone(db.pool, async (client) => {
    for (let i = 0; i < 50; i++) {
      const scopes = Array.from({ length: 60 }, (_, n) => ["AGGREGATE", `Thing:${i}-${n}`] as const);
      await insertFailure(client, HOST, { policy: "AGGREGATE_VERSION", scopes });
    }
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    await client.query("ANALYZE event_failure_scope_t");
    const { text, values } = await guardStatement("Thing:7-7");
    const found = await client.query(text, [...values]);
    expect(found.rows.map((row) => row.scope_key)).toEqual(["Thing:7-7"]);
    const plan = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, [...values]);
    const lines = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(lines).toMatch(/Index (Only )?Scan using event_failure_scope_guard_ix/);
    expect(lines).not.toContain("Seq Scan on event_failure_scope_t");
  });
});
