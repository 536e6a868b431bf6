import { sha256Hex } from "@/server/platform/digest";
import { newId } from "@/server/platform/ids";

/**
 * Rows of the replay tables written by plain SQL along the database's own rules: what a test starts from when the operation
 * that writes them isn't its subject. Nothing here bypasses a guard.
 */
export type Sql = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
};

export const PROJECTION = "portal-query";
export const GROUP = "user-query-group";
export const hex = (text: string) => sha256Hex(Buffer.from(text));

export type FailureOptions = {
  readonly members?: number;
  readonly scopes?: readonly (readonly [type: string, key: string])[];
  readonly policy?: string;
  readonly cause?: string;
  readonly errorCode?: string;
};

/** An OPEN failure with its members, scopes and one delivery, in one statement. */
export async function insertFailure(db: Sql, hostId: string, options: FailureOptions = {}): Promise<string> {
  const failureId = newId();
  await db.query(
    `WITH f AS (
       INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
         source_partition, original_transaction_id, content_fingerprint, event_count, replay_policy, cause_key, error_code)
       VALUES ($1, $2::uuid, $3, $4, 'DATABASE', 15, $2::uuid::text, $5, $6::int, $7, $8, $9) RETURNING failure_id),
     m AS (
       INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, source_processor,
         source_partition, source_offset, payload_format, payload_digest, payload_storage, payload_plain, decrypted_payload_bytes)
       SELECT $1, f.failure_id, o, gen_random_uuid()::text, 'UserCreatedEvent', 'DATABASE', 15, o + 1, 'event-replay-canonical-v1',
              encode(sha256(b), 'hex'), 'DATABASE_PLAIN', b, length(b)
         FROM f, generate_series(0, $6 - 1) o, LATERAL (SELECT convert_to('{"n":' || o || '}', 'UTF8') AS b) bytes),
     s AS (
       INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
       SELECT $1, f.failure_id, $3, $4, t, k FROM f, unnest($10::text[], $11::text[]) AS scope (t, k))
     INSERT INTO event_failure_delivery_t (host_id, delivery_id, failure_id, delivery_fingerprint, source_processor, source_coordinates)
     SELECT $1, gen_random_uuid(), f.failure_id, $5, 'DATABASE', '{}' FROM f`,
    [
      hostId,
      failureId,
      PROJECTION,
      GROUP,
      hex(failureId),
      options.members ?? 1,
      options.policy ?? "TRANSACTION_ONLY",
      options.cause ?? "cause",
      options.errorCode ?? "PROJECTION_FAILED",
      (options.scopes ?? []).map(([type]) => type),
      (options.scopes ?? []).map(([, key]) => key),
    ],
  );
  return failureId;
}

export type RequestOptions = {
  readonly failures: readonly string[];
  readonly repairId?: string;
  readonly mode?: "VALIDATE_ONLY" | "ROLLBACK_DRY_RUN" | "EXECUTE";
};

/** A request with one item per failure, still PLANNING. */
export async function insertRequest(db: Sql, hostId: string, options: RequestOptions): Promise<string> {
  const requestId = newId();
  await db.query(
    `INSERT INTO event_replay_request_t (host_id, replay_request_id, projection_name, consumer_group, selection_strategy,
       validation_mode, reason, plan_hash, policy_registry_version, transaction_count, event_count, requested_by, expires_ts)
     VALUES ($1, $2, $3, $4, 'EXACT', $5, 'because', $6, 'event-replay-policy-v2', $7, $7, 'alice', now() + interval '1 day')`,
    [hostId, requestId, PROJECTION, GROUP, options.mode ?? "EXECUTE", hex(requestId), options.failures.length],
  );
  await db.query(
    `INSERT INTO event_replay_item_t (host_id, replay_request_id, item_ordinal, failure_id, repair_id, expected_content_fingerprint, dependency_reason)
     SELECT $1, $2, o - 1, f, $4, $5, 'selected' FROM unnest($3::uuid[]) WITH ORDINALITY AS selected (f, o)`,
    [hostId, requestId, options.failures, options.repairId ?? null, hex("content")],
  );
  return requestId;
}

/** What a request's row holds besides its status once it is in that status. */
const REQUEST_FIELDS: Readonly<Record<string, string>> = {
  APPROVED: ", approved_by = 'bob', approved_ts = now()",
  RUNNING: ", started_by = 'alice', started_ts = now()",
  SUCCEEDED: ", completed_ts = now()",
  FAILED: ", completed_ts = now()",
  CANCELLED: ", completed_ts = now()",
  EXPIRED: ", completed_ts = now()",
};

/** Moves a request one listed edge; the database refuses any other. */
export async function moveRequest(db: Sql, hostId: string, requestId: string, status: string): Promise<void> {
  await db.query(
    `UPDATE event_replay_request_t SET status = $3${REQUEST_FIELDS[status] ?? ""} WHERE host_id = $1 AND replay_request_id = $2`,
    [hostId, requestId, status],
  );
}

export const REQUEST_PATH = ["READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER", "RUNNING"] as const;

/** A request taken to RUNNING by two persons. */
export async function runningRequest(db: Sql, hostId: string, options: RequestOptions): Promise<string> {
  const requestId = await insertRequest(db, hostId, options);
  for (const status of REQUEST_PATH) await moveRequest(db, hostId, requestId, status);
  return requestId;
}

/** Resolves one failure as a replay does: under a running request that holds it. Returns the request. */
export async function resolveFailure(db: Sql, hostId: string, failureId: string): Promise<string> {
  const requestId = await runningRequest(db, hostId, { failures: [failureId] });
  await db.query(
    `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $3,
       resolution_code = 'RESOLVED_BY_EXACT_REPLAY' WHERE host_id = $1 AND failure_id = $2`,
    [hostId, failureId, requestId],
  );
  return requestId;
}

export type ActionType = "WAIVE_FAILURES" | "RELEASE_WITH_GAP";

/** A two-person action of alice that awaits another's decision. */
export async function insertAction(
  db: Sql,
  hostId: string,
  type: ActionType,
  targets: readonly string[],
): Promise<string> {
  const actionId = newId();
  await db.query(
    `INSERT INTO event_replay_action_request_t (host_id, action_request_id, action_type, target_ids, expected_state, reason, requested_by, expires_ts)
     VALUES ($1, $2, $3, $4, '{}', 'because', 'alice', now() + interval '1 day')`,
    [hostId, actionId, type, JSON.stringify(targets)],
  );
  return actionId;
}

export async function completeAction(db: Sql, hostId: string, actionId: string, approver = "bob"): Promise<void> {
  await db.query(
    `UPDATE event_replay_action_request_t SET status = 'COMPLETED', approved_by = $3, approved_ts = now(), completed_ts = now()
      WHERE host_id = $1 AND action_request_id = $2`,
    [hostId, actionId, approver],
  );
}

/** A repair of member 0 that awaits another's decision. */
export async function insertRepair(db: Sql, hostId: string, failureId: string): Promise<string> {
  const repairId = newId();
  await db.query(
    `WITH r AS (
       INSERT INTO event_repair_t (host_id, repair_id, failure_id, reason, policy_registry_version, repair_schema_version,
         original_transaction_fingerprint, corrected_transaction_fingerprint, changed_event_count, requested_by)
       VALUES ($1, $2, $3, 'because', 'event-replay-policy-v2', 'user-updated-repair-v1', $4, $5, 1, 'alice') RETURNING repair_id)
     INSERT INTO event_repair_event_t (host_id, repair_id, failure_id, event_ordinal, original_event_id, original_payload_digest,
       corrected_payload_format, corrected_payload_storage, corrected_payload_digest, corrected_payload_plain,
       corrected_payload_bytes, corrected_event_schema_version, changed_field_names)
     SELECT $1, r.repair_id, m.failure_id, 0, m.event_id, m.payload_digest, m.payload_format, 'DATABASE_PLAIN',
            encode(sha256(b), 'hex'), b, length(b), '1', '["firstName"]'
       FROM r, event_failure_event_t m, LATERAL (SELECT convert_to('{"corrected":true}', 'UTF8') AS b) bytes
      WHERE m.host_id = $1 AND m.failure_id = $3 AND m.event_ordinal = 0`,
    [hostId, repairId, failureId, hex("original"), hex("corrected")],
  );
  return repairId;
}
