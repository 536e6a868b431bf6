CREATE TABLE "consumer_offsets" (
	"group_id" text NOT NULL,
	"topic_id" integer NOT NULL,
	"partition_id" integer DEFAULT 0 NOT NULL,
	"next_offset" bigint DEFAULT 1 NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "consumer_offsets_pk" PRIMARY KEY("group_id","topic_id","partition_id"),
	CONSTRAINT "consumer_offsets_next_ck" CHECK (next_offset > 0 AND partition_id >= 0)
);
--> statement-breakpoint
CREATE TABLE "dead_letter_queue" (
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "dead_letter_queue_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"group_id" varchar(255),
	"host_id" uuid,
	"user_id" uuid,
	"event_id" uuid,
	"c_offset" bigint,
	"transaction_id" varchar(36),
	"payload" jsonb,
	"exception" text,
	"created_dt" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "dead_letter_queue_pk" PRIMARY KEY("id"),
	CONSTRAINT "dead_letter_queue_payload_ck" CHECK (payload IS NULL),
	CONSTRAINT "dead_letter_queue_exception_ck" CHECK (exception IS NULL OR exception ~ '^[A-Z][A-Z0-9_]{0,127}$')
);
--> statement-breakpoint
CREATE TABLE "event_offset_counter_t" (
	"partition_id" integer NOT NULL,
	"next_offset" bigint DEFAULT 1 NOT NULL,
	CONSTRAINT "event_offset_counter_pk" PRIMARY KEY("partition_id"),
	CONSTRAINT "event_offset_counter_partition_ck" CHECK (partition_id BETWEEN 0 AND 15),
	CONSTRAINT "event_offset_counter_next_ck" CHECK (next_offset > 0)
);
--> statement-breakpoint
CREATE TABLE "event_store_t" (
	"host_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid,
	"nonce" numeric(20, 0),
	"aggregate_type" varchar(255),
	"aggregate_id" varchar(255),
	"aggregate_version" bigint,
	"root_instance_id" uuid,
	"graph_revision" bigint,
	"event_type" varchar(255) NOT NULL,
	"event_ts" timestamp with time zone NOT NULL,
	"event_schema_version" varchar(64) NOT NULL,
	"policy_registry_version" varchar(64) DEFAULT 'event-replay-policy-v2' NOT NULL,
	"repair_schema_version" varchar(64),
	"payload" jsonb NOT NULL,
	"metadata" jsonb,
	CONSTRAINT "event_store_pk" PRIMARY KEY("host_id","id"),
	CONSTRAINT "event_store_aggregate_version_uk" UNIQUE("host_id","aggregate_type","aggregate_id","aggregate_version"),
	CONSTRAINT "event_store_aggregate_ck" CHECK (num_nulls(aggregate_type, aggregate_id, aggregate_version) IN (0, 3) AND (aggregate_version IS NULL OR aggregate_version > 0)),
	CONSTRAINT "event_store_graph_ck" CHECK ((root_instance_id IS NULL) = (graph_revision IS NULL) AND (graph_revision IS NULL OR graph_revision > 0)),
	CONSTRAINT "event_store_versions_ck" CHECK (btrim(event_schema_version) <> '' AND btrim(policy_registry_version) <> '' AND (repair_schema_version IS NULL OR btrim(repair_schema_version) <> ''))
);
--> statement-breakpoint
CREATE TABLE "instance_graph_revision_t" (
	"host_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"accepted_revision" bigint DEFAULT 0 NOT NULL,
	"projected_revision" bigint DEFAULT 0 NOT NULL,
	"accepted_ts" timestamp with time zone,
	"projected_ts" timestamp with time zone,
	CONSTRAINT "instance_graph_revision_pk" PRIMARY KEY("host_id","instance_id"),
	CONSTRAINT "instance_graph_revision_order_ck" CHECK (accepted_revision >= 0 AND projected_revision >= 0 AND projected_revision <= accepted_revision)
);
--> statement-breakpoint
CREATE TABLE "notification_t" (
	"host_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid,
	"nonce" numeric(20, 0),
	"event_class" varchar(255) NOT NULL,
	"event_json" text,
	"event_ts" timestamp with time zone,
	"process_ts" timestamp with time zone NOT NULL,
	"status" varchar(16) NOT NULL,
	"error" varchar(128),
	"aggregate_id" varchar(255),
	"aggregate_type" varchar(255),
	"aggregate_version" bigint,
	"event_partition" integer,
	"event_offset" bigint,
	"transaction_id" uuid,
	"read_ts" timestamp with time zone,
	CONSTRAINT "notification_pk" PRIMARY KEY("host_id","id"),
	CONSTRAINT "notification_status_ck" CHECK (status IN ('PENDING', 'SUCCEEDED', 'FAILED', 'DLQ', 'SKIPPED')),
	CONSTRAINT "notification_event_json_ck" CHECK (event_json IS NULL),
	CONSTRAINT "notification_error_ck" CHECK (error IS NULL OR error ~ '^[A-Z][A-Z0-9_]{0,127}$')
);
--> statement-breakpoint
CREATE TABLE "outbox_message_t" (
	"host_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"user_id" uuid,
	"nonce" numeric(20, 0),
	"aggregate_type" varchar(255),
	"aggregate_id" varchar(255),
	"aggregate_version" bigint,
	"root_instance_id" uuid,
	"graph_revision" bigint,
	"event_type" varchar(255) NOT NULL,
	"event_ts" timestamp with time zone NOT NULL,
	"event_schema_version" varchar(64) NOT NULL,
	"policy_registry_version" varchar(64) DEFAULT 'event-replay-policy-v2' NOT NULL,
	"repair_schema_version" varchar(64),
	"partition_id" integer NOT NULL,
	"c_offset" bigint NOT NULL,
	"transaction_id" uuid NOT NULL,
	"transaction_ordinal" integer NOT NULL,
	"transaction_count" integer NOT NULL,
	"version_baseline" boolean DEFAULT false NOT NULL,
	"event_bytes" "bytea" NOT NULL,
	"payload_digest" varchar(64) NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outbox_message_pk" PRIMARY KEY("host_id","id"),
	CONSTRAINT "outbox_message_offset_uk" UNIQUE("partition_id","c_offset"),
	CONSTRAINT "outbox_message_transaction_uk" UNIQUE("host_id","transaction_id","transaction_ordinal"),
	CONSTRAINT "outbox_message_aggregate_ck" CHECK (num_nulls(aggregate_type, aggregate_id, aggregate_version) IN (0, 3) AND (aggregate_version IS NULL OR aggregate_version > 0)),
	CONSTRAINT "outbox_message_graph_ck" CHECK ((root_instance_id IS NULL) = (graph_revision IS NULL) AND (graph_revision IS NULL OR graph_revision > 0)),
	CONSTRAINT "outbox_message_versions_ck" CHECK (btrim(event_schema_version) <> '' AND btrim(policy_registry_version) <> '' AND (repair_schema_version IS NULL OR btrim(repair_schema_version) <> '')),
	CONSTRAINT "outbox_message_offset_ck" CHECK (c_offset > 0),
	CONSTRAINT "outbox_message_partition_ck" CHECK (partition_id = (get_byte(uuid_send(host_id), 15) & 15)),
	CONSTRAINT "outbox_message_transaction_ck" CHECK (transaction_ordinal >= 0 AND transaction_count > 0 AND transaction_ordinal < transaction_count),
	CONSTRAINT "outbox_message_digest_ck" CHECK (payload_digest = encode(sha256(event_bytes), 'hex'))
);
--> statement-breakpoint
CREATE TABLE "projected_transaction_t" (
	"host_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"transaction_id" uuid NOT NULL,
	"partition_id" integer NOT NULL,
	"last_offset" bigint NOT NULL,
	"projected_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projected_transaction_pk" PRIMARY KEY("host_id","projection_name","consumer_group","transaction_id"),
	CONSTRAINT "projected_transaction_position_ck" CHECK (partition_id >= 0 AND last_offset >= 0)
);
--> statement-breakpoint
CREATE TABLE "projection_range_t" (
	"consumer_group" text NOT NULL,
	"partition_id" integer NOT NULL,
	"first_offset" bigint NOT NULL,
	"last_offset" bigint NOT NULL,
	"projected_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projection_range_pk" PRIMARY KEY("consumer_group","partition_id","first_offset"),
	CONSTRAINT "projection_range_order_ck" CHECK (first_offset > 0 AND last_offset >= first_offset)
);
--> statement-breakpoint
CREATE TABLE "projection_scope_t" (
	"host_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"scope_type" varchar(32) NOT NULL,
	"scope_key" varchar(1024) NOT NULL,
	"projected_version" bigint NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projection_scope_pk" PRIMARY KEY("host_id","projection_name","consumer_group","scope_type","scope_key"),
	CONSTRAINT "projection_scope_type_ck" CHECK (scope_type IN ('AGGREGATE', 'GRAPH_ROOT')),
	CONSTRAINT "projection_scope_key_ck" CHECK (btrim(scope_key) <> ''),
	CONSTRAINT "projection_scope_version_ck" CHECK (projected_version > 0)
);
--> statement-breakpoint
CREATE TABLE "event_failure_delivery_t" (
	"host_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"delivery_fingerprint" varchar(64) NOT NULL,
	"source_processor" varchar(16) NOT NULL,
	"source_coordinates" jsonb NOT NULL,
	"observation_count" integer DEFAULT 1 NOT NULL,
	"first_observed_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"last_observed_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_failure_delivery_pk" PRIMARY KEY("host_id","delivery_id"),
	CONSTRAINT "event_failure_delivery_uk" UNIQUE("host_id","failure_id","delivery_fingerprint"),
	CONSTRAINT "event_failure_delivery_fingerprint_ck" CHECK (delivery_fingerprint ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_failure_delivery_processor_ck" CHECK (source_processor IN ('DATABASE', 'KAFKA')),
	CONSTRAINT "event_failure_delivery_coordinates_ck" CHECK (jsonb_typeof(source_coordinates) = 'object'),
	CONSTRAINT "event_failure_delivery_count_ck" CHECK (observation_count > 0 AND last_observed_ts >= first_observed_ts)
);
--> statement-breakpoint
CREATE TABLE "event_failure_event_t" (
	"host_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"event_ordinal" integer NOT NULL,
	"event_id" varchar(255) NOT NULL,
	"event_type" varchar(255) NOT NULL,
	"aggregate_id" varchar(255),
	"aggregate_type" varchar(255),
	"aggregate_version" bigint,
	"root_instance_id" uuid,
	"graph_revision" bigint,
	"clone_request_id" uuid,
	"user_id" uuid,
	"source_processor" varchar(16) NOT NULL,
	"source_topic" varchar(255),
	"source_partition" integer,
	"source_offset" bigint NOT NULL,
	"source_key" "bytea",
	"source_headers" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"payload_format" varchar(32) NOT NULL,
	"payload_digest" varchar(64) NOT NULL,
	"payload_storage" varchar(16) NOT NULL,
	"payload_plain" "bytea",
	"decrypted_payload_bytes" bigint NOT NULL,
	"sensitive_payload" boolean DEFAULT false NOT NULL,
	"payload_deleted_ts" timestamp with time zone,
	"payload_deleted_reason" varchar(1024),
	"event_schema_version" varchar(64),
	"policy_registry_version" varchar(64) DEFAULT 'event-replay-policy-v2' NOT NULL,
	"repair_schema_version" varchar(64),
	"version_baseline" boolean DEFAULT false NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_failure_event_pk" PRIMARY KEY("host_id","failure_id","event_ordinal"),
	CONSTRAINT "event_failure_event_digest_uk" UNIQUE("host_id","failure_id","event_ordinal","event_id","payload_digest"),
	CONSTRAINT "event_failure_event_ordinal_ck" CHECK (event_ordinal >= 0),
	CONSTRAINT "event_failure_event_versions_ck" CHECK ((aggregate_version IS NULL OR aggregate_version >= 0) AND (graph_revision IS NULL OR graph_revision >= 0)),
	CONSTRAINT "event_failure_event_processor_ck" CHECK (source_processor IN ('DATABASE', 'KAFKA')),
	CONSTRAINT "event_failure_event_source_ck" CHECK (source_offset >= 0 AND source_partition IS NOT NULL AND source_partition >= 0
        AND (source_processor = 'KAFKA') = (source_topic IS NOT NULL)),
	CONSTRAINT "event_failure_event_headers_ck" CHECK (jsonb_typeof(source_headers) = 'array'),
	CONSTRAINT "event_failure_event_digest_ck" CHECK (payload_digest ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_failure_event_bytes_ck" CHECK (decrypted_payload_bytes >= 0),
	CONSTRAINT "event_failure_event_storage_ck" CHECK (payload_storage IN ('DATABASE_PLAIN', 'DATABASE', 'OBJECT', 'DELETED')),
	CONSTRAINT "event_failure_event_payload_ck" CHECK (CASE payload_storage
        WHEN 'DATABASE_PLAIN' THEN payload_plain IS NOT NULL AND octet_length(payload_plain) > 0
          AND octet_length(payload_plain) = decrypted_payload_bytes AND payload_digest = encode(sha256(payload_plain), 'hex')
        ELSE payload_plain IS NULL END),
	CONSTRAINT "event_failure_event_deleted_ck" CHECK (CASE payload_storage
        WHEN 'DELETED' THEN payload_deleted_ts IS NOT NULL AND payload_deleted_reason IS NOT NULL AND btrim(payload_deleted_reason) <> ''
        ELSE payload_deleted_ts IS NULL AND payload_deleted_reason IS NULL END)
);
--> statement-breakpoint
CREATE TABLE "event_failure_publish_outbox_t" (
	"host_id" uuid NOT NULL,
	"publication_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"envelope_version" varchar(64) NOT NULL,
	"target_topic" varchar(255) NOT NULL,
	"status" varchar(32) DEFAULT 'PENDING' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"next_attempt_ts" timestamp with time zone,
	"first_error_ts" timestamp with time zone,
	"last_error_ts" timestamp with time zone,
	"error_code" varchar(128),
	"error_message" varchar(2048),
	"published_ts" timestamp with time zone,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_failure_publish_outbox_pk" PRIMARY KEY("host_id","publication_id"),
	CONSTRAINT "event_failure_publish_outbox_uk" UNIQUE("host_id","failure_id","envelope_version","target_topic"),
	CONSTRAINT "event_failure_publish_outbox_status_ck" CHECK (status IN ('PENDING', 'RETRY_WAIT', 'PUBLISHED', 'TERMINAL_FAILED')),
	CONSTRAINT "event_failure_publish_outbox_attempts_ck" CHECK (attempt_count >= 0),
	CONSTRAINT "event_failure_publish_outbox_fields_ck" CHECK (CASE status
        WHEN 'PENDING' THEN next_attempt_ts IS NULL AND published_ts IS NULL
        WHEN 'RETRY_WAIT' THEN next_attempt_ts IS NOT NULL AND published_ts IS NULL
        WHEN 'PUBLISHED' THEN published_ts IS NOT NULL
        ELSE next_attempt_ts IS NULL AND published_ts IS NULL END),
	CONSTRAINT "event_failure_publish_outbox_errors_ck" CHECK ((first_error_ts IS NULL) = (last_error_ts IS NULL) AND (first_error_ts IS NULL OR last_error_ts >= first_error_ts))
);
--> statement-breakpoint
CREATE TABLE "event_failure_rollup_t" (
	"host_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"status" varchar(16) NOT NULL,
	"cause_key" varchar(512) NOT NULL,
	"n" bigint NOT NULL,
	"error_code" varchar(128),
	"error_type" varchar(255),
	"error_constraint" varchar(63),
	"failed_event_type" varchar(255),
	CONSTRAINT "event_failure_rollup_pk" PRIMARY KEY("host_id","projection_name","consumer_group","status","cause_key"),
	CONSTRAINT "event_failure_rollup_status_ck" CHECK (status IN ('OPEN', 'RESOLVED', 'WAIVED')),
	CONSTRAINT "event_failure_rollup_n_ck" CHECK (n >= 0)
);
--> statement-breakpoint
CREATE TABLE "event_failure_scope_t" (
	"host_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"scope_type" varchar(32) NOT NULL,
	"scope_key" varchar(1024) NOT NULL,
	"status" varchar(16) DEFAULT 'OPEN' NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_failure_scope_pk" PRIMARY KEY("host_id","failure_id","scope_type","scope_key"),
	CONSTRAINT "event_failure_scope_type_ck" CHECK (scope_type IN ('GRAPH_ROOT', 'AGGREGATE', 'HOST', 'DB_PARTITION', 'KAFKA_PARTITION', 'PROJECTION')),
	CONSTRAINT "event_failure_scope_key_ck" CHECK (btrim(scope_key) <> ''),
	CONSTRAINT "event_failure_scope_status_ck" CHECK (status IN ('OPEN', 'RESOLVED', 'WAIVED'))
);
--> statement-breakpoint
CREATE TABLE "event_failure_transaction_t" (
	"host_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"first_source_processor" varchar(16) NOT NULL,
	"source_partition" integer,
	"original_transaction_id" varchar(255) NOT NULL,
	"content_fingerprint" varchar(64) NOT NULL,
	"event_count" integer NOT NULL,
	"decrypted_payload_bytes" bigint DEFAULT 0 NOT NULL,
	"dependency_scopes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"replay_policy" varchar(32) NOT NULL,
	"executable" boolean DEFAULT true NOT NULL,
	"policy_registry_version" varchar(64) DEFAULT 'event-replay-policy-v2' NOT NULL,
	"status" varchar(16) DEFAULT 'OPEN' NOT NULL,
	"error_code" varchar(128),
	"error_type" varchar(255),
	"error_constraint" varchar(63),
	"error_details" jsonb,
	"error_message" varchar(2048),
	"failed_ordinal" integer,
	"failed_event_type" varchar(255),
	"cause_key" varchar(512) NOT NULL,
	"failure_count" integer DEFAULT 1 NOT NULL,
	"first_failed_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"last_failed_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"resolved_ts" timestamp with time zone,
	"resolved_by_request_id" uuid,
	"resolved_by_repair_id" uuid,
	"resolution_code" varchar(64),
	"legal_hold" boolean DEFAULT false NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_failure_transaction_pk" PRIMARY KEY("host_id","failure_id"),
	CONSTRAINT "event_failure_fingerprint_uk" UNIQUE("host_id","projection_name","consumer_group","content_fingerprint"),
	CONSTRAINT "event_failure_scope_target_uk" UNIQUE("host_id","failure_id","projection_name","consumer_group","status"),
	CONSTRAINT "event_failure_processor_ck" CHECK (first_source_processor IN ('DATABASE', 'KAFKA')),
	CONSTRAINT "event_failure_fingerprint_ck" CHECK (content_fingerprint ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_failure_counts_ck" CHECK (event_count > 0 AND failure_count > 0 AND decrypted_payload_bytes >= 0),
	CONSTRAINT "event_failure_partition_ck" CHECK (source_partition IS NULL OR source_partition >= 0),
	CONSTRAINT "event_failure_scopes_ck" CHECK (jsonb_typeof(dependency_scopes) = 'array'),
	CONSTRAINT "event_failure_policy_ck" CHECK (replay_policy IN ('GRAPH_ROOT', 'AGGREGATE_VERSION', 'TRANSACTION_ONLY', 'NOT_REPLAYABLE')),
	CONSTRAINT "event_failure_pins_ck" CHECK (btrim(policy_registry_version) <> ''),
	CONSTRAINT "event_failure_cause_ck" CHECK (btrim(cause_key) <> ''),
	CONSTRAINT "event_failure_details_ck" CHECK (error_details IS NULL OR jsonb_typeof(error_details) = 'object'),
	CONSTRAINT "event_failure_ordinal_ck" CHECK (failed_ordinal IS NULL OR (failed_ordinal >= 0 AND failed_ordinal < event_count)),
	CONSTRAINT "event_failure_status_ck" CHECK (status IN ('OPEN', 'RESOLVED', 'WAIVED')),
	CONSTRAINT "event_failure_status_fields_ck" CHECK (CASE status
        WHEN 'OPEN' THEN resolved_ts IS NULL AND resolved_by_request_id IS NULL
        WHEN 'RESOLVED' THEN resolved_ts IS NOT NULL AND resolved_by_request_id IS NOT NULL
        ELSE resolved_ts IS NOT NULL AND resolved_by_request_id IS NULL END),
	CONSTRAINT "event_failure_resolution_ck" CHECK ((resolution_code IS NULL AND resolved_by_repair_id IS NULL)
        OR (status = 'RESOLVED' AND resolution_code IS NOT NULL AND resolution_code = 'RESOLVED_BY_EXACT_REPLAY' AND resolved_by_repair_id IS NULL)
        OR (status = 'RESOLVED' AND resolution_code IS NOT NULL AND resolution_code = 'RESOLVED_BY_REPAIR' AND resolved_by_repair_id IS NOT NULL)),
	CONSTRAINT "event_failure_times_ck" CHECK (last_failed_ts >= first_failed_ts)
);
--> statement-breakpoint
CREATE TABLE "event_repair_t" (
	"host_id" uuid NOT NULL,
	"repair_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"status" varchar(32) DEFAULT 'AWAITING_APPROVAL' NOT NULL,
	"reason" varchar(2048) NOT NULL,
	"policy_registry_version" varchar(64) NOT NULL,
	"repair_schema_version" varchar(64) NOT NULL,
	"original_transaction_fingerprint" varchar(64) NOT NULL,
	"corrected_transaction_fingerprint" varchar(64) NOT NULL,
	"changed_event_count" integer NOT NULL,
	"requested_by" varchar(255) NOT NULL,
	"requested_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"decision_by" varchar(255),
	"decision_ts" timestamp with time zone,
	"approved_by" varchar(255),
	"approved_ts" timestamp with time zone,
	"applied_by" varchar(255),
	"applied_ts" timestamp with time zone,
	"completed_ts" timestamp with time zone,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_repair_pk" PRIMARY KEY("host_id","repair_id"),
	CONSTRAINT "event_repair_failure_uk" UNIQUE("host_id","repair_id","failure_id"),
	CONSTRAINT "event_repair_status_ck" CHECK (status IN ('AWAITING_APPROVAL', 'APPROVED', 'APPLIED', 'REJECTED', 'CANCELLED')),
	CONSTRAINT "event_repair_texts_ck" CHECK (btrim(reason) <> '' AND btrim(requested_by) <> ''),
	CONSTRAINT "event_repair_pins_ck" CHECK (btrim(policy_registry_version) <> '' AND btrim(repair_schema_version) <> ''),
	CONSTRAINT "event_repair_fingerprints_ck" CHECK (original_transaction_fingerprint ~ '^[0-9a-f]{64}$' AND corrected_transaction_fingerprint ~ '^[0-9a-f]{64}$'
        AND original_transaction_fingerprint <> corrected_transaction_fingerprint),
	CONSTRAINT "event_repair_count_ck" CHECK (changed_event_count > 0),
	CONSTRAINT "event_repair_pairs_ck" CHECK ((decision_by IS NULL) = (decision_ts IS NULL) AND (approved_by IS NULL) = (approved_ts IS NULL) AND (applied_by IS NULL) = (applied_ts IS NULL)),
	CONSTRAINT "event_repair_two_persons_ck" CHECK ((decision_by IS NULL OR decision_by <> requested_by) AND (approved_by IS NULL OR approved_by <> requested_by)),
	CONSTRAINT "event_repair_status_fields_ck" CHECK (CASE status
        WHEN 'AWAITING_APPROVAL' THEN num_nonnulls(decision_ts, approved_ts, applied_ts, completed_ts) = 0
        WHEN 'APPROVED' THEN num_nonnulls(decision_ts, approved_ts) = 2 AND approved_by = decision_by AND approved_ts = decision_ts
          AND num_nonnulls(applied_ts, completed_ts) = 0
        WHEN 'APPLIED' THEN num_nonnulls(decision_ts, approved_ts, applied_ts, completed_ts) = 4
          AND approved_by = decision_by AND approved_ts = decision_ts AND completed_ts = applied_ts
        WHEN 'REJECTED' THEN num_nonnulls(decision_ts, completed_ts) = 2 AND completed_ts = decision_ts
          AND num_nonnulls(approved_ts, applied_ts) = 0
        ELSE completed_ts IS NOT NULL AND applied_ts IS NULL
          AND (num_nonnulls(decision_ts, approved_ts) = 0
            OR (num_nonnulls(decision_ts, approved_ts) = 2 AND approved_by = decision_by AND approved_ts = decision_ts)) END),
	CONSTRAINT "event_repair_times_ck" CHECK ((decision_ts IS NULL OR decision_ts >= requested_ts) AND (approved_ts IS NULL OR approved_ts >= requested_ts)
        AND (applied_ts IS NULL OR applied_ts >= approved_ts) AND (completed_ts IS NULL OR completed_ts >= requested_ts))
);
--> statement-breakpoint
CREATE TABLE "event_repair_event_t" (
	"host_id" uuid NOT NULL,
	"repair_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"event_ordinal" integer NOT NULL,
	"original_event_id" varchar(255) NOT NULL,
	"original_payload_digest" varchar(64) NOT NULL,
	"corrected_payload_format" varchar(32) NOT NULL,
	"corrected_payload_storage" varchar(32) NOT NULL,
	"corrected_payload_digest" varchar(64) NOT NULL,
	"corrected_payload_plain" "bytea",
	"corrected_payload_bytes" bigint NOT NULL,
	"corrected_event_schema_version" varchar(64) NOT NULL,
	"changed_field_names" jsonb NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_repair_event_pk" PRIMARY KEY("host_id","repair_id","event_ordinal"),
	CONSTRAINT "event_repair_event_digests_ck" CHECK (original_payload_digest ~ '^[0-9a-f]{64}$' AND corrected_payload_digest ~ '^[0-9a-f]{64}$' AND original_payload_digest <> corrected_payload_digest),
	CONSTRAINT "event_repair_event_storage_ck" CHECK (corrected_payload_storage IN ('DATABASE_PLAIN', 'DATABASE', 'OBJECT', 'DELETED')),
	CONSTRAINT "event_repair_event_payload_ck" CHECK (corrected_payload_bytes >= 0 AND CASE corrected_payload_storage
        WHEN 'DATABASE_PLAIN' THEN corrected_payload_plain IS NOT NULL AND octet_length(corrected_payload_plain) > 0
          AND octet_length(corrected_payload_plain) = corrected_payload_bytes
          AND corrected_payload_digest = encode(sha256(corrected_payload_plain), 'hex')
        ELSE corrected_payload_plain IS NULL END),
	CONSTRAINT "event_repair_event_fields_ck" CHECK (CASE WHEN jsonb_typeof(changed_field_names) = 'array' THEN jsonb_array_length(changed_field_names) BETWEEN 1 AND 64
        AND NOT jsonb_path_exists(changed_field_names, '$[*] ? (@.type() != "string")')
        AND NOT jsonb_path_exists(changed_field_names, '$[*] ? (!(@ like_regex "^[^[:space:]](.{0,253}[^[:space:]])?$"))')
        ELSE false END)
);
--> statement-breakpoint
CREATE TABLE "event_projection_deferred_t" (
	"host_id" uuid NOT NULL,
	"deferred_id" uuid NOT NULL,
	"barrier_id" uuid NOT NULL,
	"failure_id" uuid,
	"original_transaction_id" varchar(255) NOT NULL,
	"content_fingerprint" varchar(64) NOT NULL,
	"source_processor" varchar(16) NOT NULL,
	"source_order_key" varchar(1024) NOT NULL,
	"source_coordinates" jsonb NOT NULL,
	"event_count" integer NOT NULL,
	"decrypted_payload_bytes" bigint DEFAULT 0 NOT NULL,
	"dependency_scopes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"payload_digest" varchar(64) NOT NULL,
	"payload_storage" varchar(16) NOT NULL,
	"payload_plain" "bytea",
	"payload_deleted_ts" timestamp with time zone,
	"payload_deleted_reason" varchar(1024),
	"status" varchar(16) DEFAULT 'PENDING' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"error_code" varchar(128),
	"error_message" varchar(2048),
	"deferred_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_ts" timestamp with time zone,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_projection_deferred_pk" PRIMARY KEY("host_id","deferred_id"),
	CONSTRAINT "event_projection_deferred_order_uk" UNIQUE("host_id","barrier_id","source_order_key"),
	CONSTRAINT "event_projection_deferred_fingerprint_uk" UNIQUE("host_id","barrier_id","content_fingerprint"),
	CONSTRAINT "event_projection_deferred_fingerprint_ck" CHECK (content_fingerprint ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_projection_deferred_processor_ck" CHECK (source_processor IN ('DATABASE', 'KAFKA')),
	CONSTRAINT "event_projection_deferred_order_ck" CHECK (btrim(source_order_key) <> ''),
	CONSTRAINT "event_projection_deferred_json_ck" CHECK (jsonb_typeof(source_coordinates) = 'object' AND jsonb_typeof(dependency_scopes) = 'array'),
	CONSTRAINT "event_projection_deferred_counts_ck" CHECK (event_count > 0 AND attempt_count >= 0 AND decrypted_payload_bytes >= 0),
	CONSTRAINT "event_projection_deferred_storage_ck" CHECK (payload_storage IN ('DATABASE_PLAIN', 'DATABASE', 'OBJECT', 'DELETED')),
	CONSTRAINT "event_projection_deferred_payload_ck" CHECK (payload_digest ~ '^[0-9a-f]{64}$' AND CASE payload_storage
        WHEN 'DATABASE_PLAIN' THEN payload_plain IS NOT NULL AND octet_length(payload_plain) > 0
          AND octet_length(payload_plain) = decrypted_payload_bytes AND payload_digest = encode(sha256(payload_plain), 'hex')
        ELSE payload_plain IS NULL END),
	CONSTRAINT "event_projection_deferred_deleted_ck" CHECK (CASE payload_storage
        WHEN 'DELETED' THEN payload_deleted_ts IS NOT NULL AND payload_deleted_reason IS NOT NULL AND btrim(payload_deleted_reason) <> ''
        ELSE payload_deleted_ts IS NULL AND payload_deleted_reason IS NULL END),
	CONSTRAINT "event_projection_deferred_status_ck" CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
	CONSTRAINT "event_projection_deferred_status_fields_ck" CHECK (CASE status
        WHEN 'SUCCEEDED' THEN completed_ts IS NOT NULL AND failure_id IS NULL
        WHEN 'FAILED' THEN completed_ts IS NOT NULL AND failure_id IS NOT NULL
        ELSE completed_ts IS NULL AND failure_id IS NULL END)
);
--> statement-breakpoint
CREATE TABLE "event_projection_deferred_scope_t" (
	"host_id" uuid NOT NULL,
	"deferred_id" uuid NOT NULL,
	"barrier_id" uuid NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_projection_deferred_scope_pk" PRIMARY KEY("host_id","deferred_id","barrier_id")
);
--> statement-breakpoint
CREATE TABLE "event_replay_attempt_t" (
	"host_id" uuid NOT NULL,
	"replay_attempt_id" uuid NOT NULL,
	"replay_request_id" uuid NOT NULL,
	"item_ordinal" integer NOT NULL,
	"attempt_number" integer NOT NULL,
	"worker_id" varchar(255) NOT NULL,
	"fencing_token" bigint NOT NULL,
	"started_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"completed_ts" timestamp with time zone,
	"result" varchar(16) DEFAULT 'RUNNING' NOT NULL,
	"projection_committed" boolean DEFAULT false NOT NULL,
	"pre_projection_metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"post_projection_metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"error_code" varchar(128),
	"error_message" varchar(2048),
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_attempt_pk" PRIMARY KEY("host_id","replay_attempt_id"),
	CONSTRAINT "event_replay_attempt_number_uk" UNIQUE("host_id","replay_request_id","item_ordinal","attempt_number"),
	CONSTRAINT "event_replay_attempt_number_ck" CHECK (attempt_number > 0 AND fencing_token >= 0),
	CONSTRAINT "event_replay_attempt_result_ck" CHECK (result IN ('RUNNING', 'SUCCEEDED', 'FAILED', 'ABANDONED')),
	CONSTRAINT "event_replay_attempt_fields_ck" CHECK ((result = 'RUNNING') = (completed_ts IS NULL) AND (result = 'SUCCEEDED' OR NOT projection_committed)),
	CONSTRAINT "event_replay_attempt_times_ck" CHECK (completed_ts IS NULL OR completed_ts >= started_ts)
);
--> statement-breakpoint
CREATE TABLE "event_replay_barrier_t" (
	"host_id" uuid NOT NULL,
	"barrier_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"scope_type" varchar(32) NOT NULL,
	"scope_key" varchar(1024) NOT NULL,
	"state" varchar(16) NOT NULL,
	"owner_type" varchar(32) NOT NULL,
	"replay_request_id" uuid,
	"quarantine_failure_id" uuid,
	"barrier_epoch" bigint NOT NULL,
	"fencing_token" bigint DEFAULT 0 NOT NULL,
	"released_by" varchar(255),
	"release_reason" varchar(2048),
	"released_ts" timestamp with time zone,
	"installed_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_barrier_pk" PRIMARY KEY("host_id","barrier_id"),
	CONSTRAINT "event_replay_barrier_scope_ck" CHECK (scope_type IN ('GRAPH_ROOT', 'AGGREGATE', 'HOST', 'DB_PARTITION', 'KAFKA_PARTITION', 'PROJECTION') AND btrim(scope_key) <> ''),
	CONSTRAINT "event_replay_barrier_state_ck" CHECK (state IN ('INSTALLING', 'ACTIVE', 'DRAINING', 'QUARANTINED')),
	CONSTRAINT "event_replay_barrier_owner_ck" CHECK (CASE owner_type
        WHEN 'REPLAY_REQUEST' THEN state <> 'QUARANTINED' AND replay_request_id IS NOT NULL AND quarantine_failure_id IS NULL
        WHEN 'FAILURE_QUARANTINE' THEN state = 'QUARANTINED' AND replay_request_id IS NULL AND quarantine_failure_id IS NOT NULL
        ELSE false END),
	CONSTRAINT "event_replay_barrier_numbers_ck" CHECK (barrier_epoch > 0 AND fencing_token >= 0),
	CONSTRAINT "event_replay_barrier_release_ck" CHECK (num_nulls(released_by, release_reason, released_ts) IN (0, 3)
        AND (released_ts IS NULL OR (state IN ('DRAINING', 'QUARANTINED') AND btrim(released_by) <> '' AND btrim(release_reason) <> '')))
);
--> statement-breakpoint
CREATE TABLE "event_replay_item_t" (
	"host_id" uuid NOT NULL,
	"replay_request_id" uuid NOT NULL,
	"item_ordinal" integer NOT NULL,
	"failure_id" uuid NOT NULL,
	"repair_id" uuid,
	"expected_content_fingerprint" varchar(64) NOT NULL,
	"dependency_reason" varchar(1024) NOT NULL,
	"added_dependency" boolean DEFAULT false NOT NULL,
	"status" varchar(16) DEFAULT 'PENDING' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"current_fencing_token" bigint DEFAULT 0 NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_item_pk" PRIMARY KEY("host_id","replay_request_id","item_ordinal"),
	CONSTRAINT "event_replay_item_failure_uk" UNIQUE("host_id","replay_request_id","failure_id"),
	CONSTRAINT "event_replay_item_ordinal_ck" CHECK (item_ordinal >= 0),
	CONSTRAINT "event_replay_item_fingerprint_ck" CHECK (expected_content_fingerprint ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_replay_item_reason_ck" CHECK (btrim(dependency_reason) <> ''),
	CONSTRAINT "event_replay_item_status_ck" CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
	CONSTRAINT "event_replay_item_counts_ck" CHECK (attempt_count >= 0 AND current_fencing_token >= 0)
);
--> statement-breakpoint
CREATE TABLE "event_replay_lease_t" (
	"host_id" uuid NOT NULL,
	"replay_request_id" uuid NOT NULL,
	"lease_owner" varchar(255) NOT NULL,
	"lease_epoch" bigint NOT NULL,
	"fencing_token" bigint NOT NULL,
	"heartbeat_ts" timestamp with time zone NOT NULL,
	"expires_ts" timestamp with time zone NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_lease_pk" PRIMARY KEY("host_id","replay_request_id"),
	CONSTRAINT "event_replay_lease_owner_ck" CHECK (btrim(lease_owner) <> ''),
	CONSTRAINT "event_replay_lease_numbers_ck" CHECK (lease_epoch > 0 AND fencing_token >= 0 AND expires_ts > heartbeat_ts)
);
--> statement-breakpoint
CREATE TABLE "event_replay_request_t" (
	"host_id" uuid NOT NULL,
	"replay_request_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"selection_strategy" varchar(32) NOT NULL,
	"validation_mode" varchar(32) NOT NULL,
	"reason" varchar(2048) NOT NULL,
	"plan_hash" varchar(64),
	"policy_registry_version" varchar(64) NOT NULL,
	"repair_schema_version" varchar(64),
	"plan_metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" varchar(32) DEFAULT 'PLANNING' NOT NULL,
	"transaction_count" integer DEFAULT 0 NOT NULL,
	"event_count" integer DEFAULT 0 NOT NULL,
	"decrypted_payload_bytes" bigint DEFAULT 0 NOT NULL,
	"requested_by" varchar(255) NOT NULL,
	"requested_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"approved_by" varchar(255),
	"approved_ts" timestamp with time zone,
	"started_by" varchar(255),
	"started_ts" timestamp with time zone,
	"completed_ts" timestamp with time zone,
	"expires_ts" timestamp with time zone NOT NULL,
	"failure_code" varchar(128),
	"failure_message" varchar(2048),
	"fencing_token" bigint DEFAULT 0 NOT NULL,
	"isolation_mode" varchar(32),
	"installed_barrier_epoch" bigint,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_request_pk" PRIMARY KEY("host_id","replay_request_id"),
	CONSTRAINT "event_replay_request_strategy_ck" CHECK (selection_strategy IN ('EXACT', 'DEPENDENCY_CLOSURE')),
	CONSTRAINT "event_replay_request_mode_ck" CHECK (validation_mode IN ('VALIDATE_ONLY', 'ROLLBACK_DRY_RUN', 'EXECUTE')),
	CONSTRAINT "event_replay_request_texts_ck" CHECK (btrim(reason) <> '' AND btrim(requested_by) <> ''),
	CONSTRAINT "event_replay_request_hash_ck" CHECK (plan_hash IS NULL OR plan_hash ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "event_replay_request_metadata_ck" CHECK (jsonb_typeof(plan_metadata) = 'object'),
	CONSTRAINT "event_replay_request_status_ck" CHECK (status IN ('PLANNING', 'READY', 'AWAITING_APPROVAL', 'APPROVED', 'INSTALLING_BARRIER', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED')),
	CONSTRAINT "event_replay_request_counts_ck" CHECK (transaction_count >= 0 AND event_count >= 0 AND decrypted_payload_bytes >= 0 AND fencing_token >= 0),
	CONSTRAINT "event_replay_request_planned_ck" CHECK (status IN ('PLANNING', 'FAILED') OR (plan_hash IS NOT NULL AND transaction_count > 0 AND event_count > 0)),
	CONSTRAINT "event_replay_request_approval_ck" CHECK ((approved_by IS NULL) = (approved_ts IS NULL)
        AND (status NOT IN ('APPROVED', 'INSTALLING_BARRIER', 'RUNNING', 'SUCCEEDED') OR approved_by IS NOT NULL)),
	CONSTRAINT "event_replay_request_two_persons_ck" CHECK (approved_by IS NULL OR approved_by <> requested_by),
	CONSTRAINT "event_replay_request_started_ck" CHECK ((started_by IS NULL) = (started_ts IS NULL) AND (status NOT IN ('RUNNING', 'SUCCEEDED') OR started_by IS NOT NULL)),
	CONSTRAINT "event_replay_request_completed_ck" CHECK ((status IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED')) = (completed_ts IS NOT NULL)),
	CONSTRAINT "event_replay_request_validate_only_ck" CHECK (validation_mode <> 'VALIDATE_ONLY' OR status NOT IN ('INSTALLING_BARRIER', 'RUNNING', 'SUCCEEDED')),
	CONSTRAINT "event_replay_request_expiry_ck" CHECK (expires_ts > requested_ts),
	CONSTRAINT "event_replay_request_epoch_ck" CHECK (installed_barrier_epoch IS NULL OR installed_barrier_epoch > 0),
	CONSTRAINT "event_replay_request_isolation_ck" CHECK (isolation_mode IS NULL OR isolation_mode IN ('GRAPH_ROOT', 'AGGREGATE', 'HOST', 'DB_PARTITION', 'KAFKA_PARTITION', 'PROJECTION'))
);
--> statement-breakpoint
CREATE TABLE "event_replay_action_request_t" (
	"host_id" uuid NOT NULL,
	"action_request_id" uuid NOT NULL,
	"action_type" varchar(32) NOT NULL,
	"status" varchar(32) DEFAULT 'AWAITING_APPROVAL' NOT NULL,
	"target_ids" jsonb NOT NULL,
	"expected_state" jsonb NOT NULL,
	"reason" varchar(2048) NOT NULL,
	"requested_by" varchar(255) NOT NULL,
	"requested_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"approved_by" varchar(255),
	"approved_ts" timestamp with time zone,
	"completed_ts" timestamp with time zone,
	"expires_ts" timestamp with time zone NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_replay_action_request_pk" PRIMARY KEY("host_id","action_request_id"),
	CONSTRAINT "event_replay_action_request_type_ck" CHECK (action_type IN ('WAIVE_FAILURES', 'RELEASE_WITH_GAP')),
	CONSTRAINT "event_replay_action_request_status_ck" CHECK (status IN ('AWAITING_APPROVAL', 'COMPLETED', 'CANCELLED', 'EXPIRED')),
	CONSTRAINT "event_replay_action_request_targets_ck" CHECK (CASE WHEN jsonb_typeof(target_ids) = 'array' THEN jsonb_array_length(target_ids) > 0 ELSE false END),
	CONSTRAINT "event_replay_action_request_state_ck" CHECK (jsonb_typeof(expected_state) = 'object'),
	CONSTRAINT "event_replay_action_request_texts_ck" CHECK (btrim(reason) <> '' AND btrim(requested_by) <> ''),
	CONSTRAINT "event_replay_action_request_two_persons_ck" CHECK (approved_by IS NULL OR approved_by <> requested_by),
	CONSTRAINT "event_replay_action_request_expiry_ck" CHECK (expires_ts > requested_ts),
	CONSTRAINT "event_replay_action_request_fields_ck" CHECK ((approved_by IS NULL) = (approved_ts IS NULL) AND (status = 'COMPLETED') = (approved_ts IS NOT NULL)
        AND (status = 'AWAITING_APPROVAL') = (completed_ts IS NULL))
);
--> statement-breakpoint
CREATE TABLE "person_t" (
	"host_id" uuid NOT NULL,
	"person_id" varchar(255) NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"display_name" varchar(255) NOT NULL,
	"roles" text[] DEFAULT '{}'::text[] NOT NULL,
	"first_seen_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "person_pk" PRIMARY KEY("host_id","person_id"),
	CONSTRAINT "person_texts_ck" CHECK (btrim(person_id) <> '' AND btrim(issuer) <> '' AND btrim(subject) <> ''),
	CONSTRAINT "person_times_ck" CHECK (last_seen_ts >= first_seen_ts)
);
--> statement-breakpoint
CREATE TABLE "event_replay_audit_t" (
	"host_id" uuid NOT NULL,
	"audit_id" uuid NOT NULL,
	"event_name" varchar(128) NOT NULL,
	"actor_type" varchar(16) NOT NULL,
	"actor_id" varchar(255) NOT NULL,
	"replay_request_id" uuid,
	"failure_id" uuid,
	"barrier_id" uuid,
	"reason" varchar(2048),
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"transaction_xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "event_replay_audit_pk" PRIMARY KEY("host_id","audit_id"),
	CONSTRAINT "event_replay_audit_actor_ck" CHECK (actor_type IN ('USER', 'WORKER', 'SYSTEM') AND btrim(actor_id) <> ''),
	CONSTRAINT "event_replay_audit_texts_ck" CHECK (btrim(event_name) <> '' AND (reason IS NULL OR btrim(reason) <> '')),
	CONSTRAINT "event_replay_audit_details_ck" CHECK (jsonb_typeof(details) = 'object')
);
--> statement-breakpoint
ALTER TABLE "event_failure_delivery_t" ADD CONSTRAINT "event_failure_delivery_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_failure_event_t" ADD CONSTRAINT "event_failure_event_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_failure_publish_outbox_t" ADD CONSTRAINT "event_failure_publish_outbox_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_failure_scope_t" ADD CONSTRAINT "event_failure_scope_failure_fk" FOREIGN KEY ("host_id","failure_id","projection_name","consumer_group","status") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id","projection_name","consumer_group","status") ON DELETE restrict ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "event_repair_t" ADD CONSTRAINT "event_repair_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_repair_event_t" ADD CONSTRAINT "event_repair_event_repair_fk" FOREIGN KEY ("host_id","repair_id","failure_id") REFERENCES "public"."event_repair_t"("host_id","repair_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_repair_event_t" ADD CONSTRAINT "event_repair_event_member_fk" FOREIGN KEY ("host_id","failure_id","event_ordinal","original_event_id","original_payload_digest") REFERENCES "public"."event_failure_event_t"("host_id","failure_id","event_ordinal","event_id","payload_digest") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_projection_deferred_t" ADD CONSTRAINT "event_projection_deferred_barrier_fk" FOREIGN KEY ("host_id","barrier_id") REFERENCES "public"."event_replay_barrier_t"("host_id","barrier_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_projection_deferred_t" ADD CONSTRAINT "event_projection_deferred_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_projection_deferred_scope_t" ADD CONSTRAINT "event_projection_deferred_scope_deferred_fk" FOREIGN KEY ("host_id","deferred_id") REFERENCES "public"."event_projection_deferred_t"("host_id","deferred_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_projection_deferred_scope_t" ADD CONSTRAINT "event_projection_deferred_scope_barrier_fk" FOREIGN KEY ("host_id","barrier_id") REFERENCES "public"."event_replay_barrier_t"("host_id","barrier_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_attempt_t" ADD CONSTRAINT "event_replay_attempt_item_fk" FOREIGN KEY ("host_id","replay_request_id","item_ordinal") REFERENCES "public"."event_replay_item_t"("host_id","replay_request_id","item_ordinal") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_barrier_t" ADD CONSTRAINT "event_replay_barrier_request_fk" FOREIGN KEY ("host_id","replay_request_id") REFERENCES "public"."event_replay_request_t"("host_id","replay_request_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_barrier_t" ADD CONSTRAINT "event_replay_barrier_failure_fk" FOREIGN KEY ("host_id","quarantine_failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_item_t" ADD CONSTRAINT "event_replay_item_request_fk" FOREIGN KEY ("host_id","replay_request_id") REFERENCES "public"."event_replay_request_t"("host_id","replay_request_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_item_t" ADD CONSTRAINT "event_replay_item_failure_fk" FOREIGN KEY ("host_id","failure_id") REFERENCES "public"."event_failure_transaction_t"("host_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_item_t" ADD CONSTRAINT "event_replay_item_repair_fk" FOREIGN KEY ("host_id","repair_id","failure_id") REFERENCES "public"."event_repair_t"("host_id","repair_id","failure_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_replay_lease_t" ADD CONSTRAINT "event_replay_lease_request_fk" FOREIGN KEY ("host_id","replay_request_id") REFERENCES "public"."event_replay_request_t"("host_id","replay_request_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dead_letter_queue_host_ix" ON "dead_letter_queue" USING btree ("host_id","created_dt");--> statement-breakpoint
CREATE INDEX "instance_graph_revision_lag_ix" ON "instance_graph_revision_t" USING btree ("host_id","instance_id") WHERE projected_revision <> accepted_revision;--> statement-breakpoint
CREATE INDEX "notification_user_ix" ON "notification_t" USING btree ("host_id","user_id","process_ts");--> statement-breakpoint
CREATE INDEX "notification_status_ix" ON "notification_t" USING btree ("host_id","status","process_ts");--> statement-breakpoint
CREATE INDEX "notification_transaction_ix" ON "notification_t" USING btree ("host_id","transaction_id");--> statement-breakpoint
CREATE INDEX "notification_position_ix" ON "notification_t" USING btree ("host_id","event_partition","event_offset");--> statement-breakpoint
CREATE INDEX "notification_unread_failure_ix" ON "notification_t" USING btree ("host_id","user_id","process_ts") WHERE read_ts IS NULL AND status IN ('FAILED', 'DLQ');--> statement-breakpoint
CREATE INDEX "event_failure_delivery_ix" ON "event_failure_delivery_t" USING btree ("host_id","failure_id","last_observed_ts");--> statement-breakpoint
CREATE INDEX "event_failure_event_graph_ix" ON "event_failure_event_t" USING btree ("host_id","root_instance_id","graph_revision") WHERE root_instance_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "event_failure_event_aggregate_ix" ON "event_failure_event_t" USING btree ("host_id","aggregate_type","aggregate_id","aggregate_version") WHERE aggregate_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "event_failure_event_source_ix" ON "event_failure_event_t" USING btree ("source_processor","source_topic","source_partition","source_offset");--> statement-breakpoint
CREATE UNIQUE INDEX "event_failure_publish_outbox_live_uk" ON "event_failure_publish_outbox_t" USING btree ("host_id","failure_id","envelope_version") WHERE status IN ('PENDING', 'RETRY_WAIT');--> statement-breakpoint
CREATE INDEX "event_failure_publish_outbox_due_ix" ON "event_failure_publish_outbox_t" USING btree ("next_attempt_ts") WHERE status IN ('PENDING', 'RETRY_WAIT');--> statement-breakpoint
CREATE INDEX "event_failure_scope_open_ix" ON "event_failure_scope_t" USING btree ("host_id","projection_name","consumer_group","scope_type","scope_key") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_scope_guard_ix" ON "event_failure_scope_t" USING btree ("host_id","scope_type","scope_key","projection_name","consumer_group","failure_id") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_open_ix" ON "event_failure_transaction_t" USING btree ("host_id","projection_name","consumer_group","last_failed_ts","failure_id") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_open_cause_ix" ON "event_failure_transaction_t" USING btree ("host_id","projection_name","consumer_group","cause_key","last_failed_ts","failure_id") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_open_first_ix" ON "event_failure_transaction_t" USING btree ("host_id","projection_name","consumer_group","first_failed_ts","failure_id") WHERE status = 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_open_diagnostic_ix" ON "event_failure_transaction_t" USING btree ("host_id","projection_name","consumer_group","cause_key","failure_id") WHERE status = 'OPEN' AND NOT executable;--> statement-breakpoint
CREATE INDEX "event_failure_status_ix" ON "event_failure_transaction_t" USING btree ("host_id","status","last_failed_ts","failure_id");--> statement-breakpoint
CREATE INDEX "event_failure_original_ix" ON "event_failure_transaction_t" USING btree ("host_id","original_transaction_id");--> statement-breakpoint
CREATE INDEX "event_failure_closed_ix" ON "event_failure_transaction_t" USING btree ("status","legal_hold","resolved_ts") WHERE status IN ('RESOLVED', 'WAIVED') AND NOT legal_hold;--> statement-breakpoint
CREATE INDEX "event_repair_failure_ix" ON "event_repair_t" USING btree ("host_id","failure_id","status","requested_ts");--> statement-breakpoint
CREATE INDEX "event_repair_status_ix" ON "event_repair_t" USING btree ("host_id","status","requested_ts");--> statement-breakpoint
CREATE INDEX "event_projection_deferred_drain_ix" ON "event_projection_deferred_t" USING btree ("host_id","barrier_id","status","source_order_key");--> statement-breakpoint
CREATE INDEX "event_projection_deferred_scope_barrier_ix" ON "event_projection_deferred_scope_t" USING btree ("host_id","barrier_id");--> statement-breakpoint
CREATE UNIQUE INDEX "event_replay_barrier_live_uk" ON "event_replay_barrier_t" USING btree ("host_id","projection_name","consumer_group","scope_type","scope_key") WHERE released_ts IS NULL;--> statement-breakpoint
CREATE INDEX "event_replay_barrier_request_ix" ON "event_replay_barrier_t" USING btree ("host_id","replay_request_id");--> statement-breakpoint
CREATE INDEX "event_replay_barrier_quarantine_ix" ON "event_replay_barrier_t" USING btree ("host_id","updated_ts") WHERE state = 'QUARANTINED' AND released_ts IS NULL;--> statement-breakpoint
CREATE INDEX "event_replay_item_status_ix" ON "event_replay_item_t" USING btree ("host_id","replay_request_id","status","item_ordinal");--> statement-breakpoint
CREATE INDEX "event_replay_item_failure_ix" ON "event_replay_item_t" USING btree ("host_id","failure_id");--> statement-breakpoint
CREATE INDEX "event_replay_lease_expiry_ix" ON "event_replay_lease_t" USING btree ("expires_ts");--> statement-breakpoint
CREATE INDEX "event_replay_request_status_ix" ON "event_replay_request_t" USING btree ("host_id","status","requested_ts");--> statement-breakpoint
CREATE INDEX "event_replay_request_expiry_ix" ON "event_replay_request_t" USING btree ("expires_ts") WHERE status IN ('READY', 'AWAITING_APPROVAL', 'APPROVED');--> statement-breakpoint
CREATE INDEX "event_replay_request_completed_ix" ON "event_replay_request_t" USING btree ("status","completed_ts","created_ts");--> statement-breakpoint
CREATE INDEX "event_replay_action_request_inbox_ix" ON "event_replay_action_request_t" USING btree ("host_id","status","expires_ts") WHERE status = 'AWAITING_APPROVAL';--> statement-breakpoint
CREATE INDEX "event_replay_audit_host_ix" ON "event_replay_audit_t" USING btree ("host_id","created_ts","audit_id");--> statement-breakpoint
CREATE INDEX "event_replay_audit_request_ix" ON "event_replay_audit_t" USING btree ("host_id","replay_request_id","created_ts") WHERE replay_request_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "event_replay_audit_failure_ix" ON "event_replay_audit_t" USING btree ("host_id","failure_id","created_ts") WHERE failure_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "event_replay_audit_barrier_ix" ON "event_replay_audit_t" USING btree ("host_id","barrier_id","created_ts") WHERE barrier_id IS NOT NULL;