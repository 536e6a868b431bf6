CREATE TABLE "api_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"api_id" varchar(64) NOT NULL,
	"api_name" varchar(128),
	"api_desc" varchar(1024),
	"operation_owner" varchar(255),
	"delivery_owner" varchar(255),
	"region" varchar(16),
	"business_group" varchar(64),
	"lob" varchar(16),
	"platform" varchar(32),
	"capability" varchar(64),
	"api_tags" varchar(1024),
	"api_status" varchar(32),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "api_t_pkey" PRIMARY KEY("host_id","data_host_id","api_id")
);
--> statement-breakpoint
CREATE TABLE "api_version_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"api_version_id" uuid NOT NULL,
	"api_id" varchar(64),
	"api_version" varchar(16),
	"api_type" varchar(16),
	"service_id" varchar(255),
	"api_version_desc" varchar(1024),
	"spec" text,
	"endpoints" jsonb,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "api_version_t_pkey" PRIMARY KEY("host_id","data_host_id","api_version_id")
);
--> statement-breakpoint
CREATE TABLE "app_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"app_id" varchar(64) NOT NULL,
	"app_name" varchar(128),
	"app_desc" varchar(2048),
	"operation_owner" varchar(255),
	"delivery_owner" varchar(255),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "app_t_pkey" PRIMARY KEY("host_id","data_host_id","app_id")
);
--> statement-breakpoint
CREATE TABLE "auth_provider_client_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"provider_id" varchar(64) NOT NULL,
	"client_id" uuid NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "auth_provider_client_t_pkey" PRIMARY KEY("host_id","data_host_id","provider_id","client_id")
);
--> statement-breakpoint
CREATE TABLE "auth_provider_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"provider_id" varchar(64) NOT NULL,
	"provider_name" varchar(128),
	"provider_desc" varchar(4096),
	"operation_owner" varchar(255),
	"delivery_owner" varchar(255),
	"jwk" text,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "auth_provider_t_pkey" PRIMARY KEY("host_id","data_host_id","provider_id")
);
--> statement-breakpoint
CREATE TABLE "client_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"client_id" uuid NOT NULL,
	"app_id" varchar(64),
	"client_name" varchar(128),
	"client_type" varchar(16),
	"client_profile" varchar(16),
	"client_scope" varchar(4096),
	"redirect_uri" varchar(1024),
	"authenticate_class" varchar(256),
	"token_ex_type" varchar(32),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "client_t_pkey" PRIMARY KEY("host_id","data_host_id","client_id")
);
--> statement-breakpoint
CREATE TABLE "config_property_t" (
	"host_id" uuid NOT NULL,
	"property_id" uuid NOT NULL,
	"config_id" uuid,
	"property_name" varchar(64),
	"property_type" varchar(32),
	"light4j_version" varchar(12),
	"display_order" integer,
	"required" boolean DEFAULT false NOT NULL,
	"property_desc" varchar(4096),
	"property_value" text,
	"value_type" varchar(32),
	"resource_type" varchar(32),
	"active" boolean DEFAULT true NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "config_property_t_pkey" PRIMARY KEY("host_id","property_id"),
	CONSTRAINT "config_property_t_display_order_check" CHECK ("config_property_t"."display_order" >= 0)
);
--> statement-breakpoint
CREATE TABLE "config_t" (
	"host_id" uuid NOT NULL,
	"config_id" uuid NOT NULL,
	"config_name" varchar(128),
	"config_phase" varchar(1),
	"config_type" varchar(32),
	"light4j_version" varchar(12),
	"class_path" varchar(1024),
	"config_desc" varchar(4096),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "config_t_pkey" PRIMARY KEY("host_id","config_id"),
	CONSTRAINT "config_t_config_phase_check" CHECK ("config_t"."config_phase" in ('D', 'R'))
);
--> statement-breakpoint
CREATE TABLE "demo_defect_t" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"enabled" boolean DEFAULT false NOT NULL,
	"since_ts" timestamp with time zone,
	CONSTRAINT "demo_defect_t_single_row_check" CHECK ("demo_defect_t"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "host_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"domain" varchar(255),
	"sub_domain" varchar(255),
	"host_desc" varchar(4096),
	"host_owner" varchar(255),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "host_t_pkey" PRIMARY KEY("host_id","data_host_id")
);
--> statement-breakpoint
CREATE TABLE "org_t" (
	"host_id" uuid NOT NULL,
	"domain" varchar(255) NOT NULL,
	"org_name" varchar(255),
	"org_desc" varchar(4096),
	"org_owner" varchar(255),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "org_t_pkey" PRIMARY KEY("host_id","domain")
);
--> statement-breakpoint
CREATE TABLE "portal_entity_t" (
	"host_id" uuid NOT NULL,
	"aggregate_type" varchar(255) NOT NULL,
	"entity_id" varchar(1024) NOT NULL,
	"data" jsonb NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "portal_entity_t_pkey" PRIMARY KEY("host_id","aggregate_type","entity_id")
);
--> statement-breakpoint
CREATE TABLE "portal_record_t" (
	"host_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"event_type" varchar(255) NOT NULL,
	"data" jsonb NOT NULL,
	"record_user" uuid,
	"record_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "portal_record_t_pkey" PRIMARY KEY("host_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "ref_locale_t" (
	"host_id" uuid NOT NULL,
	"value_id" uuid NOT NULL,
	"language" varchar(16) NOT NULL,
	"value_label" varchar(256),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "ref_locale_t_pkey" PRIMARY KEY("host_id","value_id","language")
);
--> statement-breakpoint
CREATE TABLE "ref_relation_t" (
	"host_id" uuid NOT NULL,
	"relation_id" uuid NOT NULL,
	"value_id_from" uuid NOT NULL,
	"value_id_to" uuid NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "ref_relation_t_pkey" PRIMARY KEY("host_id","relation_id","value_id_from","value_id_to")
);
--> statement-breakpoint
CREATE TABLE "ref_relation_type_t" (
	"host_id" uuid NOT NULL,
	"relation_id" uuid NOT NULL,
	"relation_name" varchar(80),
	"relation_desc" varchar(1024),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "ref_relation_type_t_pkey" PRIMARY KEY("host_id","relation_id")
);
--> statement-breakpoint
CREATE TABLE "ref_table_t" (
	"host_id" uuid NOT NULL,
	"table_id" uuid NOT NULL,
	"data_host_id" uuid,
	"table_name" varchar(80),
	"table_desc" varchar(1024),
	"active" boolean DEFAULT true NOT NULL,
	"editable" boolean DEFAULT true NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "ref_table_t_pkey" PRIMARY KEY("host_id","table_id")
);
--> statement-breakpoint
CREATE TABLE "ref_value_t" (
	"host_id" uuid NOT NULL,
	"value_id" uuid NOT NULL,
	"table_id" uuid,
	"value_code" varchar(80),
	"value_desc" varchar(1024),
	"display_order" integer,
	"active" boolean DEFAULT true NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "ref_value_t_pkey" PRIMARY KEY("host_id","value_id")
);
--> statement-breakpoint
CREATE TABLE "role_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"role_id" varchar(255) NOT NULL,
	"role_desc" varchar(1024),
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "role_t_pkey" PRIMARY KEY("host_id","data_host_id","role_id")
);
--> statement-breakpoint
CREATE TABLE "role_user_t" (
	"host_id" uuid NOT NULL,
	"data_host_id" uuid NOT NULL,
	"role_id" varchar(255) NOT NULL,
	"user_id" varchar(255) NOT NULL,
	"start_ts" timestamp with time zone,
	"end_ts" timestamp with time zone,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "role_user_t_pkey" PRIMARY KEY("host_id","data_host_id","role_id","user_id"),
	CONSTRAINT "role_user_t_period_check" CHECK ("role_user_t"."start_ts" < "role_user_t"."end_ts")
);
--> statement-breakpoint
CREATE TABLE "user_host_t" (
	"host_id" uuid NOT NULL,
	"user_id" varchar(255) NOT NULL,
	"data_host_id" uuid NOT NULL,
	"current" boolean DEFAULT false NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "user_host_t_pkey" PRIMARY KEY("host_id","user_id","data_host_id")
);
--> statement-breakpoint
CREATE TABLE "user_t" (
	"host_id" uuid NOT NULL,
	"user_id" varchar(255) NOT NULL,
	"email" varchar(255) NOT NULL,
	"entity_id" varchar(255) NOT NULL,
	"user_type" varchar(16) NOT NULL,
	"referral_id" varchar(320),
	"manager_id" varchar(320),
	"language" varchar(16) NOT NULL,
	"first_name" varchar(255),
	"last_name" varchar(255),
	"phone_number" varchar(64),
	"gender" varchar(32),
	"birthday" date,
	"country" varchar(128),
	"province" varchar(128),
	"city" varchar(128),
	"post_code" varchar(32),
	"address" varchar(512),
	"verified" boolean DEFAULT false NOT NULL,
	"locked" boolean DEFAULT false NOT NULL,
	"aggregate_version" bigint NOT NULL,
	"update_user" uuid,
	"update_ts" timestamp with time zone NOT NULL,
	CONSTRAINT "user_t_pkey" PRIMARY KEY("host_id","user_id"),
	CONSTRAINT "user_t_email_key" UNIQUE("host_id","email"),
	CONSTRAINT "user_t_user_type_check" CHECK ("user_t"."user_type" in ('C', 'E'))
);
--> statement-breakpoint
ALTER TABLE "api_version_t" ADD CONSTRAINT "api_version_t_api_fkey" FOREIGN KEY ("host_id","data_host_id","api_id") REFERENCES "public"."api_t"("host_id","data_host_id","api_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_provider_client_t" ADD CONSTRAINT "auth_provider_client_t_provider_fkey" FOREIGN KEY ("host_id","data_host_id","provider_id") REFERENCES "public"."auth_provider_t"("host_id","data_host_id","provider_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auth_provider_client_t" ADD CONSTRAINT "auth_provider_client_t_client_fkey" FOREIGN KEY ("host_id","data_host_id","client_id") REFERENCES "public"."client_t"("host_id","data_host_id","client_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "client_t" ADD CONSTRAINT "client_t_app_fkey" FOREIGN KEY ("host_id","data_host_id","app_id") REFERENCES "public"."app_t"("host_id","data_host_id","app_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "config_property_t" ADD CONSTRAINT "config_property_t_config_fkey" FOREIGN KEY ("host_id","config_id") REFERENCES "public"."config_t"("host_id","config_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "host_t" ADD CONSTRAINT "host_t_org_fkey" FOREIGN KEY ("host_id","domain") REFERENCES "public"."org_t"("host_id","domain") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ref_locale_t" ADD CONSTRAINT "ref_locale_t_value_fkey" FOREIGN KEY ("host_id","value_id") REFERENCES "public"."ref_value_t"("host_id","value_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ref_relation_t" ADD CONSTRAINT "ref_relation_t_type_fkey" FOREIGN KEY ("host_id","relation_id") REFERENCES "public"."ref_relation_type_t"("host_id","relation_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ref_relation_t" ADD CONSTRAINT "ref_relation_t_from_fkey" FOREIGN KEY ("host_id","value_id_from") REFERENCES "public"."ref_value_t"("host_id","value_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ref_relation_t" ADD CONSTRAINT "ref_relation_t_to_fkey" FOREIGN KEY ("host_id","value_id_to") REFERENCES "public"."ref_value_t"("host_id","value_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ref_value_t" ADD CONSTRAINT "ref_value_t_table_fkey" FOREIGN KEY ("host_id","table_id") REFERENCES "public"."ref_table_t"("host_id","table_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_user_t" ADD CONSTRAINT "role_user_t_role_fkey" FOREIGN KEY ("host_id","data_host_id","role_id") REFERENCES "public"."role_t"("host_id","data_host_id","role_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_host_t" ADD CONSTRAINT "user_host_t_user_fkey" FOREIGN KEY ("host_id","user_id") REFERENCES "public"."user_t"("host_id","user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_host_t" ADD CONSTRAINT "user_host_t_host_fkey" FOREIGN KEY ("host_id","data_host_id") REFERENCES "public"."host_t"("host_id","data_host_id") ON DELETE no action ON UPDATE no action;