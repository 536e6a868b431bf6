import type pg from "pg";
import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import {
  completeAction,
  insertAction,
  insertFailure,
  insertRequest,
  moveRequest,
  REQUEST_PATH,
  resolveFailure,
  runningRequest,
} from "@/server/testing/replay-rows";

const db = testDatabase();
const host = newId();

const set = (client: pg.PoolClient, failureId: string, fields: string) => () =>
  client.query(`UPDATE event_failure_transaction_t SET ${fields} WHERE host_id = $1 AND failure_id = $2`, [
    host,
    failureId,
  ]);
const waived = "status = 'WAIVED', resolved_ts = now()";
const reopened = "status = 'OPEN', resolved_ts = NULL, resolved_by_request_id = NULL, resolution_code = NULL";

test("ER-CAP-21 a failure is OPEN, RESOLVED or WAIVED and nothing else", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const definition = await client.query(
      "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'event_failure_status_ck'",
    );
    return {
      repaired: await verdict(client, set(client, failureId, "status = 'REPAIRED'")),
      check: [...String((definition.rows[0] as { text: string }).text).matchAll(/'(\w+)'/g)].map((m) => m[1]),
    };
  });
  expect(said).toEqual({ repaired: "EA004 event_failure_transition", check: ["OPEN", "RESOLVED", "WAIVED"] });
});

test("ER-CAP-22 only a running EXECUTE request that holds the failure resolves it", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const resolveBy = (requestId: string, code = "'RESOLVED_BY_EXACT_REPLAY'") =>
      verdict(
        client,
        set(
          client,
          failureId,
          `status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = '${requestId}', resolution_code = ${code}`,
        ),
      );
    const verdicts: Record<string, string> = { "no request": await resolveBy(newId()) };
    const requestId = await insertRequest(client, host, { failures: [failureId] });
    for (const status of REQUEST_PATH) {
      await moveRequest(client, host, requestId, status);
      verdicts[status] = await resolveBy(requestId);
    }
    verdicts["no code"] = await resolveBy(requestId, "NULL");
    verdicts["holds another failure"] = await resolveBy(
      await runningRequest(client, host, { failures: [await insertFailure(client, host)] }),
    );
    verdicts["dry run"] = await resolveBy(
      await runningRequest(client, host, { failures: [failureId], mode: "ROLLBACK_DRY_RUN" }),
    );
    await moveRequest(client, host, requestId, "SUCCEEDED");
    verdicts.SUCCEEDED = await resolveBy(requestId);
    return verdicts;
  });
  const refused = "EA006 event_failure_resolved_evidence";
  const early = Object.fromEntries(REQUEST_PATH.map((status) => [status, refused]));
  expect(said).toEqual({
    "no request": refused,
    ...early,
    RUNNING: "ok",
    "no code": refused,
    "holds another failure": refused,
    "dry run": refused,
    SUCCEEDED: refused,
  });
});

test("ER-CAP-22 a waiver needs a completed action of two persons, no ordering scope, and is final", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const ordered = await insertFailure(client, host, { scopes: [["AGGREGATE", "User:1"]] });
    const alone = await verdict(client, set(client, failureId, waived));
    const actionId = await insertAction(client, host, "WAIVE_FAILURES", [failureId, ordered]);
    const asked = await verdict(client, set(client, failureId, waived));
    // The action may complete in the same transaction, after the failure: the check waits for the commit.
    const together = await verdict(client, async () => {
      await set(client, failureId, waived)();
      await completeAction(client, host, actionId);
    });
    await completeAction(client, host, actionId);
    const unnamed = await verdict(client, set(client, await insertFailure(client, host), waived));
    const orderedSaid = await verdict(client, set(client, ordered, waived));
    await set(client, failureId, waived)();
    const back = await verdict(client, set(client, failureId, reopened));
    const edited = await verdict(client, set(client, failureId, "resolved_ts = resolved_ts - interval '1 day'"));
    return { alone, asked, together, unnamed, orderedSaid, back, edited };
  });
  const refused = "EA006 event_failure_waived_evidence";
  expect(said).toEqual({
    alone: refused,
    asked: refused,
    together: "ok",
    unnamed: refused,
    orderedSaid: refused,
    back: "EA004 event_failure_transition",
    edited: "EA002 event_failure_resolution_frozen",
  });
});

test("ER-CAP-22 a failure is reopened only with an audit record of the same transaction", async () => {
  const failureId = await insertFailure(db.pool, host);
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    await resolveFailure(client, host, failureId);
    await client.query("COMMIT");
    const audit = (xid = "pg_current_xact_id()") =>
      client.query(
        `INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id, failure_id, transaction_xid)
         VALUES ($1, gen_random_uuid(), 'EVENT_REPLAY_FAILURE_REOPENED', 'SYSTEM', 'reconciliation', $2, ${xid})`,
        [host, failureId],
      );
    await client.query("BEGIN");
    await audit();
    await client.query("COMMIT");
    await client.query("BEGIN");
    const silent = await verdict(client, set(client, failureId, reopened));
    const forged = await verdict(client, () => audit("'3'"));
    const audited = await verdict(client, async () => {
      await set(client, failureId, reopened)();
      await audit();
    });
    expect({ silent, forged, audited }).toEqual({
      silent: "EA006 event_failure_reopened_evidence",
      forged: "EA002 event_replay_audit_transaction",
      audited: "ok",
    });
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});
