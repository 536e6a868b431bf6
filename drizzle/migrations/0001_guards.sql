-- What the database itself guarantees, whoever writes and whatever the session sets: immutability, monotonic counters, listed
-- state transitions, complete transactions, two persons' evidence, exact rollups. Every guard is ENABLE ALWAYS, so that not
-- even session_replication_role switches it off.
--
-- Rules that can be told from the old and new row stand in the WHEN clause of a trigger: no function runs unless the rule is
-- broken, so they cost the hot path next to nothing and the catalogue shows them. SQLSTATEs (class EA), with the trigger's name
-- as constraint name:
--   EA001 insert only or never deleted   EA002 frozen column changed    EA003 counter or time went back
--   EA004 transition or initial state not listed   EA005 members incomplete   EA006 evidence for the transition is missing

-- 1. Refusals -------------------------------------------------------------------------------------------------------------

CREATE FUNCTION ea_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = TG_ARGV[0], CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
    MESSAGE = format('%s: %s', TG_TABLE_NAME, TG_ARGV[1]);
END $$;
--> statement-breakpoint
CREATE FUNCTION ea_refuse_transition() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  was text;
  wanted text;
BEGIN
  EXECUTE format('SELECT ($1).%1$I, ($2).%1$I', TG_ARGV[0]) INTO was, wanted USING OLD, NEW;
  RAISE EXCEPTION USING ERRCODE = 'EA004', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
    MESSAGE = format('%s: %s may not go from %s to %s', TG_TABLE_NAME, TG_ARGV[0], was, wanted);
END $$;
--> statement-breakpoint

-- 2. Rows that are never deleted, tables that are insert only ------------------------------------------------------------

DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY[
    'event_store_t', 'outbox_message_t', 'event_offset_counter_t', 'consumer_offsets', 'instance_graph_revision_t',
    'projection_scope_t', 'projection_range_t',
    'event_failure_transaction_t', 'event_failure_event_t', 'event_failure_scope_t', 'event_failure_delivery_t',
    'event_failure_rollup_t', 'event_repair_t', 'event_repair_event_t',
    'event_replay_request_t', 'event_replay_attempt_t', 'event_replay_barrier_t',
    'event_projection_deferred_t', 'event_projection_deferred_scope_t',
    'event_replay_action_request_t', 'event_replay_audit_t']
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ea_refuse(''EA001'', ''rows are never deleted'')',
      regexp_replace(t, '_t$', '') || '_never_deleted', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY[
    'event_store_t', 'outbox_message_t', 'event_offset_counter_t', 'consumer_offsets', 'instance_graph_revision_t',
    'projection_scope_t', 'projection_range_t',
    'event_failure_transaction_t', 'event_failure_event_t', 'event_failure_scope_t', 'event_failure_delivery_t',
    'event_failure_rollup_t', 'event_repair_t', 'event_repair_event_t',
    'event_replay_request_t', 'event_replay_item_t', 'event_replay_attempt_t', 'event_replay_lease_t', 'event_replay_barrier_t',
    'event_projection_deferred_t', 'event_projection_deferred_scope_t',
    'event_replay_action_request_t', 'event_replay_audit_t']
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ea_refuse(''EA001'', ''the table is never truncated'')',
      regexp_replace(t, '_t$', '') || '_never_truncated', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY[
    'event_store_t', 'outbox_message_t', 'projection_range_t', 'projected_transaction_t',
    'event_repair_event_t', 'event_projection_deferred_scope_t', 'event_replay_audit_t']
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ea_refuse(''EA001'', ''the table is insert only'')',
      regexp_replace(t, '_t$', '') || '_insert_only', t);
  END LOOP;
END $$;
--> statement-breakpoint

-- 3. Source and progress --------------------------------------------------------------------------------------------------

INSERT INTO event_offset_counter_t (partition_id, next_offset)
SELECT p, coalesce((SELECT max(c_offset) FROM outbox_message_t WHERE partition_id = p), 0) + 1 FROM generate_series(0, 15) p
ON CONFLICT (partition_id) DO NOTHING;
--> statement-breakpoint
CREATE TRIGGER event_offset_counter_monotonic BEFORE UPDATE ON event_offset_counter_t FOR EACH ROW
  WHEN (NEW.next_offset < OLD.next_offset OR NEW.partition_id <> OLD.partition_id)
  EXECUTE FUNCTION ea_refuse('EA003', 'an offset counter never goes back');
CREATE TRIGGER consumer_offsets_monotonic BEFORE UPDATE ON consumer_offsets FOR EACH ROW
  WHEN (NEW.next_offset < OLD.next_offset
    OR (OLD.group_id, OLD.topic_id, OLD.partition_id) IS DISTINCT FROM (NEW.group_id, NEW.topic_id, NEW.partition_id))
  EXECUTE FUNCTION ea_refuse('EA003', 'a source position never goes back');
CREATE TRIGGER projection_scope_monotonic BEFORE UPDATE ON projection_scope_t FOR EACH ROW
  WHEN (NEW.projected_version < OLD.projected_version
    OR (OLD.host_id, OLD.projection_name, OLD.consumer_group, OLD.scope_type, OLD.scope_key)
      IS DISTINCT FROM (NEW.host_id, NEW.projection_name, NEW.consumer_group, NEW.scope_type, NEW.scope_key))
  EXECUTE FUNCTION ea_refuse('EA003', 'a projected version never goes back');
CREATE TRIGGER instance_graph_revision_monotonic BEFORE UPDATE ON instance_graph_revision_t FOR EACH ROW
  WHEN (NEW.accepted_revision < OLD.accepted_revision OR NEW.projected_revision < OLD.projected_revision
    OR (OLD.host_id, OLD.instance_id) IS DISTINCT FROM (NEW.host_id, NEW.instance_id))
  EXECUTE FUNCTION ea_refuse('EA003', 'a graph revision never goes back');
--> statement-breakpoint
-- Live work wakes by this; a poll is the safety net. The payload is empty, so that one commit is one notification.
CREATE FUNCTION ea_notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('event_channel', '');
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER outbox_message_notify AFTER INSERT ON outbox_message_t FOR EACH STATEMENT EXECUTE FUNCTION ea_notify_outbox();
--> statement-breakpoint

-- 4. Failures -------------------------------------------------------------------------------------------------------------

ALTER TABLE event_failure_transaction_t ADD CONSTRAINT event_failure_request_fk
  FOREIGN KEY (host_id, resolved_by_request_id) REFERENCES event_replay_request_t (host_id, replay_request_id) ON DELETE RESTRICT;
ALTER TABLE event_failure_transaction_t ADD CONSTRAINT event_failure_repair_fk
  FOREIGN KEY (host_id, resolved_by_repair_id, failure_id) REFERENCES event_repair_t (host_id, repair_id, failure_id) ON DELETE RESTRICT;
--> statement-breakpoint
CREATE TRIGGER event_failure_initial_status BEFORE INSERT ON event_failure_transaction_t FOR EACH ROW
  WHEN (NEW.status <> 'OPEN')
  EXECUTE FUNCTION ea_refuse('EA004', 'a failure is captured OPEN');
CREATE TRIGGER event_failure_frozen BEFORE UPDATE ON event_failure_transaction_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.failure_id, OLD.projection_name, OLD.consumer_group, OLD.first_source_processor, OLD.source_partition,
      OLD.original_transaction_id, OLD.content_fingerprint, OLD.event_count, OLD.decrypted_payload_bytes, OLD.dependency_scopes,
      OLD.replay_policy, OLD.policy_registry_version, OLD.first_failed_ts, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.failure_id, NEW.projection_name, NEW.consumer_group, NEW.first_source_processor, NEW.source_partition,
      NEW.original_transaction_id, NEW.content_fingerprint, NEW.event_count, NEW.decrypted_payload_bytes, NEW.dependency_scopes,
      NEW.replay_policy, NEW.policy_registry_version, NEW.first_failed_ts, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'identity, fingerprint, counts, scopes and pins never change');
CREATE TRIGGER event_failure_monotonic BEFORE UPDATE ON event_failure_transaction_t FOR EACH ROW
  WHEN (NEW.failure_count < OLD.failure_count OR NEW.last_failed_ts < OLD.last_failed_ts OR (OLD.executable AND NOT NEW.executable))
  EXECUTE FUNCTION ea_refuse('EA003', 'count and last failure only grow, and executability is not withdrawn');
CREATE TRIGGER event_failure_transition BEFORE UPDATE ON event_failure_transaction_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status
    AND (OLD.status, NEW.status) NOT IN (('OPEN', 'RESOLVED'), ('OPEN', 'WAIVED'), ('RESOLVED', 'OPEN')))
  EXECUTE FUNCTION ea_refuse_transition('status');
CREATE TRIGGER event_failure_resolution_frozen BEFORE UPDATE ON event_failure_transaction_t FOR EACH ROW
  WHEN (OLD.status <> 'OPEN' AND OLD.status = NEW.status
    AND (OLD.resolved_ts, OLD.resolved_by_request_id, OLD.resolved_by_repair_id, OLD.resolution_code)
      IS DISTINCT FROM (NEW.resolved_ts, NEW.resolved_by_request_id, NEW.resolved_by_repair_id, NEW.resolution_code))
  EXECUTE FUNCTION ea_refuse('EA002', 'a resolution never changes');
--> statement-breakpoint
-- OPEN -> RESOLVED belongs to a replay transaction: a RUNNING request in mode EXECUTE that holds the failure as an item, bound
-- to the same repair or to none. The request row is locked, so that it can't end meanwhile.
CREATE FUNCTION ea_failure_resolved() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM 1
    FROM event_replay_request_t r
    JOIN event_replay_item_t i ON i.host_id = r.host_id AND i.replay_request_id = r.replay_request_id
   WHERE r.host_id = NEW.host_id AND r.replay_request_id = NEW.resolved_by_request_id
     AND r.projection_name = NEW.projection_name AND r.consumer_group = NEW.consumer_group
     AND r.status = 'RUNNING' AND r.validation_mode = 'EXECUTE'
     AND i.failure_id = NEW.failure_id AND i.repair_id IS NOT DISTINCT FROM NEW.resolved_by_repair_id
     FOR SHARE OF r;
  IF NOT FOUND OR NEW.resolution_code IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: only a running replay request that holds the failure resolves it', TG_TABLE_NAME);
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_failure_resolved_evidence BEFORE UPDATE ON event_failure_transaction_t FOR EACH ROW
  WHEN (OLD.status = 'OPEN' AND NEW.status = 'RESOLVED') EXECUTE FUNCTION ea_failure_resolved();
--> statement-breakpoint
-- OPEN -> WAIVED: never with an ordering scope; at commit a completed two-person action names the failure.
CREATE FUNCTION ea_failure_waived() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.replay_policy IN ('GRAPH_ROOT', 'AGGREGATE_VERSION') OR EXISTS (
    SELECT 1 FROM event_failure_scope_t s
     WHERE s.host_id = NEW.host_id AND s.failure_id = NEW.failure_id AND s.scope_type IN ('GRAPH_ROOT', 'AGGREGATE')) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: an ordered failure is never waived', TG_TABLE_NAME);
  END IF;
  IF NOT EXISTS (
    SELECT 1 FROM event_replay_action_request_t a
     WHERE a.host_id = NEW.host_id AND a.action_type = 'WAIVE_FAILURES' AND a.status = 'COMPLETED'
       AND a.approved_by <> a.requested_by AND a.target_ids @> jsonb_build_array(NEW.failure_id::text)) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a waiver needs a completed two-person action that names the failure', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_failure_waived_evidence AFTER UPDATE ON event_failure_transaction_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'OPEN' AND NEW.status = 'WAIVED') EXECUTE FUNCTION ea_failure_waived();
--> statement-breakpoint
-- RESOLVED -> OPEN: the reconciliation's audit row is written by the same transaction.
CREATE FUNCTION ea_failure_reopened() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM event_replay_audit_t a
     WHERE a.host_id = NEW.host_id AND a.failure_id = NEW.failure_id AND a.event_name = 'EVENT_REPLAY_FAILURE_REOPENED'
       AND a.transaction_xid = pg_current_xact_id()) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a failure is reopened only with its audit record', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_failure_reopened_evidence AFTER UPDATE ON event_failure_transaction_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'RESOLVED' AND NEW.status = 'OPEN') EXECUTE FUNCTION ea_failure_reopened();
--> statement-breakpoint
-- A failure is one complete transaction. Members beyond the count are refused per statement; the key refuses doubles; so at
-- commit the bare number says that the ordinals are exactly 0..n-1. One look-up per failure, none per member.
CREATE FUNCTION ea_failure_members_complete() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM event_failure_event_t m WHERE m.host_id = NEW.host_id AND m.failure_id = NEW.failure_id) <> NEW.event_count THEN
    RAISE EXCEPTION USING ERRCODE = 'EA005', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: the members are not exactly the ordinals 0 to event_count - 1', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_failure_members_complete AFTER INSERT ON event_failure_transaction_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ea_failure_members_complete();
--> statement-breakpoint
CREATE FUNCTION ea_failure_member_bounds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (
    SELECT 1 FROM added m JOIN event_failure_transaction_t f ON f.host_id = m.host_id AND f.failure_id = m.failure_id
     WHERE m.event_ordinal >= f.event_count) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA005', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a member lies beyond its transaction', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_failure_event_bounds AFTER INSERT ON event_failure_event_t
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ea_failure_member_bounds();
--> statement-breakpoint
-- The only update of a member is the deletion of its bytes. Its source key may go with them.
CREATE TRIGGER event_failure_event_frozen BEFORE UPDATE ON event_failure_event_t FOR EACH ROW
  WHEN (OLD.payload_storage = 'DELETED' OR NEW.payload_storage <> 'DELETED'
    OR (NEW.source_key IS NOT NULL AND NEW.source_key IS DISTINCT FROM OLD.source_key)
    OR (NEW.source_headers <> '[]'::jsonb AND NEW.source_headers <> OLD.source_headers)
    OR (OLD.host_id, OLD.failure_id, OLD.event_ordinal, OLD.event_id, OLD.event_type, OLD.aggregate_id, OLD.aggregate_type,
        OLD.aggregate_version, OLD.root_instance_id, OLD.graph_revision, OLD.clone_request_id, OLD.user_id, OLD.source_processor,
        OLD.source_topic, OLD.source_partition, OLD.source_offset, OLD.payload_format, OLD.payload_digest,
        OLD.decrypted_payload_bytes, OLD.sensitive_payload, OLD.event_schema_version, OLD.policy_registry_version,
        OLD.repair_schema_version, OLD.version_baseline, OLD.created_ts)
      IS DISTINCT FROM
       (NEW.host_id, NEW.failure_id, NEW.event_ordinal, NEW.event_id, NEW.event_type, NEW.aggregate_id, NEW.aggregate_type,
        NEW.aggregate_version, NEW.root_instance_id, NEW.graph_revision, NEW.clone_request_id, NEW.user_id, NEW.source_processor,
        NEW.source_topic, NEW.source_partition, NEW.source_offset, NEW.payload_format, NEW.payload_digest,
        NEW.decrypted_payload_bytes, NEW.sensitive_payload, NEW.event_schema_version, NEW.policy_registry_version,
        NEW.repair_schema_version, NEW.version_baseline, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'a member and its bytes never change');
--> statement-breakpoint
CREATE FUNCTION ea_failure_event_hold() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM event_failure_transaction_t f
              WHERE f.host_id = NEW.host_id AND f.failure_id = NEW.failure_id AND f.legal_hold) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: bytes under legal hold are not deleted', TG_TABLE_NAME);
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_failure_event_hold BEFORE UPDATE ON event_failure_event_t FOR EACH ROW
  WHEN (OLD.payload_storage <> 'DELETED' AND NEW.payload_storage = 'DELETED') EXECUTE FUNCTION ea_failure_event_hold();
-- Status follows the failure by foreign key; nothing else of a scope moves.
CREATE TRIGGER event_failure_scope_frozen BEFORE UPDATE ON event_failure_scope_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.failure_id, OLD.projection_name, OLD.consumer_group, OLD.scope_type, OLD.scope_key, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.failure_id, NEW.projection_name, NEW.consumer_group, NEW.scope_type, NEW.scope_key, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'a scope of a failure never changes');
CREATE TRIGGER event_failure_delivery_frozen BEFORE UPDATE ON event_failure_delivery_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.delivery_id, OLD.failure_id, OLD.delivery_fingerprint, OLD.source_processor, OLD.source_coordinates, OLD.first_observed_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.delivery_id, NEW.failure_id, NEW.delivery_fingerprint, NEW.source_processor, NEW.source_coordinates, NEW.first_observed_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'a delivery never changes');
CREATE TRIGGER event_failure_delivery_monotonic BEFORE UPDATE ON event_failure_delivery_t FOR EACH ROW
  WHEN (NEW.observation_count < OLD.observation_count OR NEW.last_observed_ts < OLD.last_observed_ts)
  EXECUTE FUNCTION ea_refuse('EA003', 'observations only grow');
--> statement-breakpoint
CREATE TRIGGER event_failure_publish_outbox_frozen BEFORE UPDATE ON event_failure_publish_outbox_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.publication_id, OLD.failure_id, OLD.envelope_version, OLD.target_topic, OLD.created_ts)
    IS DISTINCT FROM (NEW.host_id, NEW.publication_id, NEW.failure_id, NEW.envelope_version, NEW.target_topic, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'the identity of a publication never changes');
CREATE TRIGGER event_failure_publish_outbox_transition BEFORE UPDATE ON event_failure_publish_outbox_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING', 'PUBLISHED'), ('PENDING', 'RETRY_WAIT'), ('PENDING', 'TERMINAL_FAILED'), ('RETRY_WAIT', 'PENDING')))
  EXECUTE FUNCTION ea_refuse_transition('status');
CREATE TRIGGER event_failure_publish_outbox_monotonic BEFORE UPDATE ON event_failure_publish_outbox_t FOR EACH ROW
  WHEN (NEW.attempt_count < OLD.attempt_count)
  EXECUTE FUNCTION ea_refuse('EA003', 'attempts only grow');
--> statement-breakpoint

-- 5. Rollup: exact totals per cause and status ----------------------------------------------------------------------------

INSERT INTO event_failure_rollup_t
  (host_id, projection_name, consumer_group, status, cause_key, n, error_code, error_type, error_constraint, failed_event_type)
SELECT host_id, projection_name, consumer_group, status, cause_key, count(*),
       min(error_code), min(error_type), min(error_constraint), min(failed_event_type)
  FROM event_failure_transaction_t GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint

CREATE FUNCTION ea_failure_rollup_insert() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO event_failure_rollup_t AS r
    (host_id, projection_name, consumer_group, status, cause_key, n, error_code, error_type, error_constraint, failed_event_type)
  SELECT host_id, projection_name, consumer_group, status, cause_key, count(*),
         min(error_code), min(error_type), min(error_constraint), min(failed_event_type)
    FROM added GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (host_id, projection_name, consumer_group, status, cause_key) DO UPDATE SET n = r.n + excluded.n;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_failure_rollup_insert AFTER INSERT ON event_failure_transaction_t
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ea_failure_rollup_insert();
--> statement-breakpoint
-- Only what moved between causes or statuses counts. Existing rows are locked in key order first, so that two movers never
-- wait for each other.
CREATE FUNCTION ea_failure_rollup_update() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  moved boolean;
BEGIN
  SELECT EXISTS (
    SELECT 1 FROM was JOIN became USING (host_id, failure_id)
     WHERE (was.status, was.cause_key) IS DISTINCT FROM (became.status, became.cause_key)) INTO moved;
  IF NOT moved THEN RETURN NULL; END IF;

  PERFORM 1 FROM event_failure_rollup_t r
   WHERE (r.host_id, r.projection_name, r.consumer_group, r.status, r.cause_key) IN (
     SELECT host_id, projection_name, consumer_group, status, cause_key FROM was
     UNION SELECT host_id, projection_name, consumer_group, status, cause_key FROM became)
   ORDER BY r.host_id, r.projection_name, r.consumer_group, r.status, r.cause_key FOR UPDATE;

  INSERT INTO event_failure_rollup_t AS r
    (host_id, projection_name, consumer_group, status, cause_key, n, error_code, error_type, error_constraint, failed_event_type)
  SELECT b.host_id, b.projection_name, b.consumer_group, b.status, b.cause_key, count(*),
         min(b.error_code), min(b.error_type), min(b.error_constraint), min(b.failed_event_type)
    FROM became b JOIN was w USING (host_id, failure_id)
   WHERE (w.status, w.cause_key) IS DISTINCT FROM (b.status, b.cause_key)
   GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (host_id, projection_name, consumer_group, status, cause_key) DO UPDATE SET n = r.n + excluded.n;

  UPDATE event_failure_rollup_t r SET n = r.n - gone.n
    FROM (SELECT w.host_id, w.projection_name, w.consumer_group, w.status, w.cause_key, count(*) AS n
            FROM was w JOIN became b USING (host_id, failure_id)
           WHERE (w.status, w.cause_key) IS DISTINCT FROM (b.status, b.cause_key)
           GROUP BY 1, 2, 3, 4, 5) gone
   WHERE r.host_id = gone.host_id AND r.projection_name = gone.projection_name AND r.consumer_group = gone.consumer_group
     AND r.status = gone.status AND r.cause_key = gone.cause_key;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_failure_rollup_update AFTER UPDATE ON event_failure_transaction_t
  REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION ea_failure_rollup_update();
-- Nobody writes the rollup but the triggers above.
CREATE TRIGGER event_failure_rollup_by_trigger BEFORE INSERT OR UPDATE ON event_failure_rollup_t FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ea_refuse('EA001', 'the rollup is written by the failure table alone');
--> statement-breakpoint

-- 6. Repairs --------------------------------------------------------------------------------------------------------------

CREATE TRIGGER event_repair_initial_status BEFORE INSERT ON event_repair_t FOR EACH ROW
  WHEN (NEW.status <> 'AWAITING_APPROVAL')
  EXECUTE FUNCTION ea_refuse('EA004', 'a repair begins AWAITING_APPROVAL');
CREATE TRIGGER event_repair_frozen BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.repair_id, OLD.failure_id, OLD.reason, OLD.policy_registry_version, OLD.repair_schema_version,
      OLD.original_transaction_fingerprint, OLD.corrected_transaction_fingerprint, OLD.changed_event_count, OLD.requested_by,
      OLD.requested_ts, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.repair_id, NEW.failure_id, NEW.reason, NEW.policy_registry_version, NEW.repair_schema_version,
      NEW.original_transaction_fingerprint, NEW.corrected_transaction_fingerprint, NEW.changed_event_count, NEW.requested_by,
      NEW.requested_ts, NEW.created_ts)
    OR (OLD.decision_ts IS NOT NULL AND (OLD.decision_by, OLD.decision_ts, OLD.approved_by, OLD.approved_ts)
      IS DISTINCT FROM (NEW.decision_by, NEW.decision_ts, NEW.approved_by, NEW.approved_ts)))
  EXECUTE FUNCTION ea_refuse('EA002', 'the definition, fingerprints and decision of a repair never change');
CREATE TRIGGER event_repair_final BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN (OLD.status IN ('APPLIED', 'REJECTED', 'CANCELLED') AND OLD.status = NEW.status AND OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION ea_refuse('EA002', 'a repair that has ended never changes');
CREATE TRIGGER event_repair_monotonic BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN (NEW.updated_ts < OLD.updated_ts)
  EXECUTE FUNCTION ea_refuse('EA003', 'updated_ts never goes back');
CREATE TRIGGER event_repair_transition BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('AWAITING_APPROVAL', 'APPROVED'), ('AWAITING_APPROVAL', 'REJECTED'), ('AWAITING_APPROVAL', 'CANCELLED'),
    ('APPROVED', 'APPLIED'), ('APPROVED', 'CANCELLED')))
  EXECUTE FUNCTION ea_refuse_transition('status');
--> statement-breakpoint
-- APPROVED -> APPLIED happens in the transaction that resolves the failure by this very repair.
CREATE FUNCTION ea_repair_applied() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM event_failure_transaction_t f
     WHERE f.host_id = NEW.host_id AND f.failure_id = NEW.failure_id
       AND f.status = 'RESOLVED' AND f.resolved_by_repair_id = NEW.repair_id) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a repair is applied only by resolving its failure', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_repair_applied_evidence AFTER UPDATE ON event_repair_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'APPROVED' AND NEW.status = 'APPLIED') EXECUTE FUNCTION ea_repair_applied();
--> statement-breakpoint
CREATE FUNCTION ea_repair_members_complete() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM event_repair_event_t m WHERE m.host_id = NEW.host_id AND m.repair_id = NEW.repair_id) <> NEW.changed_event_count THEN
    RAISE EXCEPTION USING ERRCODE = 'EA005', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: the corrected members are not changed_event_count many', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_repair_members_complete AFTER INSERT ON event_repair_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ea_repair_members_complete();
--> statement-breakpoint
CREATE FUNCTION ea_repair_member_bounds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (
    SELECT 1 FROM event_repair_t r
     WHERE (r.host_id, r.repair_id) IN (SELECT host_id, repair_id FROM added)
       AND r.changed_event_count < (SELECT count(*) FROM event_repair_event_t m WHERE m.host_id = r.host_id AND m.repair_id = r.repair_id)) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA005', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a repair has no further corrected members', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_repair_event_bounds AFTER INSERT ON event_repair_event_t
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ea_repair_member_bounds();
--> statement-breakpoint

-- 7. Replay requests, items, attempts, leases -----------------------------------------------------------------------------

CREATE TRIGGER event_replay_request_initial_status BEFORE INSERT ON event_replay_request_t FOR EACH ROW
  WHEN (NEW.status <> 'PLANNING')
  EXECUTE FUNCTION ea_refuse('EA004', 'a request begins PLANNING');
CREATE TRIGGER event_replay_request_frozen BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.replay_request_id, OLD.projection_name, OLD.consumer_group, OLD.requested_by, OLD.requested_ts, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.replay_request_id, NEW.projection_name, NEW.consumer_group, NEW.requested_by, NEW.requested_ts, NEW.created_ts)
    OR (OLD.status <> 'PLANNING' AND
       (OLD.selection_strategy, OLD.validation_mode, OLD.reason, OLD.plan_hash, OLD.policy_registry_version, OLD.repair_schema_version,
        OLD.plan_metadata, OLD.transaction_count, OLD.event_count, OLD.decrypted_payload_bytes, OLD.expires_ts, OLD.isolation_mode)
      IS DISTINCT FROM
       (NEW.selection_strategy, NEW.validation_mode, NEW.reason, NEW.plan_hash, NEW.policy_registry_version, NEW.repair_schema_version,
        NEW.plan_metadata, NEW.transaction_count, NEW.event_count, NEW.decrypted_payload_bytes, NEW.expires_ts, NEW.isolation_mode))
    OR (OLD.approved_ts IS NOT NULL AND (OLD.approved_by, OLD.approved_ts) IS DISTINCT FROM (NEW.approved_by, NEW.approved_ts))
    OR (OLD.started_ts IS NOT NULL AND (OLD.started_by, OLD.started_ts) IS DISTINCT FROM (NEW.started_by, NEW.started_ts)))
  EXECUTE FUNCTION ea_refuse('EA002', 'a plan, its approval and its start never change');
CREATE TRIGGER event_replay_request_final BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED') AND OLD.status = NEW.status AND OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION ea_refuse('EA002', 'a request that has ended never changes');
CREATE TRIGGER event_replay_request_transition BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PLANNING', 'READY'), ('PLANNING', 'FAILED'),
    ('READY', 'AWAITING_APPROVAL'), ('READY', 'CANCELLED'), ('READY', 'EXPIRED'),
    ('AWAITING_APPROVAL', 'APPROVED'), ('AWAITING_APPROVAL', 'CANCELLED'), ('AWAITING_APPROVAL', 'EXPIRED'),
    ('APPROVED', 'INSTALLING_BARRIER'), ('APPROVED', 'CANCELLED'), ('APPROVED', 'EXPIRED'),
    ('INSTALLING_BARRIER', 'RUNNING'), ('INSTALLING_BARRIER', 'FAILED'),
    ('RUNNING', 'SUCCEEDED'), ('RUNNING', 'FAILED')))
  EXECUTE FUNCTION ea_refuse_transition('status');
CREATE TRIGGER event_replay_request_monotonic BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN (NEW.fencing_token < OLD.fencing_token OR (OLD.installed_barrier_epoch IS NOT NULL
    AND (NEW.installed_barrier_epoch IS NULL OR NEW.installed_barrier_epoch < OLD.installed_barrier_epoch)))
  EXECUTE FUNCTION ea_refuse('EA003', 'fencing token and epoch never go back');
--> statement-breakpoint
CREATE FUNCTION ea_request_items_complete() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM event_replay_item_t i WHERE i.host_id = NEW.host_id AND i.replay_request_id = NEW.replay_request_id)
     <> NEW.transaction_count THEN
    RAISE EXCEPTION USING ERRCODE = 'EA005', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a plan has exactly transaction_count items', TG_TABLE_NAME);
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_replay_request_items_complete BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN (OLD.status = 'PLANNING' AND NEW.status = 'READY') EXECUTE FUNCTION ea_request_items_complete();
--> statement-breakpoint
-- Items come and go only while their request is PLANNING. The request row is locked, so that it can't leave PLANNING meanwhile.
CREATE FUNCTION ea_item_while_planning() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM event_replay_request_t r
    WHERE (r.host_id, r.replay_request_id) IN (SELECT host_id, replay_request_id FROM touched)
    ORDER BY r.host_id, r.replay_request_id FOR SHARE;
  IF EXISTS (
    SELECT 1 FROM event_replay_request_t r
     WHERE (r.host_id, r.replay_request_id) IN (SELECT host_id, replay_request_id FROM touched) AND r.status <> 'PLANNING') THEN
    RAISE EXCEPTION USING ERRCODE = 'EA002', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: items are added or removed only while their request is PLANNING', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_replay_item_added_while_planning AFTER INSERT ON event_replay_item_t
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION ea_item_while_planning();
CREATE TRIGGER event_replay_item_removed_while_planning AFTER DELETE ON event_replay_item_t
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION ea_item_while_planning();
CREATE TRIGGER event_replay_item_initial_status BEFORE INSERT ON event_replay_item_t FOR EACH ROW
  WHEN (NEW.status <> 'PENDING')
  EXECUTE FUNCTION ea_refuse('EA004', 'an item begins PENDING');
CREATE TRIGGER event_replay_item_frozen BEFORE UPDATE ON event_replay_item_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.replay_request_id, OLD.item_ordinal, OLD.failure_id, OLD.repair_id, OLD.expected_content_fingerprint,
      OLD.dependency_reason, OLD.added_dependency, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.replay_request_id, NEW.item_ordinal, NEW.failure_id, NEW.repair_id, NEW.expected_content_fingerprint,
      NEW.dependency_reason, NEW.added_dependency, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'the definition of an item never changes');
CREATE TRIGGER event_replay_item_transition BEFORE UPDATE ON event_replay_item_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING', 'RUNNING'), ('RUNNING', 'SUCCEEDED'), ('RUNNING', 'FAILED'), ('RUNNING', 'PENDING')))
  EXECUTE FUNCTION ea_refuse_transition('status');
CREATE TRIGGER event_replay_item_monotonic BEFORE UPDATE ON event_replay_item_t FOR EACH ROW
  WHEN (NEW.attempt_count < OLD.attempt_count OR NEW.current_fencing_token < OLD.current_fencing_token)
  EXECUTE FUNCTION ea_refuse('EA003', 'attempts and fencing token never go back');
--> statement-breakpoint
CREATE TRIGGER event_replay_attempt_initial_result BEFORE INSERT ON event_replay_attempt_t FOR EACH ROW
  WHEN (NEW.result <> 'RUNNING')
  EXECUTE FUNCTION ea_refuse('EA004', 'an attempt begins RUNNING');
CREATE TRIGGER event_replay_attempt_frozen BEFORE UPDATE ON event_replay_attempt_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.replay_attempt_id, OLD.replay_request_id, OLD.item_ordinal, OLD.attempt_number, OLD.worker_id,
      OLD.fencing_token, OLD.started_ts, OLD.pre_projection_metadata, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.replay_attempt_id, NEW.replay_request_id, NEW.item_ordinal, NEW.attempt_number, NEW.worker_id,
      NEW.fencing_token, NEW.started_ts, NEW.pre_projection_metadata, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'identity, fence, start and prior state of an attempt never change');
-- The one update of an attempt is its end; so even an update that keeps RUNNING, or repeats an end, is refused.
CREATE TRIGGER event_replay_attempt_transition BEFORE UPDATE ON event_replay_attempt_t FOR EACH ROW
  WHEN ((OLD.result, NEW.result) NOT IN (('RUNNING', 'SUCCEEDED'), ('RUNNING', 'FAILED'), ('RUNNING', 'ABANDONED')))
  EXECUTE FUNCTION ea_refuse_transition('result');
CREATE TRIGGER event_replay_lease_monotonic BEFORE UPDATE ON event_replay_lease_t FOR EACH ROW
  WHEN (NEW.lease_epoch < OLD.lease_epoch OR NEW.fencing_token < OLD.fencing_token
    OR (OLD.host_id, OLD.replay_request_id) IS DISTINCT FROM (NEW.host_id, NEW.replay_request_id))
  EXECUTE FUNCTION ea_refuse('EA003', 'lease epoch and fencing token never go back');
--> statement-breakpoint

-- 8. Barriers and parked work ---------------------------------------------------------------------------------------------

CREATE TRIGGER event_replay_barrier_initial_state BEFORE INSERT ON event_replay_barrier_t FOR EACH ROW
  WHEN (NEW.state NOT IN ('INSTALLING', 'ACTIVE') OR NEW.released_ts IS NOT NULL)
  EXECUTE FUNCTION ea_refuse('EA004', 'a barrier begins INSTALLING or ACTIVE');
CREATE TRIGGER event_replay_barrier_frozen BEFORE UPDATE ON event_replay_barrier_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.barrier_id, OLD.projection_name, OLD.consumer_group, OLD.scope_type, OLD.scope_key, OLD.installed_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.barrier_id, NEW.projection_name, NEW.consumer_group, NEW.scope_type, NEW.scope_key, NEW.installed_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'the scope of a barrier never changes');
CREATE TRIGGER event_replay_barrier_released BEFORE UPDATE ON event_replay_barrier_t FOR EACH ROW
  WHEN (OLD.released_ts IS NOT NULL AND OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION ea_refuse('EA002', 'a released barrier never changes');
CREATE TRIGGER event_replay_barrier_transition BEFORE UPDATE ON event_replay_barrier_t FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state AND (OLD.state, NEW.state) NOT IN (
    ('INSTALLING', 'ACTIVE'), ('INSTALLING', 'QUARANTINED'), ('ACTIVE', 'DRAINING'), ('ACTIVE', 'QUARANTINED'),
    ('DRAINING', 'QUARANTINED'), ('QUARANTINED', 'INSTALLING'), ('QUARANTINED', 'ACTIVE')))
  EXECUTE FUNCTION ea_refuse_transition('state');
-- A new owner is told from the old one by the epoch; only the quarantine of a request's own barrier keeps it.
CREATE TRIGGER event_replay_barrier_monotonic BEFORE UPDATE ON event_replay_barrier_t FOR EACH ROW
  WHEN (NEW.barrier_epoch < OLD.barrier_epoch OR NEW.fencing_token < OLD.fencing_token
    OR (NEW.barrier_epoch = OLD.barrier_epoch
      AND (OLD.owner_type, OLD.replay_request_id, OLD.quarantine_failure_id)
        IS DISTINCT FROM (NEW.owner_type, NEW.replay_request_id, NEW.quarantine_failure_id)
      AND NOT (OLD.owner_type = 'REPLAY_REQUEST' AND NEW.owner_type = 'FAILURE_QUARANTINE')))
  EXECUTE FUNCTION ea_refuse('EA003', 'epoch and fencing token never go back, and a new owner raises the epoch');
--> statement-breakpoint
-- A quarantine is released only by a completed two-person action that names the barrier.
CREATE FUNCTION ea_barrier_released_with_gap() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM event_replay_action_request_t a
     WHERE a.host_id = NEW.host_id AND a.action_type = 'RELEASE_WITH_GAP' AND a.status = 'COMPLETED'
       AND a.approved_by <> a.requested_by AND a.target_ids @> jsonb_build_array(NEW.barrier_id::text)) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA006', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: a quarantine needs a completed two-person action that names the barrier', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER event_replay_barrier_gap_evidence AFTER UPDATE ON event_replay_barrier_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.released_ts IS NULL AND NEW.released_ts IS NOT NULL AND NEW.state = 'QUARANTINED')
  EXECUTE FUNCTION ea_barrier_released_with_gap();
--> statement-breakpoint
CREATE TRIGGER event_projection_deferred_initial_status BEFORE INSERT ON event_projection_deferred_t FOR EACH ROW
  WHEN (NEW.status <> 'PENDING')
  EXECUTE FUNCTION ea_refuse('EA004', 'parked work begins PENDING');
-- The bytes themselves need no comparison: their digest is frozen and the database verifies it against them on every write.
CREATE TRIGGER event_projection_deferred_frozen BEFORE UPDATE ON event_projection_deferred_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.deferred_id, OLD.barrier_id, OLD.original_transaction_id, OLD.content_fingerprint, OLD.source_processor,
      OLD.source_order_key, OLD.source_coordinates, OLD.event_count, OLD.decrypted_payload_bytes, OLD.dependency_scopes,
      OLD.payload_digest, OLD.deferred_ts, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.deferred_id, NEW.barrier_id, NEW.original_transaction_id, NEW.content_fingerprint, NEW.source_processor,
      NEW.source_order_key, NEW.source_coordinates, NEW.event_count, NEW.decrypted_payload_bytes, NEW.dependency_scopes,
      NEW.payload_digest, NEW.deferred_ts, NEW.created_ts)
    OR (OLD.payload_storage IS DISTINCT FROM NEW.payload_storage
      AND NOT (NEW.payload_storage = 'DELETED' AND OLD.status IN ('SUCCEEDED', 'FAILED'))))
  EXECUTE FUNCTION ea_refuse('EA002', 'parked work and its bytes never change');
CREATE TRIGGER event_projection_deferred_final BEFORE UPDATE ON event_projection_deferred_t FOR EACH ROW
  WHEN (OLD.status IN ('SUCCEEDED', 'FAILED') AND OLD.status = NEW.status
    AND (OLD.failure_id, OLD.completed_ts, OLD.attempt_count, OLD.error_code, OLD.error_message)
      IS DISTINCT FROM (NEW.failure_id, NEW.completed_ts, NEW.attempt_count, NEW.error_code, NEW.error_message))
  EXECUTE FUNCTION ea_refuse('EA002', 'parked work that has ended never changes');
CREATE TRIGGER event_projection_deferred_transition BEFORE UPDATE ON event_projection_deferred_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING', 'RUNNING'), ('RUNNING', 'SUCCEEDED'), ('RUNNING', 'FAILED')))
  EXECUTE FUNCTION ea_refuse_transition('status');
CREATE TRIGGER event_projection_deferred_monotonic BEFORE UPDATE ON event_projection_deferred_t FOR EACH ROW
  WHEN (NEW.attempt_count < OLD.attempt_count)
  EXECUTE FUNCTION ea_refuse('EA003', 'attempts only grow');
--> statement-breakpoint

-- 9. Two-person actions, audit, persons -----------------------------------------------------------------------------------

CREATE TRIGGER event_replay_action_request_initial_status BEFORE INSERT ON event_replay_action_request_t FOR EACH ROW
  WHEN (NEW.status <> 'AWAITING_APPROVAL')
  EXECUTE FUNCTION ea_refuse('EA004', 'an action begins AWAITING_APPROVAL');
CREATE TRIGGER event_replay_action_request_frozen BEFORE UPDATE ON event_replay_action_request_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.action_request_id, OLD.action_type, OLD.target_ids, OLD.expected_state, OLD.reason, OLD.requested_by,
      OLD.requested_ts, OLD.expires_ts, OLD.created_ts)
    IS DISTINCT FROM
     (NEW.host_id, NEW.action_request_id, NEW.action_type, NEW.target_ids, NEW.expected_state, NEW.reason, NEW.requested_by,
      NEW.requested_ts, NEW.expires_ts, NEW.created_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'the definition of an action never changes');
CREATE TRIGGER event_replay_action_request_final BEFORE UPDATE ON event_replay_action_request_t FOR EACH ROW
  WHEN (OLD.status <> 'AWAITING_APPROVAL' AND OLD.status = NEW.status AND OLD.* IS DISTINCT FROM NEW.*)
  EXECUTE FUNCTION ea_refuse('EA002', 'an action that has ended never changes');
CREATE TRIGGER event_replay_action_request_transition BEFORE UPDATE ON event_replay_action_request_t FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('AWAITING_APPROVAL', 'COMPLETED'), ('AWAITING_APPROVAL', 'CANCELLED'), ('AWAITING_APPROVAL', 'EXPIRED')))
  EXECUTE FUNCTION ea_refuse_transition('status');
-- The writing transaction is the database's word, never the writer's.
CREATE TRIGGER event_replay_audit_transaction BEFORE INSERT ON event_replay_audit_t FOR EACH ROW
  WHEN (NEW.transaction_xid <> pg_current_xact_id())
  EXECUTE FUNCTION ea_refuse('EA002', 'an audit record names the transaction that writes it');
CREATE TRIGGER person_frozen BEFORE UPDATE ON person_t FOR EACH ROW
  WHEN ((OLD.host_id, OLD.person_id, OLD.issuer, OLD.subject, OLD.first_seen_ts)
    IS DISTINCT FROM (NEW.host_id, NEW.person_id, NEW.issuer, NEW.subject, NEW.first_seen_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'the identity of a person never changes');
--> statement-breakpoint

-- 10. Nobody reads bytes by default ---------------------------------------------------------------------------------------
-- Least-privilege roles get column grants; a table-wide grant would include the bytes.

REVOKE ALL ON event_store_t, outbox_message_t, event_failure_transaction_t, event_failure_event_t, event_failure_scope_t,
  event_failure_delivery_t, event_repair_t, event_repair_event_t, event_projection_deferred_t FROM PUBLIC;
REVOKE SELECT (payload, metadata), UPDATE (payload, metadata) ON event_store_t FROM PUBLIC;
REVOKE SELECT (event_bytes), UPDATE (event_bytes) ON outbox_message_t FROM PUBLIC;
REVOKE SELECT (payload_plain, source_key, source_headers), UPDATE (payload_plain, source_key, source_headers) ON event_failure_event_t FROM PUBLIC;
REVOKE SELECT (corrected_payload_plain), UPDATE (corrected_payload_plain) ON event_repair_event_t FROM PUBLIC;
REVOKE SELECT (payload_plain), UPDATE (payload_plain) ON event_projection_deferred_t FROM PUBLIC;
--> statement-breakpoint

-- 11. No session setting switches a guard off -----------------------------------------------------------------------------

DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT g.tgname, c.relname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_proc p ON p.oid = g.tgfoid
     WHERE NOT g.tgisinternal AND p.proname LIKE 'ea\_%' AND c.relnamespace = 'public'::regnamespace
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', t.relname, t.tgname);
  END LOOP;
END $$;
