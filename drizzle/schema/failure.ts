import { sql } from "drizzle-orm";
import {
  boolean,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import {
  BARRIER_SCOPE_TYPES,
  bytea,
  digestOf,
  filled,
  hex64,
  int8,
  oneOf,
  POLICY_VERSION,
  paired,
  rule,
  ts,
  tsNow,
  v,
} from "./columns";

/**
 * One canonical failure = one complete logical transaction that a projection could not apply. Written by capture in the
 * transaction that advances the source; redelivery finds the fingerprint and only raises count and last time. Identity,
 * fingerprint, counts, scopes and pins never change; a row is never deleted. OPEN → RESOLVED belongs to a running replay
 * request, OPEN → WAIVED to a completed two-person action, RESOLVED → OPEN to an audited reconciliation.
 *
 * Foreign keys to the resolving request and repair are in the guard migration (those tables refer back here).
 * Indexes: open candidates by last failure (with and without a cause) and by first failure, and the same for closed ones, which
 * capture never writes; evidence-only rows; by original transaction; and what was closed when and is not held. All ascending: newest first is the same index read backwards, whereas a DESC
 * NULLS LAST one would serve no ORDER BY … DESC. Scopes are found through event_failure_scope_t, not by a costly index on JSON.
 */
export const failureTransaction = pgTable(
  "event_failure_transaction_t",
  {
    host_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    first_source_processor: v(16).notNull(),
    source_partition: integer(),
    original_transaction_id: v(255).notNull(),
    content_fingerprint: v(64).notNull(),
    event_count: integer().notNull(),
    decrypted_payload_bytes: int8().notNull().default(0),
    dependency_scopes: jsonb().notNull().default([]),
    replay_policy: v(32).notNull(),
    executable: boolean().notNull().default(true),
    policy_registry_version: v(64).notNull().default(POLICY_VERSION),
    status: v(16).notNull().default("OPEN"),
    error_code: v(128),
    error_type: v(255),
    error_constraint: v(63),
    error_details: jsonb(),
    error_message: v(2048),
    failed_ordinal: integer(),
    failed_event_type: v(255),
    cause_key: v(512).notNull(),
    failure_count: integer().notNull().default(1),
    first_failed_ts: tsNow(),
    last_failed_ts: tsNow(),
    resolved_ts: ts(),
    resolved_by_request_id: uuid(),
    resolved_by_repair_id: uuid(),
    resolution_code: v(64),
    legal_hold: boolean().notNull().default(false),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_failure_transaction_pk", columns: [t.host_id, t.failure_id] }),
    unique("event_failure_fingerprint_uk").on(t.host_id, t.projection_name, t.consumer_group, t.content_fingerprint),
    unique("event_failure_scope_target_uk").on(t.host_id, t.failure_id, t.projection_name, t.consumer_group, t.status),
    rule("event_failure_processor_ck", oneOf("first_source_processor", "DATABASE", "KAFKA")),
    rule("event_failure_fingerprint_ck", hex64("content_fingerprint")),
    rule("event_failure_counts_ck", "event_count > 0 AND failure_count > 0 AND decrypted_payload_bytes >= 0"),
    rule("event_failure_partition_ck", "source_partition IS NULL OR source_partition >= 0"),
    rule("event_failure_scopes_ck", "jsonb_typeof(dependency_scopes) = 'array'"),
    rule(
      "event_failure_policy_ck",
      oneOf("replay_policy", "GRAPH_ROOT", "AGGREGATE_VERSION", "TRANSACTION_ONLY", "NOT_REPLAYABLE"),
    ),
    rule("event_failure_pins_ck", filled("policy_registry_version")),
    rule("event_failure_cause_ck", filled("cause_key")),
    rule("event_failure_details_ck", "error_details IS NULL OR jsonb_typeof(error_details) = 'object'"),
    rule(
      "event_failure_ordinal_ck",
      "failed_ordinal IS NULL OR (failed_ordinal >= 0 AND failed_ordinal < event_count)",
    ),
    rule("event_failure_status_ck", oneOf("status", "OPEN", "RESOLVED", "WAIVED")),
    rule(
      "event_failure_status_fields_ck",
      `CASE status
        WHEN 'OPEN' THEN resolved_ts IS NULL AND resolved_by_request_id IS NULL
        WHEN 'RESOLVED' THEN resolved_ts IS NOT NULL AND resolved_by_request_id IS NOT NULL
        ELSE resolved_ts IS NOT NULL AND resolved_by_request_id IS NULL END`,
    ),
    rule(
      "event_failure_resolution_ck",
      `(resolution_code IS NULL AND resolved_by_repair_id IS NULL)
        OR (status = 'RESOLVED' AND resolution_code IS NOT NULL AND resolution_code = 'RESOLVED_BY_EXACT_REPLAY' AND resolved_by_repair_id IS NULL)
        OR (status = 'RESOLVED' AND resolution_code IS NOT NULL AND resolution_code = 'RESOLVED_BY_REPAIR' AND resolved_by_repair_id IS NOT NULL)`,
    ),
    rule("event_failure_times_ck", "last_failed_ts >= first_failed_ts"),
    index("event_failure_open_ix")
      .on(t.host_id, t.projection_name, t.consumer_group, t.last_failed_ts, t.failure_id)
      .where(sql.raw("status = 'OPEN'")),
    index("event_failure_open_cause_ix")
      .on(t.host_id, t.projection_name, t.consumer_group, t.cause_key, t.last_failed_ts, t.failure_id)
      .where(sql.raw("status = 'OPEN'")),
    index("event_failure_open_first_ix")
      .on(t.host_id, t.projection_name, t.consumer_group, t.first_failed_ts, t.failure_id)
      .where(sql.raw("status = 'OPEN'")),
    index("event_failure_diagnostic_ix")
      .on(t.host_id, t.status, t.projection_name, t.consumer_group, t.cause_key)
      .where(sql.raw("NOT executable")),
    index("event_failure_closed_last_ix")
      .on(t.host_id, t.status, t.projection_name, t.consumer_group, t.last_failed_ts, t.failure_id)
      .where(sql.raw("status <> 'OPEN'")),
    index("event_failure_closed_cause_ix")
      .on(t.host_id, t.status, t.projection_name, t.consumer_group, t.cause_key, t.last_failed_ts, t.failure_id)
      .where(sql.raw("status <> 'OPEN'")),
    index("event_failure_closed_first_ix")
      .on(t.host_id, t.status, t.projection_name, t.consumer_group, t.first_failed_ts, t.failure_id)
      .where(sql.raw("status <> 'OPEN'")),
    index("event_failure_original_ix").on(t.host_id, t.original_transaction_id),
    index("event_failure_closed_ix")
      .on(t.status, t.legal_hold, t.resolved_ts)
      .where(sql.raw("status IN ('RESOLVED', 'WAIVED') AND NOT legal_hold")),
  ],
);

/**
 * One ordered member of a failure with the exact bytes its source delivered. Written by capture with its failure; immutable,
 * except that the bytes may be deleted once, with time and reason (storage DELETED). The digest is verified by the database.
 * DATABASE and OBJECT exist only as taken-over history without bytes and are never executed.
 * Indexes: graph and aggregate predecessors of a closure; where a source position was captured.
 */
export const failureEvent = pgTable(
  "event_failure_event_t",
  {
    host_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    event_ordinal: integer().notNull(),
    event_id: v(255).notNull(),
    event_type: v(255).notNull(),
    aggregate_id: v(255),
    aggregate_type: v(255),
    aggregate_version: int8(),
    root_instance_id: uuid(),
    graph_revision: int8(),
    clone_request_id: uuid(),
    user_id: uuid(),
    source_processor: v(16).notNull(),
    source_topic: v(255),
    source_partition: integer(),
    source_offset: int8().notNull(),
    source_key: bytea(),
    source_headers: jsonb().notNull().default([]),
    payload_format: v(32).notNull(),
    payload_digest: v(64).notNull(),
    payload_storage: v(16).notNull(),
    payload_plain: bytea(),
    decrypted_payload_bytes: int8().notNull(),
    sensitive_payload: boolean().notNull().default(false),
    payload_deleted_ts: ts(),
    payload_deleted_reason: v(1024),
    event_schema_version: v(64),
    policy_registry_version: v(64).notNull().default(POLICY_VERSION),
    repair_schema_version: v(64),
    version_baseline: boolean().notNull().default(false),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_failure_event_pk", columns: [t.host_id, t.failure_id, t.event_ordinal] }),
    unique("event_failure_event_digest_uk").on(t.host_id, t.failure_id, t.event_ordinal, t.event_id, t.payload_digest),
    foreignKey({
      name: "event_failure_event_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule("event_failure_event_ordinal_ck", "event_ordinal >= 0"),
    rule(
      "event_failure_event_versions_ck",
      "(aggregate_version IS NULL OR aggregate_version >= 0) AND (graph_revision IS NULL OR graph_revision >= 0)",
    ),
    rule("event_failure_event_processor_ck", oneOf("source_processor", "DATABASE", "KAFKA")),
    rule(
      "event_failure_event_source_ck",
      `source_offset >= 0 AND source_partition IS NOT NULL AND source_partition >= 0
        AND (source_processor = 'KAFKA') = (source_topic IS NOT NULL)`,
    ),
    rule("event_failure_event_headers_ck", "jsonb_typeof(source_headers) = 'array'"),
    rule("event_failure_event_digest_ck", hex64("payload_digest")),
    rule("event_failure_event_bytes_ck", "decrypted_payload_bytes >= 0"),
    rule("event_failure_event_storage_ck", oneOf("payload_storage", "DATABASE_PLAIN", "DATABASE", "OBJECT", "DELETED")),
    rule(
      "event_failure_event_payload_ck",
      `CASE payload_storage
        WHEN 'DATABASE_PLAIN' THEN payload_plain IS NOT NULL AND octet_length(payload_plain) > 0
          AND octet_length(payload_plain) = decrypted_payload_bytes AND ${digestOf("payload_digest", "payload_plain")}
        ELSE payload_plain IS NULL END`,
    ),
    rule(
      "event_failure_event_deleted_ck",
      `CASE payload_storage
        WHEN 'DELETED' THEN payload_deleted_ts IS NOT NULL AND payload_deleted_reason IS NOT NULL AND ${filled("payload_deleted_reason")}
        ELSE payload_deleted_ts IS NULL AND payload_deleted_reason IS NULL END`,
    ),
    index("event_failure_event_graph_ix")
      .on(t.host_id, t.root_instance_id, t.graph_revision)
      .where(sql.raw("root_instance_id IS NOT NULL")),
    index("event_failure_event_aggregate_ix")
      .on(t.host_id, t.aggregate_type, t.aggregate_id, t.aggregate_version)
      .where(sql.raw("aggregate_id IS NOT NULL")),
    index("event_failure_event_source_ix").on(t.source_processor, t.source_topic, t.source_partition, t.source_offset),
  ],
);

/**
 * One ordering scope a failure holds. Written by capture; afterwards only its status moves, and only by the foreign key: it
 * always equals the failure's. Both indexes hold OPEN rows only: the first serves continuity and closure (which know the
 * projection), the second the command guard (which doesn't).
 */
export const failureScope = pgTable(
  "event_failure_scope_t",
  {
    host_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    scope_type: v(32).notNull(),
    scope_key: v(1024).notNull(),
    status: v(16).notNull().default("OPEN"),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_failure_scope_pk", columns: [t.host_id, t.failure_id, t.scope_type, t.scope_key] }),
    foreignKey({
      name: "event_failure_scope_failure_fk",
      columns: [t.host_id, t.failure_id, t.projection_name, t.consumer_group, t.status],
      foreignColumns: [
        failureTransaction.host_id,
        failureTransaction.failure_id,
        failureTransaction.projection_name,
        failureTransaction.consumer_group,
        failureTransaction.status,
      ],
    })
      .onDelete("restrict")
      .onUpdate("cascade"),
    rule("event_failure_scope_type_ck", oneOf("scope_type", ...BARRIER_SCOPE_TYPES)),
    rule("event_failure_scope_key_ck", filled("scope_key")),
    rule("event_failure_scope_status_ck", oneOf("status", "OPEN", "RESOLVED", "WAIVED")),
    index("event_failure_scope_open_ix")
      .on(t.host_id, t.projection_name, t.consumer_group, t.scope_type, t.scope_key)
      .where(sql.raw("status = 'OPEN'")),
    index("event_failure_scope_guard_ix")
      .on(t.host_id, t.scope_type, t.scope_key, t.projection_name, t.consumer_group, t.failure_id)
      .where(sql.raw("status = 'OPEN'")),
  ],
);

/**
 * One distinct delivery of a failed transaction (same content, own coordinates). Written by capture; a repeated delivery only
 * raises count and last time. The index lists a failure's deliveries newest first.
 */
export const failureDelivery = pgTable(
  "event_failure_delivery_t",
  {
    host_id: uuid().notNull(),
    delivery_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    delivery_fingerprint: v(64).notNull(),
    source_processor: v(16).notNull(),
    source_coordinates: jsonb().notNull(),
    observation_count: integer().notNull().default(1),
    first_observed_ts: tsNow(),
    last_observed_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_failure_delivery_pk", columns: [t.host_id, t.delivery_id] }),
    unique("event_failure_delivery_uk").on(t.host_id, t.failure_id, t.delivery_fingerprint),
    foreignKey({
      name: "event_failure_delivery_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule("event_failure_delivery_fingerprint_ck", hex64("delivery_fingerprint")),
    rule("event_failure_delivery_processor_ck", oneOf("source_processor", "DATABASE", "KAFKA")),
    rule("event_failure_delivery_coordinates_ck", "jsonb_typeof(source_coordinates) = 'object'"),
    rule("event_failure_delivery_count_ck", "observation_count > 0 AND last_observed_ts >= first_observed_ts"),
    index("event_failure_delivery_ix").on(t.host_id, t.failure_id, t.last_observed_ts),
  ],
);

/**
 * External publication of a failure, one live attempt per failure and envelope. Written by the publisher; the envelope's
 * identity never changes. The partial unique index forbids two publications under way.
 */
export const failurePublishOutbox = pgTable(
  "event_failure_publish_outbox_t",
  {
    host_id: uuid().notNull(),
    publication_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    envelope_version: v(64).notNull(),
    target_topic: v(255).notNull(),
    status: v(32).notNull().default("PENDING"),
    attempt_count: integer().notNull().default(0),
    next_attempt_ts: ts(),
    first_error_ts: ts(),
    last_error_ts: ts(),
    error_code: v(128),
    error_message: v(2048),
    published_ts: ts(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_failure_publish_outbox_pk", columns: [t.host_id, t.publication_id] }),
    unique("event_failure_publish_outbox_uk").on(t.host_id, t.failure_id, t.envelope_version, t.target_topic),
    foreignKey({
      name: "event_failure_publish_outbox_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule(
      "event_failure_publish_outbox_status_ck",
      oneOf("status", "PENDING", "RETRY_WAIT", "PUBLISHED", "TERMINAL_FAILED"),
    ),
    rule("event_failure_publish_outbox_attempts_ck", "attempt_count >= 0"),
    rule(
      "event_failure_publish_outbox_fields_ck",
      `CASE status
        WHEN 'PENDING' THEN next_attempt_ts IS NULL AND published_ts IS NULL
        WHEN 'RETRY_WAIT' THEN next_attempt_ts IS NOT NULL AND published_ts IS NULL
        WHEN 'PUBLISHED' THEN published_ts IS NOT NULL
        ELSE next_attempt_ts IS NULL AND published_ts IS NULL END`,
    ),
    rule(
      "event_failure_publish_outbox_errors_ck",
      `${paired("first_error_ts", "last_error_ts")} AND (first_error_ts IS NULL OR last_error_ts >= first_error_ts)`,
    ),
    uniqueIndex("event_failure_publish_outbox_live_uk")
      .on(t.host_id, t.failure_id, t.envelope_version)
      .where(sql.raw("status IN ('PENDING', 'RETRY_WAIT')")),
    index("event_failure_publish_outbox_due_ix")
      .on(t.next_attempt_ts)
      .where(sql.raw("status IN ('PENDING', 'RETRY_WAIT')")),
  ],
);

/**
 * How many failures of one cause are in one status. Written only by triggers on the failure table, in the very transaction
 * that captures or resolves: totals and groups are exact whoever writes, and a list never counts. Rows may stay at zero.
 */
export const failureRollup = pgTable(
  "event_failure_rollup_t",
  {
    host_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    status: v(16).notNull(),
    cause_key: v(512).notNull(),
    n: int8().notNull(),
    error_code: v(128),
    error_type: v(255),
    error_constraint: v(63),
    failed_event_type: v(255),
  },
  (t) => [
    primaryKey({
      name: "event_failure_rollup_pk",
      columns: [t.host_id, t.projection_name, t.consumer_group, t.status, t.cause_key],
    }),
    rule("event_failure_rollup_status_ck", oneOf("status", "OPEN", "RESOLVED", "WAIVED")),
    rule("event_failure_rollup_n_ck", "n >= 0"),
  ],
);
