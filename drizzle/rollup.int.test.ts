import fc from "fast-check";
import type pg from "pg";
import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import { completeAction, insertAction, insertFailure, resolveFailure } from "@/server/testing/replay-rows";

const db = testDatabase();

type Step = {
  readonly kind: "capture" | "recause" | "resolve" | "waive";
  readonly cause: string;
  readonly commit: boolean;
};

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("capture", "capture", "recause", "resolve", "waive"),
  cause: fc.constantFrom("a", "b", "c"),
  commit: fc.boolean(),
});

/** One transaction of a worker. A deadlock or a lost race ends it without effect, as it would in production. */
async function run(client: pg.PoolClient, host: string, { kind, cause, commit }: Step): Promise<void> {
  await client.query("BEGIN");
  try {
    const open = await client.query<{ failure_id: string }>(
      "SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1 AND status = 'OPEN' ORDER BY random() LIMIT 2 FOR UPDATE SKIP LOCKED",
      [host],
    );
    const ids = open.rows.map((row) => row.failure_id);
    const first = ids[0];
    if (kind === "capture" || first === undefined) {
      await insertFailure(client, host, { cause });
      await insertFailure(client, host, { cause: "a" });
    } else if (kind === "recause") {
      await client.query(
        "UPDATE event_failure_transaction_t SET cause_key = $3 WHERE host_id = $1 AND failure_id = ANY ($2)",
        [host, ids, cause],
      );
    } else if (kind === "resolve") {
      await resolveFailure(client, host, first);
    } else {
      await completeAction(client, host, await insertAction(client, host, "WAIVE_FAILURES", ids));
      await client.query(
        "UPDATE event_failure_transaction_t SET status = 'WAIVED', resolved_ts = now() WHERE host_id = $1 AND failure_id = ANY ($2)",
        [host, ids],
      );
    }
    await client.query(commit ? "COMMIT" : "ROLLBACK");
  } catch (error) {
    await client.query("ROLLBACK");
    if ((error as { code?: string }).code !== "40P01") throw error;
  }
}

const counted = (host: string) =>
  db.pool.query(
    `SELECT status, cause_key, count(*) AS n FROM event_failure_transaction_t WHERE host_id = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
    [host],
  );
const kept = (host: string) =>
  db.pool.query("SELECT status, cause_key, n FROM event_failure_rollup_t WHERE host_id = $1 AND n > 0 ORDER BY 1, 2", [
    host,
  ]);

test("ER-CAP-24 the rollup equals a count after any mixture of concurrent captures, resolutions, waivers and rollbacks", async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 4, maxLength: 10 }), { minLength: 4, maxLength: 4 }),
      async (workers) => {
        const host = newId();
        await Promise.all(
          workers.map(async (steps) => {
            const client = await db.pool.connect();
            try {
              for (const each of steps) await run(client, host, each);
            } finally {
              client.release();
            }
          }),
        );
        const [byCount, byRollup] = [await counted(host), await kept(host)];
        seen += byCount.rows.length;
        expect(byRollup.rows).toEqual(byCount.rows);
      },
    ),
    { numRuns: 6 },
  );
  expect(seen).toBeGreaterThan(6);
});

test("ER-CAP-24 a reopened failure counts as open again", async () => {
  const host = newId();
  const statuses = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host, { cause: "a" });
    await resolveFailure(client, host, failureId);
    const read = async () =>
      (await client.query("SELECT status, n FROM event_failure_rollup_t WHERE host_id = $1 ORDER BY status", [host]))
        .rows;
    const resolved = await read();
    await client.query(
      "UPDATE event_failure_transaction_t SET status = 'OPEN', resolved_ts = NULL, resolved_by_request_id = NULL, resolution_code = NULL WHERE host_id = $1",
      [host],
    );
    return { resolved, reopened: await read() };
  });
  expect(statuses).toEqual({
    resolved: [
      { status: "OPEN", n: 0 },
      { status: "RESOLVED", n: 1 },
    ],
    reopened: [
      { status: "OPEN", n: 1 },
      { status: "RESOLVED", n: 0 },
    ],
  });
});

test("ER-CAP-24 nobody writes the rollup but the failure table", async () => {
  const host = newId();
  const said = await undone(db.pool, async (client) => {
    await insertFailure(client, host);
    const insert =
      "INSERT INTO event_failure_rollup_t (host_id, projection_name, consumer_group, status, cause_key, n) SELECT host_id, 'other', consumer_group, status, cause_key, 5 FROM event_failure_rollup_t";
    return [
      await verdict(client, () => client.query("UPDATE event_failure_rollup_t SET n = 5")),
      await verdict(client, () => client.query(insert)),
      await verdict(client, () => client.query("DELETE FROM event_failure_rollup_t")),
    ];
  });
  expect(said).toEqual([
    "EA001 event_failure_rollup_by_trigger",
    "EA001 event_failure_rollup_by_trigger",
    "EA001 event_failure_rollup_never_deleted",
  ]);
});
