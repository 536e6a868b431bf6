CREATE TABLE "webhook_delivery_t" (
	"host_id" uuid NOT NULL,
	"replay_request_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"status" varchar(16) DEFAULT 'PENDING' NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"next_attempt_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"last_http_status" integer,
	"completed_ts" timestamp with time zone,
	"created_ts" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_delivery_pk" PRIMARY KEY("host_id","replay_request_id"),
	CONSTRAINT "webhook_delivery_id_uk" UNIQUE("host_id","delivery_id"),
	CONSTRAINT "webhook_delivery_status_ck" CHECK (status IN ('PENDING', 'DELIVERED', 'GIVEN_UP')),
	CONSTRAINT "webhook_delivery_fields_ck" CHECK (attempt_count >= 0 AND (status = 'PENDING') = (completed_ts IS NULL))
);
--> statement-breakpoint
ALTER TABLE "webhook_delivery_t" ADD CONSTRAINT "webhook_delivery_request_fk" FOREIGN KEY ("host_id","replay_request_id") REFERENCES "public"."event_replay_request_t"("host_id","replay_request_id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_delivery_due_ix" ON "webhook_delivery_t" USING btree ("next_attempt_ts") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "event_projection_deferred_pending_transaction_ix" ON "event_projection_deferred_t" USING btree ("host_id","original_transaction_id") WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX "event_projection_deferred_pending_scope_ix" ON "event_projection_deferred_t" USING gin (dependency_scopes jsonb_path_ops) WHERE status = 'PENDING';