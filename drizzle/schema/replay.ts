import { sql } from "drizzle-orm";
import { boolean, foreignKey, index, integer, jsonb, pgTable, primaryKey, unique, uuid } from "drizzle-orm/pg-core";
import { BARRIER_SCOPE_TYPES, filled, hex64, int8, oneOf, paired, rule, ts, tsNow, v } from "./columns";
import { failureTransaction } from "./failure";
import { repair } from "./repair";

/**
 * One replay plan and its life. Written by the planner (PLANNING), then immutable in everything the hash covers; only approval,
 * execution and outcome move, along listed edges. Requester and approver are two persons. Indexes: a host's list by status;
 * what expires next; what ended when.
 */
export const replayRequest = pgTable(
  "event_replay_request_t",
  {
    host_id: uuid().notNull(),
    replay_request_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    selection_strategy: v(32).notNull(),
    validation_mode: v(32).notNull(),
    reason: v(2048).notNull(),
    plan_hash: v(64),
    policy_registry_version: v(64).notNull(),
    repair_schema_version: v(64),
    plan_metadata: jsonb().notNull().default({}),
    status: v(32).notNull().default("PLANNING"),
    transaction_count: integer().notNull().default(0),
    event_count: integer().notNull().default(0),
    decrypted_payload_bytes: int8().notNull().default(0),
    requested_by: v(255).notNull(),
    requested_ts: tsNow(),
    approved_by: v(255),
    approved_ts: ts(),
    started_by: v(255),
    started_ts: ts(),
    completed_ts: ts(),
    expires_ts: ts().notNull(),
    failure_code: v(128),
    failure_message: v(2048),
    fencing_token: int8().notNull().default(0),
    isolation_mode: v(32),
    installed_barrier_epoch: int8(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_request_pk", columns: [t.host_id, t.replay_request_id] }),
    rule("event_replay_request_strategy_ck", oneOf("selection_strategy", "EXACT", "DEPENDENCY_CLOSURE")),
    rule("event_replay_request_mode_ck", oneOf("validation_mode", "VALIDATE_ONLY", "ROLLBACK_DRY_RUN", "EXECUTE")),
    rule("event_replay_request_texts_ck", `${filled("reason")} AND ${filled("requested_by")}`),
    rule("event_replay_request_hash_ck", `plan_hash IS NULL OR ${hex64("plan_hash")}`),
    rule("event_replay_request_metadata_ck", "jsonb_typeof(plan_metadata) = 'object'"),
    rule(
      "event_replay_request_status_ck",
      oneOf(
        "status",
        "PLANNING",
        "READY",
        "AWAITING_APPROVAL",
        "APPROVED",
        "INSTALLING_BARRIER",
        "RUNNING",
        "SUCCEEDED",
        "FAILED",
        "CANCELLED",
        "EXPIRED",
      ),
    ),
    rule(
      "event_replay_request_counts_ck",
      "transaction_count >= 0 AND event_count >= 0 AND decrypted_payload_bytes >= 0 AND fencing_token >= 0",
    ),
    rule(
      "event_replay_request_planned_ck",
      "status IN ('PLANNING', 'FAILED') OR (plan_hash IS NOT NULL AND transaction_count > 0 AND event_count > 0)",
    ),
    rule(
      "event_replay_request_approval_ck",
      `${paired("approved_by", "approved_ts")}
        AND (status NOT IN ('APPROVED', 'INSTALLING_BARRIER', 'RUNNING', 'SUCCEEDED') OR approved_by IS NOT NULL)`,
    ),
    rule("event_replay_request_two_persons_ck", "approved_by IS NULL OR approved_by <> requested_by"),
    rule(
      "event_replay_request_started_ck",
      `${paired("started_by", "started_ts")} AND (status NOT IN ('RUNNING', 'SUCCEEDED') OR started_by IS NOT NULL)`,
    ),
    rule(
      "event_replay_request_completed_ck",
      "(status IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED')) = (completed_ts IS NOT NULL)",
    ),
    rule(
      "event_replay_request_validate_only_ck",
      "validation_mode <> 'VALIDATE_ONLY' OR status NOT IN ('INSTALLING_BARRIER', 'RUNNING', 'SUCCEEDED')",
    ),
    rule("event_replay_request_expiry_ck", "expires_ts > requested_ts"),
    rule("event_replay_request_epoch_ck", "installed_barrier_epoch IS NULL OR installed_barrier_epoch > 0"),
    rule(
      "event_replay_request_isolation_ck",
      `isolation_mode IS NULL OR ${oneOf("isolation_mode", ...BARRIER_SCOPE_TYPES)}`,
    ),
    index("event_replay_request_status_ix").on(t.host_id, t.status, t.requested_ts),
    index("event_replay_request_expiry_ix")
      .on(t.expires_ts)
      .where(sql.raw("status IN ('READY', 'AWAITING_APPROVAL', 'APPROVED')")),
    index("event_replay_request_completed_ix").on(t.status, t.completed_ts, t.created_ts),
  ],
);

/**
 * One failure in a plan, at its place. Written while the request is PLANNING; then its definition is immutable and only
 * status, attempts and fence move. (host, request, failure) keeps a failure once in a plan.
 */
export const replayItem = pgTable(
  "event_replay_item_t",
  {
    host_id: uuid().notNull(),
    replay_request_id: uuid().notNull(),
    item_ordinal: integer().notNull(),
    failure_id: uuid().notNull(),
    repair_id: uuid(),
    expected_content_fingerprint: v(64).notNull(),
    dependency_reason: v(1024).notNull(),
    added_dependency: boolean().notNull().default(false),
    status: v(16).notNull().default("PENDING"),
    attempt_count: integer().notNull().default(0),
    current_fencing_token: int8().notNull().default(0),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_item_pk", columns: [t.host_id, t.replay_request_id, t.item_ordinal] }),
    unique("event_replay_item_failure_uk").on(t.host_id, t.replay_request_id, t.failure_id),
    foreignKey({
      name: "event_replay_item_request_fk",
      columns: [t.host_id, t.replay_request_id],
      foreignColumns: [replayRequest.host_id, replayRequest.replay_request_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_replay_item_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_replay_item_repair_fk",
      columns: [t.host_id, t.repair_id, t.failure_id],
      foreignColumns: [repair.host_id, repair.repair_id, repair.failure_id],
    }).onDelete("restrict"),
    rule("event_replay_item_ordinal_ck", "item_ordinal >= 0"),
    rule("event_replay_item_fingerprint_ck", hex64("expected_content_fingerprint")),
    rule("event_replay_item_reason_ck", filled("dependency_reason")),
    rule("event_replay_item_status_ck", oneOf("status", "PENDING", "RUNNING", "SUCCEEDED", "FAILED")),
    rule("event_replay_item_counts_ck", "attempt_count >= 0 AND current_fencing_token >= 0"),
    index("event_replay_item_status_ix").on(t.host_id, t.replay_request_id, t.status, t.item_ordinal),
    index("event_replay_item_failure_ix").on(t.host_id, t.failure_id),
  ],
);

/**
 * One try at one item: what ran, under which fence, with which outcome. Append only; the one update is RUNNING → outcome.
 */
export const replayAttempt = pgTable(
  "event_replay_attempt_t",
  {
    host_id: uuid().notNull(),
    replay_attempt_id: uuid().notNull(),
    replay_request_id: uuid().notNull(),
    item_ordinal: integer().notNull(),
    attempt_number: integer().notNull(),
    worker_id: v(255).notNull(),
    fencing_token: int8().notNull(),
    started_ts: tsNow(),
    completed_ts: ts(),
    result: v(16).notNull().default("RUNNING"),
    projection_committed: boolean().notNull().default(false),
    pre_projection_metadata: jsonb().notNull().default({}),
    post_projection_metadata: jsonb().notNull().default({}),
    error_code: v(128),
    error_message: v(2048),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_attempt_pk", columns: [t.host_id, t.replay_attempt_id] }),
    unique("event_replay_attempt_number_uk").on(t.host_id, t.replay_request_id, t.item_ordinal, t.attempt_number),
    foreignKey({
      name: "event_replay_attempt_item_fk",
      columns: [t.host_id, t.replay_request_id, t.item_ordinal],
      foreignColumns: [replayItem.host_id, replayItem.replay_request_id, replayItem.item_ordinal],
    }).onDelete("restrict"),
    rule("event_replay_attempt_number_ck", "attempt_number > 0 AND fencing_token >= 0"),
    rule("event_replay_attempt_result_ck", oneOf("result", "RUNNING", "SUCCEEDED", "FAILED", "ABANDONED")),
    rule(
      "event_replay_attempt_fields_ck",
      "(result = 'RUNNING') = (completed_ts IS NULL) AND (result = 'SUCCEEDED' OR NOT projection_committed)",
    ),
    rule("event_replay_attempt_times_ck", "completed_ts IS NULL OR completed_ts >= started_ts"),
  ],
);

/** Who executes a request now, until when, under which fence. Written by the claim, renewed between steps, database clock. */
export const replayLease = pgTable(
  "event_replay_lease_t",
  {
    host_id: uuid().notNull(),
    replay_request_id: uuid().notNull(),
    lease_owner: v(255).notNull(),
    lease_epoch: int8().notNull(),
    fencing_token: int8().notNull(),
    heartbeat_ts: ts().notNull(),
    expires_ts: ts().notNull(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_lease_pk", columns: [t.host_id, t.replay_request_id] }),
    foreignKey({
      name: "event_replay_lease_request_fk",
      columns: [t.host_id, t.replay_request_id],
      foreignColumns: [replayRequest.host_id, replayRequest.replay_request_id],
    }).onDelete("restrict"),
    rule("event_replay_lease_owner_ck", filled("lease_owner")),
    rule("event_replay_lease_numbers_ck", "lease_epoch > 0 AND fencing_token >= 0 AND expires_ts > heartbeat_ts"),
    index("event_replay_lease_expiry_ix").on(t.expires_ts),
  ],
);
