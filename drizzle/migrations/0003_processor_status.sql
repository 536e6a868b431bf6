CREATE TABLE "processor_status_t" (
	"instance_id" uuid NOT NULL,
	"projection_name" varchar(128) NOT NULL,
	"consumer_group" varchar(255) NOT NULL,
	"source_processor" varchar(16) NOT NULL,
	"state" varchar(16) NOT NULL,
	"code" varchar(128),
	"partition_id" integer,
	"state_since_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"started_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"heartbeat_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"stopped_ts" timestamp with time zone,
	CONSTRAINT "processor_status_pk" PRIMARY KEY("instance_id"),
	CONSTRAINT "processor_status_source_ck" CHECK (source_processor IN ('DATABASE', 'KAFKA')),
	CONSTRAINT "processor_status_state_ck" CHECK (state IN ('HEALTHY', 'RETRYING', 'STOPPED')),
	CONSTRAINT "processor_status_code_ck" CHECK ((state = 'RETRYING') = (code IS NOT NULL)),
	CONSTRAINT "processor_status_stopped_ck" CHECK ((state = 'STOPPED') = (stopped_ts IS NOT NULL))
);
