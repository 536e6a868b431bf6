CREATE TABLE "event_replay_audit_chain_t" (
	"host_id" uuid NOT NULL,
	"chain_no" bigint NOT NULL,
	"audit_id" uuid NOT NULL,
	"previous_digest" varchar(64) NOT NULL,
	"link_digest" varchar(64) NOT NULL,
	CONSTRAINT "event_replay_audit_chain_pk" PRIMARY KEY("host_id","chain_no"),
	CONSTRAINT "event_replay_audit_chain_record_uk" UNIQUE("host_id","audit_id"),
	CONSTRAINT "event_replay_audit_chain_no_ck" CHECK (chain_no > 0),
	CONSTRAINT "event_replay_audit_chain_digests_ck" CHECK (previous_digest ~ '^[0-9a-f]{64}$' AND link_digest ~ '^[0-9a-f]{64}$')
);
--> statement-breakpoint
CREATE TABLE "event_replay_audit_head_t" (
	"host_id" uuid NOT NULL,
	"chain_no" bigint NOT NULL,
	"link_digest" varchar(64) NOT NULL,
	CONSTRAINT "event_replay_audit_head_pk" PRIMARY KEY("host_id"),
	CONSTRAINT "event_replay_audit_head_ck" CHECK (chain_no >= 0 AND link_digest ~ '^[0-9a-f]{64}$')
);
--> statement-breakpoint
CREATE INDEX "event_replay_audit_actor_ix" ON "event_replay_audit_t" USING btree ("host_id","actor_id","created_ts","audit_id");
--> statement-breakpoint

-- What a link is computed from: the record's every column, as text that doesn't depend on the session. The verifier holds a
-- copy of this expression and computes the digests itself (server/governance/audit-trail/verify-chain.ts).
CREATE FUNCTION ea_append_audit_link(a event_replay_audit_t) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  head event_replay_audit_head_t;
  digest text;
BEGIN
  INSERT INTO event_replay_audit_head_t (host_id, chain_no, link_digest) VALUES (a.host_id, 0, repeat('0', 64))
    ON CONFLICT (host_id) DO NOTHING;
  SELECT * INTO STRICT head FROM event_replay_audit_head_t h WHERE h.host_id = a.host_id FOR UPDATE;
  digest := encode(sha256(convert_to(head.link_digest || E'\n' || jsonb_build_array(
    head.chain_no + 1, a.host_id, a.audit_id, a.event_name, a.actor_type, a.actor_id, a.replay_request_id, a.failure_id,
    a.barrier_id, a.reason, a.details, to_char(a.created_ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
    a.transaction_xid::text)::text, 'UTF8')), 'hex');
  INSERT INTO event_replay_audit_chain_t (host_id, chain_no, audit_id, previous_digest, link_digest)
    VALUES (a.host_id, head.chain_no + 1, a.audit_id, head.link_digest, digest);
  UPDATE event_replay_audit_head_t h SET chain_no = head.chain_no + 1, link_digest = digest WHERE h.host_id = a.host_id;
END $$;
--> statement-breakpoint
REVOKE ALL ON FUNCTION ea_append_audit_link(event_replay_audit_t) FROM PUBLIC;
--> statement-breakpoint
-- Records written before there was a chain, in the order in which they were written.
DO $$
DECLARE
  a event_replay_audit_t;
BEGIN
  FOR a IN SELECT * FROM event_replay_audit_t ORDER BY host_id, created_ts, transaction_xid, audit_id LOOP
    PERFORM ea_append_audit_link(a);
  END LOOP;
END $$;
--> statement-breakpoint
CREATE FUNCTION ea_chain_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM ea_append_audit_link(NEW);
  RETURN NULL;
END $$;
--> statement-breakpoint
-- At commit: the head's lock is then the last one of the transaction and is held for the length of a commit, so that it can
-- stand in nobody's way and in no circle of waits, however early in a transaction the record was written.
CREATE CONSTRAINT TRIGGER event_replay_audit_chained AFTER INSERT ON event_replay_audit_t
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ea_chain_audit();
CREATE TRIGGER event_replay_audit_chain_by_trigger BEFORE INSERT ON event_replay_audit_chain_t FOR EACH ROW
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ea_refuse('EA001', 'links are written by the audit itself');
CREATE TRIGGER event_replay_audit_chain_insert_only BEFORE UPDATE ON event_replay_audit_chain_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'the table is insert only');
CREATE TRIGGER event_replay_audit_chain_never_deleted BEFORE DELETE ON event_replay_audit_chain_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'rows are never deleted');
CREATE TRIGGER event_replay_audit_chain_never_truncated BEFORE TRUNCATE ON event_replay_audit_chain_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'the table is never truncated');
CREATE TRIGGER event_replay_audit_head_by_trigger BEFORE INSERT OR UPDATE ON event_replay_audit_head_t FOR EACH ROW
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ea_refuse('EA001', 'the head is moved by the audit itself');
CREATE TRIGGER event_replay_audit_head_one_step BEFORE UPDATE ON event_replay_audit_head_t FOR EACH ROW
  WHEN (NEW.host_id <> OLD.host_id OR NEW.chain_no <> OLD.chain_no + 1)
  EXECUTE FUNCTION ea_refuse('EA003', 'the head moves one step at a time');
CREATE TRIGGER event_replay_audit_head_never_deleted BEFORE DELETE ON event_replay_audit_head_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'rows are never deleted');
CREATE TRIGGER event_replay_audit_head_never_truncated BEFORE TRUNCATE ON event_replay_audit_head_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'the table is never truncated');
--> statement-breakpoint
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT g.tgname, c.relname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
     WHERE NOT g.tgisinternal AND c.relnamespace = 'public'::regnamespace AND g.tgenabled <> 'A'
       AND (c.relname IN ('event_replay_audit_chain_t', 'event_replay_audit_head_t') OR g.tgname = 'event_replay_audit_chained')
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', t.relname, t.tgname);
  END LOOP;
END $$;
