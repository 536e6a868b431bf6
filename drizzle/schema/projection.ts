import { integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { filled, int8, oneOf, rule, ts, tsNow, v } from "./columns";

/**
 * Where the projection of one ordering scope stands. Written by the projection executor (live, replay, drain) in the
 * transaction of the projection rows; locked in key order. projected_version never decreases. No further index: every access
 * is by key.
 */
export const projectionScope = pgTable(
  "projection_scope_t",
  {
    host_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    scope_type: v(32).notNull(),
    scope_key: v(1024).notNull(),
    projected_version: int8().notNull(),
    updated_ts: tsNow(),
  },
  (t) => [
    primaryKey({
      name: "projection_scope_pk",
      columns: [t.host_id, t.projection_name, t.consumer_group, t.scope_type, t.scope_key],
    }),
    rule("projection_scope_type_ck", oneOf("scope_type", "AGGREGATE", "GRAPH_ROOT")),
    rule("projection_scope_key_ck", filled("scope_key")),
    rule("projection_scope_version_ck", "projected_version > 0"),
  ],
);

/**
 * A transaction without ordering scope that has been projected: its redelivery is a no-op. Written with the projection; rows
 * below the committed source position may be pruned, since the source can't deliver them again.
 */
export const projectedTransaction = pgTable(
  "projected_transaction_t",
  {
    host_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    transaction_id: uuid().notNull(),
    partition_id: integer().notNull(),
    last_offset: int8().notNull(),
    projected_ts: tsNow(),
  },
  (t) => [
    primaryKey({
      name: "projected_transaction_pk",
      columns: [t.host_id, t.projection_name, t.consumer_group, t.transaction_id],
    }),
    rule("projected_transaction_position_ck", "partition_id >= 0 AND last_offset >= 0"),
  ],
);

/**
 * One committed live batch: every position of the range is projected or captured. A pending notification inside a range has
 * succeeded; so success costs one row a batch, not one a member. Insert only.
 */
export const projectionRange = pgTable(
  "projection_range_t",
  {
    consumer_group: text().notNull(),
    partition_id: integer().notNull(),
    first_offset: int8().notNull(),
    last_offset: int8().notNull(),
    projected_ts: tsNow(),
  },
  (t) => [
    primaryKey({ name: "projection_range_pk", columns: [t.consumer_group, t.partition_id, t.first_offset] }),
    rule("projection_range_order_ck", "first_offset > 0 AND last_offset >= first_offset"),
  ],
);

/**
 * One live processor process: what it last said of itself. Written by that process at start, every few seconds and whenever a
 * lane starts or stops having trouble; read by health and the console. A row whose heartbeat is old is a process that is gone.
 */
export const processorStatus = pgTable(
  "processor_status_t",
  {
    instance_id: uuid().notNull(),
    projection_name: v(128).notNull(),
    consumer_group: v(255).notNull(),
    source_processor: v(16).notNull(),
    state: v(16).notNull(),
    /** Safe name of the trouble (SQLSTATE_…, CAPTURE_SQLSTATE_…, CONNECTION_LOST), null while healthy. */
    code: v(128),
    partition_id: integer(),
    state_since_ts: tsNow(),
    started_ts: tsNow(),
    heartbeat_ts: tsNow(),
    stopped_ts: ts(),
  },
  (t) => [
    primaryKey({ name: "processor_status_pk", columns: [t.instance_id] }),
    rule("processor_status_source_ck", oneOf("source_processor", "DATABASE", "KAFKA")),
    rule("processor_status_state_ck", oneOf("state", "HEALTHY", "RETRYING", "STOPPED")),
    rule("processor_status_code_ck", "(state = 'RETRYING') = (code IS NOT NULL)"),
    rule("processor_status_stopped_ck", "(state = 'STOPPED') = (stopped_ts IS NOT NULL)"),
  ],
);
