import type { Pool } from "@/server/platform/db/pool";
import { sha256Hex } from "@/server/platform/digest";
import { newId } from "@/server/platform/ids";

export type FailureScope = { readonly type: "AGGREGATE" | "GRAPH_ROOT"; readonly key: string };

const EVENT_BYTES = Buffer.from("{}");

/** An OPEN ordered failure by SQL, as a capture leaves it: for tests of what reads failures. Returns its id. */
export async function openFailure(pool: Pool, hostId: string, scopes: readonly FailureScope[]): Promise<string> {
  const failureId = newId();
  await inClient(pool, async (query) => {
    await query(
      `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
         source_partition, original_transaction_id, content_fingerprint, event_count, replay_policy, error_code, cause_key)
       VALUES ($1, $2, 'portal-query', 'user-query-group', 'DATABASE', 0, $3, $4, 1, $5, 'PROJECTION_FAILED', 'test')`,
      [
        hostId,
        failureId,
        newId(),
        sha256Hex(failureId),
        scopes[0]?.type === "GRAPH_ROOT" ? "GRAPH_ROOT" : "AGGREGATE_VERSION",
      ],
    );
    await query(
      `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, source_processor,
         source_partition, source_offset, payload_format, payload_digest, payload_storage, payload_plain, decrypted_payload_bytes)
       VALUES ($1, $2::uuid, 0, $2::uuid::text, 'ThingCreatedEvent', 'DATABASE', 0, 1, 'event-replay-canonical-v1', $3, 'DATABASE_PLAIN', $4, $5)`,
      [hostId, failureId, sha256Hex(EVENT_BYTES), EVENT_BYTES, EVENT_BYTES.length],
    );
    for (const { type, key } of scopes) {
      await query(
        `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
         VALUES ($1, $2, 'portal-query', 'user-query-group', $3, $4)`,
        [hostId, failureId, type, key],
      );
    }
  });
  return failureId;
}

/** A repair of that failure, AWAITING_APPROVAL. Returns its id. */
export async function proposeRepair(pool: Pool, hostId: string, failureId: string): Promise<string> {
  const repairId = newId();
  const corrected = Buffer.from('{"a":1}');
  await inClient(pool, async (query) => {
    await query(
      `INSERT INTO event_repair_t (host_id, repair_id, failure_id, reason, policy_registry_version, repair_schema_version,
         original_transaction_fingerprint, corrected_transaction_fingerprint, changed_event_count, requested_by)
       VALUES ($1, $2, $3, 'test', 'event-replay-policy-v2', 'r1', $4, $5, 1, 'alice')`,
      [hostId, repairId, failureId, sha256Hex("original"), sha256Hex("corrected")],
    );
    await query(
      `INSERT INTO event_repair_event_t (host_id, repair_id, failure_id, event_ordinal, original_event_id,
         original_payload_digest, corrected_payload_format, corrected_payload_storage, corrected_payload_digest,
         corrected_payload_plain, corrected_payload_bytes, corrected_event_schema_version, changed_field_names)
       VALUES ($1, $2, $3::uuid, 0, $3::uuid::text, $4, 'event-replay-canonical-v1', 'DATABASE_PLAIN', $5, $6, $7, '1', '["a"]')`,
      [hostId, repairId, failureId, sha256Hex(EVENT_BYTES), sha256Hex(corrected), corrected, corrected.length],
    );
  });
  return repairId;
}

export async function decideRepair(
  pool: Pool,
  hostId: string,
  repairId: string,
  status: "APPROVED" | "REJECTED",
): Promise<void> {
  await pool.query(
    status === "APPROVED"
      ? `UPDATE event_repair_t SET status = 'APPROVED', decision_by = 'bob', decision_ts = now(), approved_by = 'bob',
           approved_ts = now(), updated_ts = now() WHERE host_id = $1 AND repair_id = $2`
      : `UPDATE event_repair_t SET status = 'REJECTED', decision_by = 'bob', decision_ts = now(), completed_ts = now(),
           updated_ts = now() WHERE host_id = $1 AND repair_id = $2`,
    [hostId, repairId],
  );
}

/** A RUNNING replay request that holds the failure: the only thing that may resolve it. Returns its id. */
export async function runningReplay(pool: Pool, hostId: string, failureId: string): Promise<string> {
  const requestId = newId();
  await inClient(pool, async (query) => {
    await query(
      `INSERT INTO event_replay_request_t (host_id, replay_request_id, projection_name, consumer_group, selection_strategy,
         validation_mode, reason, policy_registry_version, requested_by, expires_ts)
       VALUES ($1, $2, 'portal-query', 'user-query-group', 'EXACT', 'EXECUTE', 'test', 'event-replay-policy-v2', 'alice',
         now() + interval '1 hour')`,
      [hostId, requestId],
    );
    await query(
      `INSERT INTO event_replay_item_t (host_id, replay_request_id, item_ordinal, failure_id, expected_content_fingerprint,
         dependency_reason) VALUES ($1, $2, 0, $3, $4, 'SELECTED')`,
      [hostId, requestId, failureId, sha256Hex(failureId)],
    );
    const steps = [
      `status = 'READY', plan_hash = '${sha256Hex("plan")}', transaction_count = 1, event_count = 1`,
      "status = 'AWAITING_APPROVAL'",
      "status = 'APPROVED', approved_by = 'bob', approved_ts = now()",
      "status = 'INSTALLING_BARRIER'",
      "status = 'RUNNING', started_by = 'alice', started_ts = now()",
    ];
    for (const step of steps) {
      await query(`UPDATE event_replay_request_t SET ${step} WHERE host_id = $1 AND replay_request_id = $2`, [
        hostId,
        requestId,
      ]);
    }
  });
  return requestId;
}

/** The statement by which a replay resolves a failure it holds; runs on the caller's connection. */
export const RESOLVE_FAILURE = `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(),
  resolved_by_request_id = $3, resolution_code = 'RESOLVED_BY_EXACT_REPLAY', updated_ts = now()
  WHERE host_id = $1 AND failure_id = $2`;

async function inClient(
  pool: Pool,
  work: (query: (text: string, values: unknown[]) => Promise<unknown>) => Promise<void>,
) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await work((text, values) => client.query(text, values));
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}
