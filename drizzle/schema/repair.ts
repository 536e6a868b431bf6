import { foreignKey, index, integer, jsonb, pgTable, primaryKey, unique, uuid } from "drizzle-orm/pg-core";
import { bytea, digestOf, filled, hex64, int8, oneOf, paired, rule, ts, tsNow, v } from "./columns";
import { failureEvent, failureTransaction } from "./failure";

/**
 * One proposed correction of a failed transaction, decided by a second person. Written by the requester's command, then only
 * its decision and outcome move; definition and fingerprints are immutable from the insert on, and no row is ever deleted: a
 * change is a new repair. Indexes: a failure's repairs; a host's inbox.
 */
export const repair = pgTable(
  "event_repair_t",
  {
    host_id: uuid().notNull(),
    repair_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    status: v(32).notNull().default("AWAITING_APPROVAL"),
    reason: v(2048).notNull(),
    policy_registry_version: v(64).notNull(),
    repair_schema_version: v(64).notNull(),
    original_transaction_fingerprint: v(64).notNull(),
    corrected_transaction_fingerprint: v(64).notNull(),
    changed_event_count: integer().notNull(),
    requested_by: v(255).notNull(),
    requested_ts: tsNow(),
    decision_by: v(255),
    decision_ts: ts(),
    approved_by: v(255),
    approved_ts: ts(),
    applied_by: v(255),
    applied_ts: ts(),
    completed_ts: ts(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_repair_pk", columns: [t.host_id, t.repair_id] }),
    unique("event_repair_failure_uk").on(t.host_id, t.repair_id, t.failure_id),
    foreignKey({
      name: "event_repair_failure_fk",
      columns: [t.host_id, t.failure_id],
      foreignColumns: [failureTransaction.host_id, failureTransaction.failure_id],
    }).onDelete("restrict"),
    rule(
      "event_repair_status_ck",
      oneOf("status", "AWAITING_APPROVAL", "APPROVED", "APPLIED", "REJECTED", "CANCELLED"),
    ),
    rule("event_repair_texts_ck", `${filled("reason")} AND ${filled("requested_by")}`),
    rule("event_repair_pins_ck", `${filled("policy_registry_version")} AND ${filled("repair_schema_version")}`),
    rule(
      "event_repair_fingerprints_ck",
      `${hex64("original_transaction_fingerprint")} AND ${hex64("corrected_transaction_fingerprint")}
        AND original_transaction_fingerprint <> corrected_transaction_fingerprint`,
    ),
    rule("event_repair_count_ck", "changed_event_count > 0"),
    rule(
      "event_repair_pairs_ck",
      `${paired("decision_by", "decision_ts")} AND ${paired("approved_by", "approved_ts")} AND ${paired("applied_by", "applied_ts")}`,
    ),
    rule(
      "event_repair_two_persons_ck",
      "(decision_by IS NULL OR decision_by <> requested_by) AND (approved_by IS NULL OR approved_by <> requested_by)",
    ),
    rule(
      "event_repair_status_fields_ck",
      `CASE status
        WHEN 'AWAITING_APPROVAL' THEN num_nonnulls(decision_ts, approved_ts, applied_ts, completed_ts) = 0
        WHEN 'APPROVED' THEN num_nonnulls(decision_ts, approved_ts) = 2 AND approved_by = decision_by AND approved_ts = decision_ts
          AND num_nonnulls(applied_ts, completed_ts) = 0
        WHEN 'APPLIED' THEN num_nonnulls(decision_ts, approved_ts, applied_ts, completed_ts) = 4
          AND approved_by = decision_by AND approved_ts = decision_ts AND completed_ts = applied_ts
        WHEN 'REJECTED' THEN num_nonnulls(decision_ts, completed_ts) = 2 AND completed_ts = decision_ts
          AND num_nonnulls(approved_ts, applied_ts) = 0
        ELSE completed_ts IS NOT NULL AND applied_ts IS NULL
          AND (num_nonnulls(decision_ts, approved_ts) = 0
            OR (num_nonnulls(decision_ts, approved_ts) = 2 AND approved_by = decision_by AND approved_ts = decision_ts)) END`,
    ),
    rule(
      "event_repair_times_ck",
      `(decision_ts IS NULL OR decision_ts >= requested_ts) AND (approved_ts IS NULL OR approved_ts >= requested_ts)
        AND (applied_ts IS NULL OR applied_ts >= approved_ts) AND (completed_ts IS NULL OR completed_ts >= requested_ts)`,
    ),
    index("event_repair_failure_ix").on(t.host_id, t.failure_id, t.status, t.requested_ts),
    index("event_repair_status_ix").on(t.host_id, t.status, t.requested_ts),
  ],
);

/**
 * One corrected member of a repair, bound by foreign key to the archived member and its digest. Written with its repair,
 * insert only for ever. Size and digest of the bytes are verified by the database. Read by key only: no further index.
 */
export const repairEvent = pgTable(
  "event_repair_event_t",
  {
    host_id: uuid().notNull(),
    repair_id: uuid().notNull(),
    failure_id: uuid().notNull(),
    event_ordinal: integer().notNull(),
    original_event_id: v(255).notNull(),
    original_payload_digest: v(64).notNull(),
    corrected_payload_format: v(32).notNull(),
    corrected_payload_storage: v(32).notNull(),
    corrected_payload_digest: v(64).notNull(),
    corrected_payload_plain: bytea(),
    corrected_payload_bytes: int8().notNull(),
    corrected_event_schema_version: v(64).notNull(),
    changed_field_names: jsonb().notNull(),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_repair_event_pk", columns: [t.host_id, t.repair_id, t.event_ordinal] }),
    foreignKey({
      name: "event_repair_event_repair_fk",
      columns: [t.host_id, t.repair_id, t.failure_id],
      foreignColumns: [repair.host_id, repair.repair_id, repair.failure_id],
    }).onDelete("restrict"),
    foreignKey({
      name: "event_repair_event_member_fk",
      columns: [t.host_id, t.failure_id, t.event_ordinal, t.original_event_id, t.original_payload_digest],
      foreignColumns: [
        failureEvent.host_id,
        failureEvent.failure_id,
        failureEvent.event_ordinal,
        failureEvent.event_id,
        failureEvent.payload_digest,
      ],
    }).onDelete("restrict"),
    rule(
      "event_repair_event_digests_ck",
      `${hex64("original_payload_digest")} AND ${hex64("corrected_payload_digest")} AND original_payload_digest <> corrected_payload_digest`,
    ),
    rule(
      "event_repair_event_storage_ck",
      oneOf("corrected_payload_storage", "DATABASE_PLAIN", "DATABASE", "OBJECT", "DELETED"),
    ),
    rule(
      "event_repair_event_payload_ck",
      `corrected_payload_bytes >= 0 AND CASE corrected_payload_storage
        WHEN 'DATABASE_PLAIN' THEN corrected_payload_plain IS NOT NULL AND octet_length(corrected_payload_plain) > 0
          AND octet_length(corrected_payload_plain) = corrected_payload_bytes
          AND ${digestOf("corrected_payload_digest", "corrected_payload_plain")}
        ELSE corrected_payload_plain IS NULL END`,
    ),
    rule(
      "event_repair_event_fields_ck",
      `CASE WHEN jsonb_typeof(changed_field_names) = 'array' THEN jsonb_array_length(changed_field_names) BETWEEN 1 AND 64
        AND NOT jsonb_path_exists(changed_field_names, '$[*] ? (@.type() != "string")')
        AND NOT jsonb_path_exists(changed_field_names, '$[*] ? (!(@ like_regex "^[^[:space:]](.{0,253}[^[:space:]])?$"))')
        ELSE false END`,
    ),
  ],
);
