import { sql } from "drizzle-orm";
import {
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { filled, hex64, int8, oneOf, paired, rule, ts, tsNow, v, xid8 } from "./columns";
import { replayRequest } from "./replay";

/**
 * One action that takes two persons (waive failures, release a barrier with a gap). Written by the first person's command;
 * only the second's decision moves it. Definition immutable, final states final, never deleted. The index is the inbox and
 * finds what has expired.
 */
export const actionRequest = pgTable(
  "event_replay_action_request_t",
  {
    host_id: uuid().notNull(),
    action_request_id: uuid().notNull(),
    action_type: v(32).notNull(),
    status: v(32).notNull().default("AWAITING_APPROVAL"),
    target_ids: jsonb().notNull(),
    expected_state: jsonb().notNull(),
    reason: v(2048).notNull(),
    requested_by: v(255).notNull(),
    requested_ts: tsNow(),
    approved_by: v(255),
    approved_ts: ts(),
    completed_ts: ts(),
    expires_ts: ts().notNull(),
    created_ts: tsNow(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "event_replay_action_request_pk", columns: [t.host_id, t.action_request_id] }),
    rule("event_replay_action_request_type_ck", oneOf("action_type", "WAIVE_FAILURES", "RELEASE_WITH_GAP")),
    rule(
      "event_replay_action_request_status_ck",
      oneOf("status", "AWAITING_APPROVAL", "COMPLETED", "CANCELLED", "EXPIRED"),
    ),
    rule(
      "event_replay_action_request_targets_ck",
      "CASE WHEN jsonb_typeof(target_ids) = 'array' THEN jsonb_array_length(target_ids) > 0 ELSE false END",
    ),
    rule("event_replay_action_request_state_ck", "jsonb_typeof(expected_state) = 'object'"),
    rule("event_replay_action_request_texts_ck", `${filled("reason")} AND ${filled("requested_by")}`),
    rule("event_replay_action_request_two_persons_ck", "approved_by IS NULL OR approved_by <> requested_by"),
    rule("event_replay_action_request_expiry_ck", "expires_ts > requested_ts"),
    rule(
      "event_replay_action_request_fields_ck",
      `${paired("approved_by", "approved_ts")} AND (status = 'COMPLETED') = (approved_ts IS NOT NULL)
        AND (status = 'AWAITING_APPROVAL') = (completed_ts IS NULL)`,
    ),
    index("event_replay_action_request_inbox_ix")
      .on(t.host_id, t.status, t.expires_ts)
      .where(sql.raw("status = 'AWAITING_APPROVAL'")),
  ],
);

/**
 * One thing somebody or something did, for ever. Insert only. transaction_xid is the writing transaction, so that other rules
 * can demand evidence of the same transaction. No foreign keys: evidence outlives nothing and waits for nothing.
 * Indexes: a host's newest first; of one actor; the trace of one request, failure, barrier.
 */
export const replayAudit = pgTable(
  "event_replay_audit_t",
  {
    host_id: uuid().notNull(),
    audit_id: uuid().notNull(),
    event_name: v(128).notNull(),
    actor_type: v(16).notNull(),
    actor_id: v(255).notNull(),
    replay_request_id: uuid(),
    failure_id: uuid(),
    barrier_id: uuid(),
    reason: v(2048),
    details: jsonb().notNull().default({}),
    created_ts: tsNow(),
    transaction_xid: xid8().notNull().default(sql.raw("pg_current_xact_id()")),
  },
  (t) => [
    primaryKey({ name: "event_replay_audit_pk", columns: [t.host_id, t.audit_id] }),
    rule("event_replay_audit_actor_ck", `${oneOf("actor_type", "USER", "WORKER", "SYSTEM")} AND ${filled("actor_id")}`),
    rule("event_replay_audit_texts_ck", `${filled("event_name")} AND (reason IS NULL OR ${filled("reason")})`),
    rule("event_replay_audit_details_ck", "jsonb_typeof(details) = 'object'"),
    index("event_replay_audit_host_ix").on(t.host_id, t.created_ts, t.audit_id),
    index("event_replay_audit_actor_ix").on(t.host_id, t.actor_id, t.created_ts, t.audit_id),
    index("event_replay_audit_request_ix")
      .on(t.host_id, t.replay_request_id, t.created_ts)
      .where(sql.raw("replay_request_id IS NOT NULL")),
    index("event_replay_audit_failure_ix")
      .on(t.host_id, t.failure_id, t.created_ts)
      .where(sql.raw("failure_id IS NOT NULL")),
    index("event_replay_audit_barrier_ix")
      .on(t.host_id, t.barrier_id, t.created_ts)
      .where(sql.raw("barrier_id IS NOT NULL")),
  ],
);

/**
 * The chain over a host's audit: link n holds the digest of link n - 1 and of the record it stands for, so that a record which
 * is changed, taken out, put in or moved breaks it. Written by a trigger alone, at commit; insert only.
 */
export const auditChain = pgTable(
  "event_replay_audit_chain_t",
  {
    host_id: uuid().notNull(),
    chain_no: int8().notNull(),
    audit_id: uuid().notNull(),
    previous_digest: v(64).notNull(),
    link_digest: v(64).notNull(),
  },
  (t) => [
    primaryKey({ name: "event_replay_audit_chain_pk", columns: [t.host_id, t.chain_no] }),
    unique("event_replay_audit_chain_record_uk").on(t.host_id, t.audit_id),
    rule("event_replay_audit_chain_no_ck", "chain_no > 0"),
    rule("event_replay_audit_chain_digests_ck", `${hex64("previous_digest")} AND ${hex64("link_digest")}`),
  ],
);

/**
 * Where a host's chain ends: one row a host, locked last in every transaction that writes audit, and the anchor that shows a
 * chain cut off at its end. Moved by the same trigger, one step at a time.
 */
export const auditHead = pgTable(
  "event_replay_audit_head_t",
  {
    host_id: uuid().notNull(),
    chain_no: int8().notNull(),
    link_digest: v(64).notNull(),
  },
  (t) => [
    primaryKey({ name: "event_replay_audit_head_pk", columns: [t.host_id] }),
    rule("event_replay_audit_head_ck", `chain_no >= 0 AND ${hex64("link_digest")}`),
  ],
);

/**
 * A person seen on a host, by identity (issuer + subject), with the roles last seen. Written at sign-in; says who else could
 * approve. Names are for display only, never identity.
 */
export const person = pgTable(
  "person_t",
  {
    host_id: uuid().notNull(),
    person_id: v(255).notNull(),
    issuer: text().notNull(),
    subject: text().notNull(),
    display_name: v(255).notNull(),
    roles: text().array().notNull().default(sql.raw("'{}'::text[]")),
    first_seen_ts: tsNow(),
    last_seen_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "person_pk", columns: [t.host_id, t.person_id] }),
    rule("person_texts_ck", `${filled("person_id")} AND ${filled("issuer")} AND ${filled("subject")}`),
    rule("person_times_ck", "last_seen_ts >= first_seen_ts"),
  ],
);

/**
 * Two identities that are one person, on every host. Written by the deployment's own command, never by an operation; what
 * was linked stays readable for ever, and only its end is added. The guards ask it whether two deciders are one person.
 * The unique index keeps one living link a pair; both indexes are the two directions of the look-up.
 */
export const personLink = pgTable(
  "person_link_t",
  {
    link_id: uuid().notNull(),
    /** The smaller of the two, by bytes. */
    person_a: v(255).notNull(),
    person_b: v(255).notNull(),
    reason: v(2048).notNull(),
    linked_by: v(255).notNull(),
    linked_ts: tsNow(),
    end_reason: v(2048),
    ended_by: v(255),
    ended_ts: ts(),
  },
  (t) => [
    primaryKey({ name: "person_link_pk", columns: [t.link_id] }),
    rule("person_link_pair_ck", 'person_a COLLATE "C" < person_b COLLATE "C"'),
    rule(
      "person_link_texts_ck",
      `${filled("person_a")} AND ${filled("person_b")} AND ${filled("reason")} AND ${filled("linked_by")}`,
    ),
    rule(
      "person_link_end_ck",
      "num_nonnulls(end_reason, ended_by, ended_ts) IN (0, 3) AND (ended_ts IS NULL OR ended_ts >= linked_ts)",
    ),
    uniqueIndex("person_link_living_uk").on(t.person_a, t.person_b).where(sql.raw("ended_ts IS NULL")),
    index("person_link_other_ix").on(t.person_b).where(sql.raw("ended_ts IS NULL")),
  ],
);

/**
 * One notice to approvers that a plan awaits them, on its way to the deployment's webhook. Written and moved by the sender
 * alone, one row a request while the webhook is on; holds no reason, payload or receiver's answer. The index is the queue.
 */
export const webhookDelivery = pgTable(
  "webhook_delivery_t",
  {
    host_id: uuid().notNull(),
    replay_request_id: uuid().notNull(),
    delivery_id: uuid().notNull(),
    status: v(16).notNull().default("PENDING"),
    attempt_count: integer().notNull().default(0),
    next_attempt_ts: tsNow(),
    /** HTTP status of the last answer; null when there was none. */
    last_http_status: integer(),
    completed_ts: ts(),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "webhook_delivery_pk", columns: [t.host_id, t.replay_request_id] }),
    unique("webhook_delivery_id_uk").on(t.host_id, t.delivery_id),
    foreignKey({
      name: "webhook_delivery_request_fk",
      columns: [t.host_id, t.replay_request_id],
      foreignColumns: [replayRequest.host_id, replayRequest.replay_request_id],
    }).onDelete("restrict"),
    rule("webhook_delivery_status_ck", oneOf("status", "PENDING", "DELIVERED", "GIVEN_UP")),
    rule("webhook_delivery_fields_ck", "attempt_count >= 0 AND (status = 'PENDING') = (completed_ts IS NULL)"),
    index("webhook_delivery_due_ix").on(t.next_attempt_ts).where(sql.raw("status = 'PENDING'")),
  ],
);
