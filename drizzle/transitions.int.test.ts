import type pg from "pg";
import { expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import {
  GROUP,
  hex,
  insertAction,
  insertFailure,
  insertRepair,
  insertRequest,
  moveRequest,
  PROJECTION,
  REQUEST_PATH,
  resolveFailure,
  runningRequest,
} from "@/server/testing/replay-rows";

const db = testDatabase();
const host = newId();

type Machine = {
  readonly table: string;
  readonly column: "status" | "state" | "result";
  readonly key: string;
  readonly states: readonly string[];
  /** Edge → the SET list with which the row is valid in its new state. */
  readonly edges: Readonly<Record<string, string>>;
  /** Makes a row that is in `state`; returns its key. */
  make(client: pg.PoolClient, state: string): Promise<string>;
};

/**
 * Asks the database for every pair of states: a listed edge must be allowed, any other must be refused by the transition
 * guard itself (not by a CHECK that happens to object). Returns the pairs where it says otherwise.
 */
async function wrongVerdicts(machine: Machine): Promise<string[]> {
  const wrong: string[] = [];
  for (const from of machine.states) {
    await undone(db.pool, async (client) => {
      const id = await machine.make(client, from);
      for (const to of machine.states.filter((state) => state !== from)) {
        const fields = machine.edges[`${from}>${to}`];
        const said = await verdict(client, () =>
          client.query(
            `UPDATE ${machine.table} SET ${machine.column} = '${to}' ${fields ? `, ${fields}` : ""} WHERE host_id = $1 AND ${machine.key} = $2`,
            [host, id],
          ),
        );
        const right = fields === undefined ? /^EA004 \w+_transition$/.test(said) : said === "ok";
        if (!right) wrong.push(`${from}>${to}: ${said}`);
      }
    });
  }
  return wrong;
}

const walk = async (client: pg.PoolClient, machine: Machine, id: string, path: readonly string[]) => {
  for (let i = 1; i < path.length; i++) {
    const moved = await client.query(
      `UPDATE ${machine.table} SET ${machine.column} = '${path[i]}', ${machine.edges[`${path[i - 1]}>${path[i]}`]} WHERE host_id = $1 AND ${machine.key} = $2`,
      [host, id],
    );
    if (moved.rowCount !== 1) throw new Error("the walk lost its row");
  }
  return id;
};

test("ER-ISO-18 the database allows exactly the listed transitions of a replay request", async () => {
  const before: Record<string, readonly string[]> = {
    PLANNING: [],
    READY: REQUEST_PATH.slice(0, 1),
    AWAITING_APPROVAL: REQUEST_PATH.slice(0, 2),
    APPROVED: REQUEST_PATH.slice(0, 3),
    INSTALLING_BARRIER: REQUEST_PATH.slice(0, 4),
    RUNNING: REQUEST_PATH,
    SUCCEEDED: [...REQUEST_PATH, "SUCCEEDED"],
    FAILED: ["FAILED"],
    CANCELLED: ["READY", "CANCELLED"],
    EXPIRED: ["READY", "EXPIRED"],
  };
  const done = "completed_ts = now()";
  const touch = "updated_ts = now()";
  const wrong = await wrongVerdicts({
    table: "event_replay_request_t",
    column: "status",
    key: "replay_request_id",
    states: Object.keys(before),
    edges: {
      "PLANNING>READY": touch,
      "PLANNING>FAILED": done,
      "READY>AWAITING_APPROVAL": touch,
      "READY>CANCELLED": done,
      "READY>EXPIRED": done,
      "AWAITING_APPROVAL>APPROVED": "approved_by = 'bob', approved_ts = now()",
      "AWAITING_APPROVAL>CANCELLED": done,
      "AWAITING_APPROVAL>EXPIRED": done,
      "APPROVED>INSTALLING_BARRIER": touch,
      "APPROVED>CANCELLED": done,
      "APPROVED>EXPIRED": done,
      "INSTALLING_BARRIER>RUNNING": "started_by = 'alice', started_ts = now()",
      "INSTALLING_BARRIER>FAILED": done,
      "RUNNING>SUCCEEDED": done,
      "RUNNING>FAILED": done,
    },
    async make(client, state) {
      const id = await insertRequest(client, host, { failures: [await insertFailure(client, host)] });
      for (const step of before[state] ?? []) await moveRequest(client, host, id, step);
      return id;
    },
  });
  expect(wrong).toEqual([]);
});

/** Items and attempts live under a request; an item's key is its failure, which is in one plan only here. */
const ITEM: Machine = {
  table: "event_replay_item_t",
  column: "status",
  key: "failure_id",
  states: ["PENDING", "RUNNING", "SUCCEEDED", "FAILED"],
  edges: {
    "PENDING>RUNNING": "attempt_count = attempt_count + 1",
    "RUNNING>SUCCEEDED": "updated_ts = now()",
    "RUNNING>FAILED": "updated_ts = now()",
    "RUNNING>PENDING": "updated_ts = now()",
  },
  async make(client, state) {
    const failureId = await insertFailure(client, host);
    await runningRequest(client, host, { failures: [failureId] });
    const path = ["PENDING", "RUNNING", state].slice(0, state === "PENDING" ? 1 : state === "RUNNING" ? 2 : 3);
    return walk(client, ITEM, failureId, path);
  },
};

const ATTEMPT: Machine = {
  table: "event_replay_attempt_t",
  column: "result",
  key: "replay_attempt_id",
  states: ["RUNNING", "SUCCEEDED", "FAILED", "ABANDONED"],
  edges: {
    "RUNNING>SUCCEEDED": "completed_ts = now(), projection_committed = true",
    "RUNNING>FAILED": "completed_ts = now()",
    "RUNNING>ABANDONED": "completed_ts = now()",
  },
  async make(client, state) {
    const requestId = await runningRequest(client, host, { failures: [await insertFailure(client, host)] });
    const id = newId();
    await client.query(
      `INSERT INTO event_replay_attempt_t (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number, worker_id, fencing_token)
       VALUES ($1, $2, $3, 0, 1, 'worker', 1)`,
      [host, id, requestId],
    );
    return walk(client, ATTEMPT, id, state === "RUNNING" ? ["RUNNING"] : ["RUNNING", state]);
  },
};

test("ER-ISO-19 items and attempts move along their listed transitions and no others", async () => {
  expect([...(await wrongVerdicts(ITEM)), ...(await wrongVerdicts(ATTEMPT))]).toEqual([]);
});

const quarantine = (failure: string) =>
  `owner_type = 'FAILURE_QUARANTINE', replay_request_id = NULL, quarantine_failure_id = ${failure}`;
const anyFailure = `(SELECT failure_id FROM event_failure_transaction_t WHERE host_id = '${host}' LIMIT 1)`;
const anyRequest = `(SELECT replay_request_id FROM event_replay_request_t WHERE host_id = '${host}' LIMIT 1)`;
const takenOver = `owner_type = 'REPLAY_REQUEST', replay_request_id = ${anyRequest}, quarantine_failure_id = NULL, barrier_epoch = barrier_epoch + 1`;

const BARRIER: Machine = {
  table: "event_replay_barrier_t",
  column: "state",
  key: "barrier_id",
  states: ["INSTALLING", "ACTIVE", "DRAINING", "QUARANTINED"],
  edges: {
    "INSTALLING>ACTIVE": "updated_ts = now()",
    "INSTALLING>QUARANTINED": quarantine(anyFailure),
    "ACTIVE>DRAINING": "updated_ts = now()",
    "ACTIVE>QUARANTINED": quarantine(anyFailure),
    "DRAINING>QUARANTINED": quarantine(anyFailure),
    "QUARANTINED>INSTALLING": takenOver,
    "QUARANTINED>ACTIVE": takenOver,
  },
  async make(client, state) {
    const requestId = await runningRequest(client, host, { failures: [await insertFailure(client, host)] });
    const id = newId();
    await client.query(
      `INSERT INTO event_replay_barrier_t (host_id, barrier_id, projection_name, consumer_group, scope_type, scope_key, state,
         owner_type, replay_request_id, barrier_epoch)
       VALUES ($1, $2::uuid, $3, $4, 'AGGREGATE', 'User:' || $2::uuid, 'INSTALLING', 'REPLAY_REQUEST', $5, 1)`,
      [host, id, PROJECTION, GROUP, requestId],
    );
    const paths: Record<string, string[]> = {
      DRAINING: ["INSTALLING", "ACTIVE", "DRAINING"],
      INSTALLING: ["INSTALLING"],
    };
    return walk(client, BARRIER, id, paths[state] ?? ["INSTALLING", state]);
  },
};

test("ER-ISO-10 barriers know four states and two kinds of owner, and move along listed transitions only", async () => {
  expect(await wrongVerdicts(BARRIER)).toEqual([]);
  const said = await undone(db.pool, async (client) => {
    const id = await BARRIER.make(client, "ACTIVE");
    const set = (fields: string) =>
      verdict(client, () =>
        client.query(`UPDATE event_replay_barrier_t SET ${fields} WHERE host_id = $1 AND barrier_id = $2`, [host, id]),
      );
    return [
      await set("owner_type = 'OPERATOR'"),
      await set("state = 'QUARANTINED'"),
      await set("barrier_epoch = barrier_epoch - 1"),
      await set("released_by = 'alice', release_reason = 'because', released_ts = now()"),
    ];
  });
  expect(said).toEqual([
    "EA003 event_replay_barrier_monotonic",
    "23514 event_replay_barrier_owner_ck",
    "EA003 event_replay_barrier_monotonic",
    "23514 event_replay_barrier_release_ck",
  ]);
});

const DEFERRED: Machine = {
  table: "event_projection_deferred_t",
  column: "status",
  key: "deferred_id",
  states: ["PENDING", "RUNNING", "SUCCEEDED", "FAILED"],
  edges: {
    "PENDING>RUNNING": "attempt_count = attempt_count + 1",
    "RUNNING>SUCCEEDED": "completed_ts = now()",
    "RUNNING>FAILED": `completed_ts = now(), failure_id = ${anyFailure}`,
  },
  async make(client, state) {
    const barrierId = await BARRIER.make(client, "ACTIVE");
    const id = newId();
    await client.query(
      `INSERT INTO event_projection_deferred_t (host_id, deferred_id, barrier_id, original_transaction_id, content_fingerprint,
         source_processor, source_order_key, source_coordinates, event_count, decrypted_payload_bytes, payload_digest, payload_storage, payload_plain)
       VALUES ($1, $2::uuid, $3, $2::uuid::text, $4, 'DATABASE', '0001', '{}', 1, 2, encode(sha256('{}'), 'hex'), 'DATABASE_PLAIN', '{}')`,
      [host, id, barrierId, hex(id)],
    );
    const path = ["PENDING", "RUNNING", state].slice(0, state === "PENDING" ? 1 : state === "RUNNING" ? 2 : 3);
    return walk(client, DEFERRED, id, path);
  },
};

test("ER-ISO-19 parked work moves along its listed transitions and no others", async () => {
  expect(await wrongVerdicts(DEFERRED)).toEqual([]);
});

test("ER-ISO-19 a two-person action ends once, and never changes after that", async () => {
  const action: Machine = {
    table: "event_replay_action_request_t",
    column: "status",
    key: "action_request_id",
    states: ["AWAITING_APPROVAL", "COMPLETED", "CANCELLED", "EXPIRED"],
    edges: {
      "AWAITING_APPROVAL>COMPLETED": "approved_by = 'bob', approved_ts = now(), completed_ts = now()",
      "AWAITING_APPROVAL>CANCELLED": "completed_ts = now()",
      "AWAITING_APPROVAL>EXPIRED": "completed_ts = now()",
    },
    async make(client, state) {
      const id = await insertAction(client, host, "WAIVE_FAILURES", [newId()]);
      return walk(client, action, id, state === "AWAITING_APPROVAL" ? [state] : ["AWAITING_APPROVAL", state]);
    },
  };
  expect(await wrongVerdicts(action)).toEqual([]);
});

/** Approving, then resolving the failure by the repair: an applied repair has resolved its failure. */
async function repairIn(client: pg.PoolClient, state: string): Promise<string> {
  const failureId = await insertFailure(client, host);
  const repairId = await insertRepair(client, host, failureId);
  const path = { APPROVED: ["AWAITING_APPROVAL", "APPROVED"], APPLIED: ["AWAITING_APPROVAL", "APPROVED", "APPLIED"] }[
    state
  ];
  if (state === "APPROVED" || state === "APPLIED") {
    const requestId = await runningRequest(client, host, { failures: [failureId], repairId });
    await client.query(
      `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $3,
         resolved_by_repair_id = $4, resolution_code = 'RESOLVED_BY_REPAIR' WHERE host_id = $1 AND failure_id = $2`,
      [host, failureId, requestId, repairId],
    );
  }
  return walk(
    client,
    REPAIR,
    repairId,
    path ?? (state === "AWAITING_APPROVAL" ? [state] : ["AWAITING_APPROVAL", state]),
  );
}

const REPAIR: Machine = {
  table: "event_repair_t",
  column: "status",
  key: "repair_id",
  states: ["AWAITING_APPROVAL", "APPROVED", "APPLIED", "REJECTED", "CANCELLED"],
  edges: {
    "AWAITING_APPROVAL>APPROVED": "decision_by = 'bob', decision_ts = now(), approved_by = 'bob', approved_ts = now()",
    "AWAITING_APPROVAL>REJECTED": "decision_by = 'bob', decision_ts = now(), completed_ts = now()",
    "AWAITING_APPROVAL>CANCELLED": "completed_ts = now()",
    "APPROVED>APPLIED": "applied_by = 'worker', applied_ts = now(), completed_ts = now()",
    "APPROVED>CANCELLED": "completed_ts = now()",
  },
  make: repairIn,
};

test("ER-REP-04 a repair moves along its listed transitions and no others", async () => {
  expect(await wrongVerdicts(REPAIR)).toEqual([]);
});

test("ER-REP-04 a repair is APPLIED only by the resolution of its own failure", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const repairId = await walk(client, REPAIR, await insertRepair(client, host, failureId), [
      "AWAITING_APPROVAL",
      "APPROVED",
    ]);
    await resolveFailure(client, host, failureId);
    return verdict(client, () => walk(client, REPAIR, repairId, ["APPROVED", "APPLIED"]));
  });
  expect(said).toBe("EA006 event_repair_applied_evidence");
});

test("ER-ISO-18 ER-REP-04 every life begins at its beginning: no row is inserted in a later state", async () => {
  const said = await undone(db.pool, async (client) => {
    const copies: Record<string, string> = {
      event_replay_request_t: `status = 'APPROVED', approved_by = 'bob', approved_ts = now(), replay_request_id = gen_random_uuid()`,
      event_repair_t: `status = 'CANCELLED', completed_ts = now(), repair_id = gen_random_uuid()`,
      event_replay_action_request_t: `status = 'CANCELLED', completed_ts = now(), action_request_id = gen_random_uuid()`,
      event_failure_transaction_t: `status = 'WAIVED', resolved_ts = now(), failure_id = gen_random_uuid()`,
    };
    const failureId = await insertFailure(client, host);
    await insertRepair(client, host, failureId);
    await insertRequest(client, host, { failures: [failureId] });
    await insertAction(client, host, "WAIVE_FAILURES", [failureId]);
    const verdicts: string[] = [];
    for (const [table, changes] of Object.entries(copies)) {
      const overrides = Object.fromEntries(
        changes.split(", ").map((change) => change.split(" = ") as [string, string]),
      );
      const columns = (
        await client.query<{ name: string }>(
          "SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
          [table],
        )
      ).rows.map((row) => row.name);
      verdicts.push(
        await verdict(client, () =>
          client.query(
            `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${columns.map((c) => overrides[c] ?? c).join(", ")} FROM ${table} WHERE host_id = $1 LIMIT 1`,
            [host],
          ),
        ),
      );
    }
    return verdicts;
  });
  expect(said).toEqual([
    "EA004 event_replay_request_initial_status",
    "EA004 event_repair_initial_status",
    "EA004 event_replay_action_request_initial_status",
    "EA004 event_failure_initial_status",
  ]);
});
