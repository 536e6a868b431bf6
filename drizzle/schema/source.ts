import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea, digestOf, filled, int8, oneOf, POLICY_VERSION, paired, rule, ts, tsNow, v } from "./columns";

/** What the store and the outbox both say of one event: identity, order, pins. Written together by one append. */
const eventColumns = () => ({
  host_id: uuid().notNull(),
  id: uuid().notNull(),
  user_id: uuid(),
  nonce: numeric({ precision: 20, scale: 0 }),
  aggregate_type: v(255),
  aggregate_id: v(255),
  aggregate_version: int8(),
  root_instance_id: uuid(),
  graph_revision: int8(),
  event_type: v(255).notNull(),
  event_ts: ts().notNull(),
  event_schema_version: v(64).notNull(),
  policy_registry_version: v(64).notNull().default(POLICY_VERSION),
  repair_schema_version: v(64),
});

const eventRules = (t: string) => [
  rule(
    `${t}_aggregate_ck`,
    `num_nulls(aggregate_type, aggregate_id, aggregate_version) IN (0, 3) AND (aggregate_version IS NULL OR aggregate_version > 0)`,
  ),
  rule(
    `${t}_graph_ck`,
    `${paired("root_instance_id", "graph_revision")} AND (graph_revision IS NULL OR graph_revision > 0)`,
  ),
  rule(
    `${t}_versions_ck`,
    `${filled("event_schema_version")} AND ${filled("policy_registry_version")} AND (repair_schema_version IS NULL OR ${filled("repair_schema_version")})`,
  ),
];

/**
 * One accepted event, for ever. Written only by append, together with its outbox row; immutable from the insert on. The unique
 * aggregate key is the last word on "next version" when two appenders meet; nonce is kept as received and never unique.
 */
export const eventStore = pgTable(
  "event_store_t",
  { ...eventColumns(), payload: jsonb().notNull(), metadata: jsonb() },
  (t) => [
    primaryKey({ name: "event_store_pk", columns: [t.host_id, t.id] }),
    unique("event_store_aggregate_version_uk").on(t.host_id, t.aggregate_type, t.aggregate_id, t.aggregate_version),
    ...eventRules("event_store"),
  ],
);

/**
 * One event as the projector reads it: the canonical bytes of the complete CloudEvent with their digest, and its place in the
 * source (partition, offset) and in its transaction (ordinal of count). Written only by append; immutable from the insert on.
 * (partition, offset) serves the lane's range read; (host, transaction, ordinal) refuses a doubled member and finds a
 * transaction again.
 */
export const outboxMessage = pgTable(
  "outbox_message_t",
  {
    ...eventColumns(),
    partition_id: integer().notNull(),
    c_offset: int8().notNull(),
    transaction_id: uuid().notNull(),
    transaction_ordinal: integer().notNull(),
    transaction_count: integer().notNull(),
    version_baseline: boolean().notNull().default(false),
    event_bytes: bytea().notNull(),
    payload_digest: v(64).notNull(),
    created_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "outbox_message_pk", columns: [t.host_id, t.id] }),
    unique("outbox_message_offset_uk").on(t.partition_id, t.c_offset),
    unique("outbox_message_transaction_uk").on(t.host_id, t.transaction_id, t.transaction_ordinal),
    ...eventRules("outbox_message"),
    rule("outbox_message_offset_ck", "c_offset > 0"),
    rule("outbox_message_partition_ck", "partition_id = (get_byte(uuid_send(host_id), 15) & 15)"),
    rule(
      "outbox_message_transaction_ck",
      "transaction_ordinal >= 0 AND transaction_count > 0 AND transaction_ordinal < transaction_count",
    ),
    rule("outbox_message_digest_ck", digestOf("payload_digest", "event_bytes")),
  ],
);

/**
 * Next free offset of one host partition; sixteen rows made by the migration. Locked last by every append, so that commit
 * order equals offset order within a partition. Never decreases.
 */
export const eventOffsetCounter = pgTable(
  "event_offset_counter_t",
  { partition_id: integer().notNull(), next_offset: int8().notNull().default(1) },
  (t) => [
    primaryKey({ name: "event_offset_counter_pk", columns: [t.partition_id] }),
    rule("event_offset_counter_partition_ck", "partition_id BETWEEN 0 AND 15"),
    rule("event_offset_counter_next_ck", "next_offset > 0"),
  ],
);

/**
 * How far one consumer group has come on one lane: the next offset to read. Written by the live batch in the transaction of
 * its projections and captures, claimed by row lock for the length of the batch. Never decreases. topic_id 1 = the outbox.
 */
export const consumerOffsets = pgTable(
  "consumer_offsets",
  {
    group_id: text().notNull(),
    topic_id: integer().notNull(),
    partition_id: integer().notNull().default(0),
    next_offset: int8().notNull().default(1),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "consumer_offsets_pk", columns: [t.group_id, t.topic_id, t.partition_id] }),
    rule("consumer_offsets_next_ck", "next_offset > 0 AND partition_id >= 0"),
  ],
);

/**
 * Diagnostic trace of something that could not become a transaction at all: ids and a safe code, never bytes, never exception
 * text. Not a replay candidate. Written by the live processors; never updated. The index serves a host's newest-first list.
 */
export const deadLetterQueue = pgTable(
  "dead_letter_queue",
  {
    id: bigint({ mode: "number" }).generatedAlwaysAsIdentity().notNull(),
    group_id: v(255),
    host_id: uuid(),
    user_id: uuid(),
    event_id: uuid(),
    c_offset: int8(),
    transaction_id: v(36),
    payload: jsonb(),
    exception: text(),
    created_dt: tsNow(),
  },
  (t) => [
    primaryKey({ name: "dead_letter_queue_pk", columns: [t.id] }),
    rule("dead_letter_queue_payload_ck", "payload IS NULL"),
    rule("dead_letter_queue_exception_ck", "exception IS NULL OR exception ~ '^[A-Z][A-Z0-9_]{0,127}$'"),
    index("dead_letter_queue_host_ix").on(t.host_id, t.created_dt),
  ],
);

/**
 * What a user is told of one event: pending from the append on, then its outcome. Ids and a safe code; the event's JSON is
 * never here. id = CloudEvent id, so that redelivery updates instead of adding. Indexes: a user's list, a host's list by
 * status, one transaction's rows, a position range (success recorded as a range), the unread-failure badge.
 */
export const notification = pgTable(
  "notification_t",
  {
    host_id: uuid().notNull(),
    id: uuid().notNull(),
    user_id: uuid(),
    nonce: numeric({ precision: 20, scale: 0 }),
    event_class: v(255).notNull(),
    event_json: text(),
    event_ts: ts(),
    process_ts: ts().notNull(),
    status: v(16).notNull(),
    error: v(128),
    aggregate_id: v(255),
    aggregate_type: v(255),
    aggregate_version: int8(),
    event_partition: integer(),
    event_offset: int8(),
    transaction_id: uuid(),
    read_ts: ts(),
  },
  (t) => [
    primaryKey({ name: "notification_pk", columns: [t.host_id, t.id] }),
    rule("notification_status_ck", oneOf("status", "PENDING", "SUCCEEDED", "FAILED", "DLQ", "SKIPPED")),
    rule("notification_event_json_ck", "event_json IS NULL"),
    rule("notification_error_ck", "error IS NULL OR error ~ '^[A-Z][A-Z0-9_]{0,127}$'"),
    index("notification_user_ix").on(t.host_id, t.user_id, t.process_ts),
    index("notification_host_ix").on(t.host_id, t.process_ts, t.id),
    index("notification_status_ix").on(t.host_id, t.status, t.process_ts).where(sql.raw("status <> 'PENDING'")),
    index("notification_transaction_ix").on(t.host_id, t.transaction_id),
    index("notification_position_ix").on(t.host_id, t.event_partition, t.event_offset),
    index("notification_unread_failure_ix")
      .on(t.host_id, t.user_id, t.process_ts)
      .where(sql.raw("read_ts IS NULL AND status IN ('FAILED', 'DLQ')")),
  ],
);

/**
 * Accepted and projected revision of one instance graph. accepted_revision is raised by append, projected_revision by the
 * projection, neither ever falls; the row may precede the instance and stays after it. The index finds graphs that lag.
 */
export const instanceGraphRevision = pgTable(
  "instance_graph_revision_t",
  {
    host_id: uuid().notNull(),
    instance_id: uuid().notNull(),
    accepted_revision: int8().notNull().default(0),
    projected_revision: int8().notNull().default(0),
    accepted_ts: ts(),
    projected_ts: ts(),
  },
  (t) => [
    primaryKey({ name: "instance_graph_revision_pk", columns: [t.host_id, t.instance_id] }),
    rule(
      "instance_graph_revision_order_ck",
      "accepted_revision >= 0 AND projected_revision >= 0 AND projected_revision <= accepted_revision",
    ),
    index("instance_graph_revision_lag_ix")
      .on(t.host_id, t.instance_id)
      .where(sql.raw("projected_revision <> accepted_revision")),
  ],
);
