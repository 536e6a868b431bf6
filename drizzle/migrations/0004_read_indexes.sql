DROP INDEX "event_failure_open_diagnostic_ix";--> statement-breakpoint
DROP INDEX "event_failure_status_ix";--> statement-breakpoint
DROP INDEX "notification_status_ix";--> statement-breakpoint
CREATE INDEX "event_failure_diagnostic_ix" ON "event_failure_transaction_t" USING btree ("host_id","status","projection_name","consumer_group","cause_key") WHERE NOT executable;--> statement-breakpoint
CREATE INDEX "event_failure_closed_last_ix" ON "event_failure_transaction_t" USING btree ("host_id","status","projection_name","consumer_group","last_failed_ts","failure_id") WHERE status <> 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_closed_cause_ix" ON "event_failure_transaction_t" USING btree ("host_id","status","projection_name","consumer_group","cause_key","last_failed_ts","failure_id") WHERE status <> 'OPEN';--> statement-breakpoint
CREATE INDEX "event_failure_closed_first_ix" ON "event_failure_transaction_t" USING btree ("host_id","status","projection_name","consumer_group","first_failed_ts","failure_id") WHERE status <> 'OPEN';--> statement-breakpoint
CREATE INDEX "notification_host_ix" ON "notification_t" USING btree ("host_id","process_ts","id");--> statement-breakpoint
CREATE INDEX "notification_status_ix" ON "notification_t" USING btree ("host_id","status","process_ts") WHERE status <> 'PENDING';