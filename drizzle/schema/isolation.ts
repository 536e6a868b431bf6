import { sql } from "drizzle-orm";
import { foreignKey, index, integer, jsonb, pgTable, primaryKey, unique, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { BARRIER_SCOPE_TYPES, bytea, digestOf, filled, hex64, int8, oneOf, rule, ts, tsNow, v } from "./columns";
import { failureTransaction } from "./failure";
import { replayRequest } from "./replay";

/**
 * One scope held against live work. Written by install; its state and owner move along listed edges, each new owner raises the
 * epoch; release evidence is final. The partial unique index is the rule "one live barrier a scope" and serves the live
 * look-up; the second finds quarantines by age.
 */
export const replayBarrier = pgTable(
  "event_replay_barrier_t",
  {
    host_id: uuid().notNull(),
    barrier_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    scope_type: v(32).notNull(),
    scope_key: v(1024).notNull(),
    state: v(16).notNull(),
    owner_type: v(32).notNull(),
    replay_request_id: uuid(),
    quarantine_failure_id: uuid(),
    barrier_epoch: int8().notNull(),
    fencing_token: int8().notNull().default(0),
    released_by: v(255),
    release_reason: v(2048),
    released_ts: ts(),
    installed_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_barrier_pk", columns: [t.host_id, t.barrier_id] }),
    uniqueIndex("event_replay_barrier_live_uk")
      .on(t.host_id, t.projection_name, t.consumer_group, t.scope_type, t.scope_key)
      .where(sql.raw("released_ts IS NULL")),
    foreignKey({
      name: "event_replay_barrier_request_fk",
      columns: [t.host_id, t.replay_request_id],
      foreignColumns: [replayRequest.host_id, replayRequest.replay_request_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_replay_barrier_failure_fk",
      columns: [t.host_id, t.quarantine_failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule("event_replay_barrier_scope_ck", `${oneOf("scope_type", ...BARRIER_SCOPE_TYPES)} AND ${filled("scope_key")}`),
    rule("event_replay_barrier_state_ck", oneOf("state", "INSTALLING", "ACTIVE", "DRAINING", "QUARANTINED")),
    rule(
      "event_replay_barrier_owner_ck",
      `CASE owner_type
        WHEN 'REPLAY_REQUEST' THEN state <> 'QUARANTINED' AND replay_request_id IS NOT NULL AND quarantine_failure_id IS NULL
        WHEN 'FAILURE_QUARANTINE' THEN state = 'QUARANTINED' AND replay_request_id IS NULL AND quarantine_failure_id IS NOT NULL
        ELSE false END`,
    ),
    rule("event_replay_barrier_numbers_ck", "barrier_epoch > 0 AND fencing_token >= 0"),
    rule(
      "event_replay_barrier_release_ck",
      `num_nulls(released_by, release_reason, released_ts) IN (0, 3)
        AND (released_ts IS NULL OR (state IN ('DRAINING', 'QUARANTINED') AND ${filled("released_by")} AND ${filled("release_reason")}))`,
    ),
    index("event_replay_barrier_request_ix").on(t.host_id, t.replay_request_id),
    index("event_replay_barrier_quarantine_ix")
      .on(t.host_id, t.updated_ts)
      .where(sql.raw("state = 'QUARANTINED' AND released_ts IS NULL")),
  ],
);

/**
 * One live transaction parked behind a barrier, bytes and all. Written by the live batch in the transaction that advances the
 * source; bytes and coordinates are immutable, only drain progress moves. Redelivery is a no-op by either unique key.
 * Indexes: a barrier's work by status in drain
 * order; what waits, by transaction (is it parked?) and by scope (behind whom?).
 */
export const projectionDeferred = pgTable(
  "event_projection_deferred_t",
  {
    host_id: uuid().notNull(),
    deferred_id: uuid().notNull(),
    barrier_id: uuid().notNull(),
    failure_id: uuid(),
    original_transaction_id: v(255).notNull(),
    content_fingerprint: v(64).notNull(),
    source_processor: v(16).notNull(),
    source_order_key: v(1024).notNull(),
    source_coordinates: jsonb().notNull(),
    event_count: integer().notNull(),
    decrypted_payload_bytes: int8().notNull().default(0),
    dependency_scopes: jsonb().notNull().default([]),
    payload_digest: v(64).notNull(),
    payload_storage: v(16).notNull(),
    payload_plain: bytea(),
    payload_deleted_ts: ts(),
    payload_deleted_reason: v(1024),
    status: v(16).notNull().default("PENDING"),
    attempt_count: integer().notNull().default(0),
    error_code: v(128),
    error_message: v(2048),
    deferred_ts: tsNow(),
    completed_ts: ts(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_projection_deferred_pk", columns: [t.host_id, t.deferred_id] }),
    unique("event_projection_deferred_order_uk").on(t.host_id, t.barrier_id, t.source_order_key),
    unique("event_projection_deferred_fingerprint_uk").on(t.host_id, t.barrier_id, t.content_fingerprint),
    foreignKey({
      name: "event_projection_deferred_barrier_fk",
      columns: [t.host_id, t.barrier_id],
      foreignColumns: [replayBarrier.host_id, replayBarrier.barrier_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_projection_deferred_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule("event_projection_deferred_fingerprint_ck", hex64("content_fingerprint")),
    rule("event_projection_deferred_processor_ck", oneOf("source_processor", "DATABASE", "KAFKA")),
    rule("event_projection_deferred_order_ck", filled("source_order_key")),
    rule(
      "event_projection_deferred_json_ck",
      "jsonb_typeof(source_coordinates) = 'object' AND jsonb_typeof(dependency_scopes) = 'array'",
    ),
    rule(
      "event_projection_deferred_counts_ck",
      "event_count > 0 AND attempt_count >= 0 AND decrypted_payload_bytes >= 0",
    ),
    rule(
      "event_projection_deferred_storage_ck",
      oneOf("payload_storage", "DATABASE_PLAIN", "DATABASE", "OBJECT", "DELETED"),
    ),
    rule(
      "event_projection_deferred_payload_ck",
      `${hex64("payload_digest")} AND CASE payload_storage
        WHEN 'DATABASE_PLAIN' THEN payload_plain IS NOT NULL AND octet_length(payload_plain) > 0
          AND octet_length(payload_plain) = decrypted_payload_bytes AND ${digestOf("payload_digest", "payload_plain")}
        ELSE payload_plain IS NULL END`,
    ),
    rule(
      "event_projection_deferred_deleted_ck",
      `CASE payload_storage
        WHEN 'DELETED' THEN payload_deleted_ts IS NOT NULL AND payload_deleted_reason IS NOT NULL AND ${filled("payload_deleted_reason")}
        ELSE payload_deleted_ts IS NULL AND payload_deleted_reason IS NULL END`,
    ),
    rule("event_projection_deferred_status_ck", oneOf("status", "PENDING", "RUNNING", "SUCCEEDED", "FAILED")),
    rule(
      "event_projection_deferred_status_fields_ck",
      `CASE status
        WHEN 'SUCCEEDED' THEN completed_ts IS NOT NULL AND failure_id IS NULL
        WHEN 'FAILED' THEN completed_ts IS NOT NULL AND failure_id IS NOT NULL
        ELSE completed_ts IS NULL AND failure_id IS NULL END`,
    ),
    index("event_projection_deferred_drain_ix").on(t.host_id, t.barrier_id, t.status, t.source_order_key),
    index("event_projection_deferred_pending_transaction_ix")
      .on(t.host_id, t.original_transaction_id)
      .where(sql.raw("status = 'PENDING'")),
    index("event_projection_deferred_pending_scope_ix")
      .using("gin", sql.raw("dependency_scopes jsonb_path_ops"))
      .where(sql.raw("status = 'PENDING'")),
  ],
);

/** One barrier that one parked transaction touches. Written with the parked row, insert only; it drains when all allow it. */
export const projectionDeferredScope = pgTable(
  "event_projection_deferred_scope_t",
  {
    host_id: uuid().notNull(),
    deferred_id: uuid().notNull(),
    barrier_id: uuid().notNull(),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_projection_deferred_scope_pk", columns: [t.host_id, t.deferred_id, t.barrier_id] }),
    foreignKey({
      name: "event_projection_deferred_scope_deferred_fk",
      columns: [t.host_id, t.deferred_id],
      foreignColumns: [projectionDeferred.host_id, projectionDeferred.deferred_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_projection_deferred_scope_barrier_fk",
      columns: [t.host_id, t.barrier_id],
      foreignColumns: [replayBarrier.host_id, replayBarrier.barrier_id],
    }).onDelete("restrict"),
    index("event_projection_deferred_scope_barrier_ix").on(t.host_id, t.barrier_id),
  ],
);
