import { expect, test } from "vitest";
import { importEvents } from "@/server/event-replay/append/import-events";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { projectBatch } from "@/server/event-replay/live/project-batch";
import { inTransaction } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import { portalProjection } from "@/server/portal/portal-projection";
import { readPortalEventFiles } from "@/server/testing/data";
import { testDatabase } from "@/server/testing/database";
import { breakDemoProjection, fixDemoProjection } from "./break-projection";
import { withDemoDefect } from "./defect";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "./identities";
import { loadSample } from "./load-sample";

const db = testDatabase();
const definition = withDemoDefect(portalProjection());

/** Projects whatever waits; answers how many transactions were captured. */
async function projectAll(hostId: string): Promise<number> {
  await inTransaction(db.pool, "test", (tx) => ensureProgressRows(tx, definition));
  let captured = 0;
  for (;;) {
    const batch = await projectBatch(db.pool, definition, partitionOfHost(hostId));
    if (batch.kind === "IDLE") return captured;
    captured += batch.captured;
  }
}

async function causes(): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ cause: string; n: number }>(
    `SELECT concat_ws(' ', error_code, error_type, error_constraint) AS cause, count(*)::int AS n
     FROM event_failure_transaction_t GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ cause, n }) => [cause, n]));
}

const deps = () => ({ pool: db.pool, projection: definition });

test("the sample projects whole on each demo host, loads once, and the real events go on top of it", async () => {
  expect(await loadSample(deps())).toBeGreaterThan(100);
  expect(await loadSample(deps())).toBe(0);
  expect(await projectAll(DEMO_HOST_ID)).toBe(0);
  expect(await projectAll(OTHER_DEMO_HOST_ID)).toBe(0);
  const users = await db.pool.query("SELECT host_id, count(*)::int AS n FROM user_t GROUP BY 1 ORDER BY 1");
  expect(users.rows).toEqual([DEMO_HOST_ID, OTHER_DEMO_HOST_ID].map((host_id) => ({ host_id, n: 6 })));

  const files = readPortalEventFiles().map((file) => file.path);
  expect(await importEvents(deps(), files)).toMatchObject({ kind: "IMPORTED", appendedEvents: 2_049, jumps: [] });
  expect(await projectAll(DEMO_HOST_ID)).toBe(0);
});

test("break appends a burst whose broken types the database refuses for several causes while the rest projects", async () => {
  const { broken, appended, refused } = await breakDemoProjection(deps(), DEMO_HOST_ID);
  expect({ broken, refused }).toEqual({ broken: true, refused: 0 });
  expect(appended).toBeGreaterThanOrEqual(36);
  const captured = await projectAll(DEMO_HOST_ID);
  const found = await causes();
  expect(Object.keys(found)).toEqual([
    "PROJECTION_FAILED 22001",
    "PROJECTION_FAILED 23503 role_user_t_role_fkey",
    "PROJECTION_FAILED 23514 user_t_user_type_check",
    "REPLAY_GAP",
  ]);
  expect(captured).toBe(Object.values(found).reduce((sum, n) => sum + n, 0));
  expect(captured).toBeGreaterThan(15);
  expect(appended - captured).toBeGreaterThan(15);
  const unrelated = await db.pool.query("SELECT 1 FROM ref_table_t WHERE table_desc = 'Reviewed this quarter'");
  expect(unrelated.rowCount).toBe(5);
});

test("a second break tries blocked aggregates in vain, and after fix the same event types project again", async () => {
  const second = await breakDemoProjection(deps(), DEMO_HOST_ID);
  expect(second.refused).toBe(3);
  await projectAll(DEMO_HOST_ID);
  const before = await causes();

  expect(await fixDemoProjection(deps())).toEqual({ broken: false, sinceTs: null });
  const files = await breakDemoProjection(deps(), OTHER_DEMO_HOST_ID).then(() => fixDemoProjection(deps()));
  expect(files.broken).toBe(false);
  await projectAll(OTHER_DEMO_HOST_ID);
  const after = await causes();
  // With the defect off only the bad data fails: two users with a type that no table admits.
  expect(after).toEqual({
    ...before,
    "PROJECTION_FAILED 23514 user_t_user_type_check":
      (before["PROJECTION_FAILED 23514 user_t_user_type_check"] ?? 0) + 2,
  });
});
