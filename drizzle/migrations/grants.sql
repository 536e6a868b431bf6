-- What each role may do: all of it, and nothing else. `npm run db:migrate` runs this after the migrations, every time, so that
-- roles made later get their rights too; a section whose role doesn't exist is left out. It may also be run by hand with psql.
-- Each section begins by taking back whatever the role may do with the owner's tables, so a grant of your own (to a table of
-- your own projection, say) belongs into this file. Nobody here may DELETE, TRUNCATE or change what is evidence; the audit and
-- what is appended are insert only. Columns that hold bytes, JSON, keys or headers of events are granted one by one.

-- role: event_admin_web
-- The web processes: append, plans, approvals, execution, reads.

DO $$
DECLARE
  owned regclass;
BEGIN
  FOR owned IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                AND pg_has_role(relowner, 'USAGE') LOOP
    EXECUTE format('REVOKE ALL ON %s FROM event_admin_web', owned);
  END LOOP;
END $$;
-- What runs with the owner's rights is for its own triggers: on a table of a role's own it would write what that role may not.
REVOKE EXECUTE ON FUNCTION ea_chain_audit(), ea_failure_rollup_insert(), ea_failure_rollup_update() FROM PUBLIC,
  event_admin_web;
GRANT USAGE ON SCHEMA public TO event_admin_web;

-- Reads: everything but the bytes of events,
GRANT SELECT ON consumer_offsets, event_offset_counter_t, instance_graph_revision_t, projection_scope_t,
  projection_range_t, projected_transaction_t, processor_status_t, event_failure_transaction_t, event_failure_scope_t,
  event_failure_delivery_t, event_failure_rollup_t, event_failure_publish_outbox_t, event_repair_t,
  event_replay_request_t, event_replay_item_t, event_replay_attempt_t, event_replay_lease_t, event_replay_barrier_t,
  event_projection_deferred_scope_t, event_replay_action_request_t, event_replay_audit_t, event_replay_audit_chain_t,
  event_replay_audit_head_t, person_t, person_link_t, webhook_delivery_t, demo_defect_t TO event_admin_web;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, event_schema_version, event_ts, event_type,
  graph_revision, host_id, id, nonce, policy_registry_version, repair_schema_version, root_instance_id, user_id) ON
  event_store_t TO event_admin_web;
GRANT SELECT (c_offset, created_dt, event_id, exception, group_id, host_id, id, transaction_id, user_id) ON
  dead_letter_queue TO event_admin_web;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, error, event_class, event_offset, event_partition,
  event_ts, host_id, id, nonce, process_ts, read_ts, status, transaction_id, user_id) ON notification_t TO
  event_admin_web;
-- and the bytes that planning and execution verify and run, and that a drained transaction which fails is captured from.
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, c_offset, created_ts, event_bytes, event_schema_version,
  event_ts, event_type, graph_revision, host_id, id, nonce, partition_id, payload_digest, policy_registry_version,
  repair_schema_version, root_instance_id, transaction_count, transaction_id, transaction_ordinal, user_id,
  version_baseline) ON outbox_message_t TO event_admin_web;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, clone_request_id, created_ts, decrypted_payload_bytes,
  event_id, event_ordinal, event_schema_version, event_type, failure_id, graph_revision, host_id,
  payload_deleted_reason, payload_deleted_ts, payload_digest, payload_format, payload_plain, payload_storage,
  policy_registry_version, repair_schema_version, root_instance_id, sensitive_payload, source_offset, source_partition,
  source_processor, source_topic, user_id, version_baseline) ON event_failure_event_t TO event_admin_web;
GRANT SELECT (changed_field_names, corrected_event_schema_version, corrected_payload_bytes, corrected_payload_digest,
  corrected_payload_format, corrected_payload_plain, corrected_payload_storage, created_ts, event_ordinal, failure_id,
  host_id, original_event_id, original_payload_digest, repair_id) ON event_repair_event_t TO event_admin_web;
GRANT SELECT (attempt_count, barrier_id, completed_ts, content_fingerprint, created_ts, decrypted_payload_bytes,
  deferred_id, deferred_ts, dependency_scopes, error_code, error_message, event_count, failure_id, host_id,
  original_transaction_id, payload_deleted_reason, payload_deleted_ts, payload_digest, payload_plain, payload_storage,
  source_coordinates, source_order_key, source_processor, status, updated_ts) ON event_projection_deferred_t TO
  event_admin_web;
-- Append.
GRANT INSERT ON event_store_t, outbox_message_t, notification_t, instance_graph_revision_t TO event_admin_web;
GRANT UPDATE (next_offset) ON event_offset_counter_t TO event_admin_web;
GRANT UPDATE (accepted_revision, accepted_ts, projected_revision, projected_ts) ON instance_graph_revision_t TO
  event_admin_web;
GRANT UPDATE (read_ts, status, error, process_ts) ON notification_t TO event_admin_web;
-- Plan, approve, execute, drain. The position of live work is not among it: replay never moves it.
GRANT INSERT ON event_replay_request_t, event_replay_item_t, event_replay_attempt_t, event_replay_lease_t,
  event_replay_barrier_t, event_projection_deferred_scope_t, projection_scope_t, projected_transaction_t TO
  event_admin_web;
GRANT UPDATE (status, approved_by, approved_ts, started_by, started_ts, completed_ts, fencing_token,
  installed_barrier_epoch, failure_code, failure_message, updated_ts) ON event_replay_request_t TO event_admin_web;
GRANT UPDATE (status, attempt_count, current_fencing_token, updated_ts) ON event_replay_item_t TO event_admin_web;
GRANT UPDATE (result, completed_ts, projection_committed, post_projection_metadata, error_code, error_message) ON
  event_replay_attempt_t TO event_admin_web;
GRANT UPDATE (lease_owner, lease_epoch, fencing_token, heartbeat_ts, expires_ts, updated_ts) ON event_replay_lease_t TO
  event_admin_web;
GRANT UPDATE (state, owner_type, replay_request_id, quarantine_failure_id, barrier_epoch, fencing_token, released_by,
  release_reason, released_ts, updated_ts) ON event_replay_barrier_t TO event_admin_web;
GRANT UPDATE (status, attempt_count, failure_id, error_code, completed_ts, updated_ts) ON event_projection_deferred_t TO
  event_admin_web;
GRANT UPDATE (projected_version, updated_ts) ON projection_scope_t TO event_admin_web;
-- Capture of what fails while it drains, and resolution.
GRANT INSERT ON event_failure_transaction_t, event_failure_event_t, event_failure_scope_t, event_failure_delivery_t,
  dead_letter_queue TO event_admin_web;
GRANT UPDATE (status, failure_count, last_failed_ts, resolved_ts, resolved_by_request_id, resolution_code, updated_ts)
  ON event_failure_transaction_t TO event_admin_web;
GRANT UPDATE (observation_count, last_observed_ts) ON event_failure_delivery_t TO event_admin_web;
-- People and audit.
GRANT INSERT ON person_t, event_replay_audit_t TO event_admin_web;
GRANT UPDATE (display_name, roles, last_seen_ts) ON person_t TO event_admin_web;
-- The demo's button.
GRANT INSERT, UPDATE ON demo_defect_t TO event_admin_web;
-- Projections, which a replay writes as live work does.
GRANT SELECT, INSERT, UPDATE, DELETE ON api_t, api_version_t, app_t, auth_provider_client_t, auth_provider_t, client_t,
  config_property_t, config_t, host_t, org_t, portal_entity_t, portal_record_t, ref_locale_t, ref_relation_t,
  ref_relation_type_t, ref_table_t, ref_value_t, role_t, role_user_t, user_host_t, user_t TO event_admin_web;
--> statement-breakpoint
-- role: event_admin_projector
-- The live projectors.

DO $$
DECLARE
  owned regclass;
BEGIN
  FOR owned IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                AND pg_has_role(relowner, 'USAGE') LOOP
    EXECUTE format('REVOKE ALL ON %s FROM event_admin_projector', owned);
  END LOOP;
END $$;
-- What runs with the owner's rights is for its own triggers: on a table of a role's own it would write what that role may not.
REVOKE EXECUTE ON FUNCTION ea_chain_audit(), ea_failure_rollup_insert(), ea_failure_rollup_update() FROM PUBLIC,
  event_admin_projector;
GRANT USAGE ON SCHEMA public TO event_admin_projector;

-- Reads: the source, with its bytes, and who blocks what. Nothing that is archived or parked can be read back.
GRANT SELECT ON consumer_offsets, event_offset_counter_t, instance_graph_revision_t, projection_scope_t,
  projection_range_t, projected_transaction_t, processor_status_t, event_failure_transaction_t, event_failure_scope_t,
  event_failure_delivery_t, event_repair_t, event_replay_request_t, event_replay_barrier_t,
  event_projection_deferred_scope_t, webhook_delivery_t, demo_defect_t TO event_admin_projector;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, event_schema_version, event_ts, event_type,
  graph_revision, host_id, id, nonce, policy_registry_version, repair_schema_version, root_instance_id, user_id) ON
  event_store_t TO event_admin_projector;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, c_offset, created_ts, event_bytes, event_schema_version,
  event_ts, event_type, graph_revision, host_id, id, nonce, partition_id, payload_digest, policy_registry_version,
  repair_schema_version, root_instance_id, transaction_count, transaction_id, transaction_ordinal, user_id,
  version_baseline) ON outbox_message_t TO event_admin_projector;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, error, event_class, event_offset, event_partition,
  event_ts, host_id, id, nonce, process_ts, read_ts, status, transaction_id, user_id) ON notification_t TO
  event_admin_projector;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, clone_request_id, created_ts, decrypted_payload_bytes,
  event_id, event_ordinal, event_schema_version, event_type, failure_id, graph_revision, host_id,
  payload_deleted_reason, payload_deleted_ts, payload_digest, payload_format, payload_storage, policy_registry_version,
  repair_schema_version, root_instance_id, sensitive_payload, source_offset, source_partition, source_processor,
  source_topic, user_id, version_baseline) ON event_failure_event_t TO event_admin_projector;
GRANT SELECT (attempt_count, barrier_id, completed_ts, content_fingerprint, created_ts, decrypted_payload_bytes,
  deferred_id, deferred_ts, dependency_scopes, error_code, error_message, event_count, failure_id, host_id,
  original_transaction_id, payload_deleted_reason, payload_deleted_ts, payload_digest, payload_storage,
  source_coordinates, source_order_key, source_processor, status, updated_ts) ON event_projection_deferred_t TO
  event_admin_projector;
-- Progress.
GRANT INSERT ON consumer_offsets, projection_range_t, projection_scope_t, projected_transaction_t,
  instance_graph_revision_t TO event_admin_projector;
GRANT UPDATE (next_offset, updated_ts) ON consumer_offsets TO event_admin_projector;
GRANT UPDATE (projected_version, updated_ts) ON projection_scope_t TO event_admin_projector;
GRANT UPDATE (accepted_revision, projected_revision, projected_ts) ON instance_graph_revision_t TO
  event_admin_projector;
GRANT UPDATE (status, error, process_ts) ON notification_t TO event_admin_projector;
-- Capture and parking.
GRANT INSERT ON event_failure_transaction_t, event_failure_event_t, event_failure_scope_t, event_failure_delivery_t,
  dead_letter_queue, event_projection_deferred_t, event_projection_deferred_scope_t TO event_admin_projector;
GRANT UPDATE (failure_count, last_failed_ts, updated_ts) ON event_failure_transaction_t TO event_admin_projector;
GRANT UPDATE (observation_count, last_observed_ts) ON event_failure_delivery_t TO event_admin_projector;
-- Its own state, and the notices to approvers. Only what says nothing of the past is ever deleted.
GRANT INSERT, UPDATE, DELETE ON processor_status_t TO event_admin_projector;
GRANT INSERT, UPDATE ON webhook_delivery_t TO event_admin_projector;
-- Projections.
GRANT SELECT, INSERT, UPDATE, DELETE ON api_t, api_version_t, app_t, auth_provider_client_t, auth_provider_t, client_t,
  config_property_t, config_t, host_t, org_t, portal_entity_t, portal_record_t, ref_locale_t, ref_relation_t,
  ref_relation_type_t, ref_table_t, ref_value_t, role_t, role_user_t, user_host_t, user_t TO event_admin_projector;
--> statement-breakpoint
-- role: event_admin_read
-- People and reports that look. No event's bytes, JSON, key or headers, and no projection: those hold the events' values.

DO $$
DECLARE
  owned regclass;
BEGIN
  FOR owned IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                AND pg_has_role(relowner, 'USAGE') LOOP
    EXECUTE format('REVOKE ALL ON %s FROM event_admin_read', owned);
  END LOOP;
END $$;
-- What runs with the owner's rights is for its own triggers: on a table of a role's own it would write what that role may not.
REVOKE EXECUTE ON FUNCTION ea_chain_audit(), ea_failure_rollup_insert(), ea_failure_rollup_update() FROM PUBLIC,
  event_admin_read;
GRANT USAGE ON SCHEMA public TO event_admin_read;

GRANT SELECT ON consumer_offsets, event_offset_counter_t, instance_graph_revision_t, projection_scope_t,
  projection_range_t, projected_transaction_t, processor_status_t, event_failure_transaction_t, event_failure_scope_t,
  event_failure_delivery_t, event_failure_rollup_t, event_failure_publish_outbox_t, event_repair_t,
  event_replay_request_t, event_replay_item_t, event_replay_attempt_t, event_replay_lease_t, event_replay_barrier_t,
  event_projection_deferred_scope_t, event_replay_action_request_t, event_replay_audit_t, event_replay_audit_chain_t,
  event_replay_audit_head_t, person_t, person_link_t, webhook_delivery_t TO event_admin_read;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, event_schema_version, event_ts, event_type,
  graph_revision, host_id, id, nonce, policy_registry_version, repair_schema_version, root_instance_id, user_id) ON
  event_store_t TO event_admin_read;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, c_offset, created_ts, event_schema_version, event_ts,
  event_type, graph_revision, host_id, id, nonce, partition_id, payload_digest, policy_registry_version,
  repair_schema_version, root_instance_id, transaction_count, transaction_id, transaction_ordinal, user_id,
  version_baseline) ON outbox_message_t TO event_admin_read;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, clone_request_id, created_ts, decrypted_payload_bytes,
  event_id, event_ordinal, event_schema_version, event_type, failure_id, graph_revision, host_id,
  payload_deleted_reason, payload_deleted_ts, payload_digest, payload_format, payload_storage, policy_registry_version,
  repair_schema_version, root_instance_id, sensitive_payload, source_offset, source_partition, source_processor,
  source_topic, user_id, version_baseline) ON event_failure_event_t TO event_admin_read;
GRANT SELECT (changed_field_names, corrected_event_schema_version, corrected_payload_bytes, corrected_payload_digest,
  corrected_payload_format, corrected_payload_storage, created_ts, event_ordinal, failure_id, host_id,
  original_event_id, original_payload_digest, repair_id) ON event_repair_event_t TO event_admin_read;
GRANT SELECT (attempt_count, barrier_id, completed_ts, content_fingerprint, created_ts, decrypted_payload_bytes,
  deferred_id, deferred_ts, dependency_scopes, error_code, error_message, event_count, failure_id, host_id,
  original_transaction_id, payload_deleted_reason, payload_deleted_ts, payload_digest, payload_storage,
  source_coordinates, source_order_key, source_processor, status, updated_ts) ON event_projection_deferred_t TO
  event_admin_read;
GRANT SELECT (aggregate_id, aggregate_type, aggregate_version, error, event_class, event_offset, event_partition,
  event_ts, host_id, id, nonce, process_ts, read_ts, status, transaction_id, user_id) ON notification_t TO
  event_admin_read;
GRANT SELECT (c_offset, created_dt, event_id, exception, group_id, host_id, id, transaction_id, user_id) ON
  dead_letter_queue TO event_admin_read;
