CREATE TABLE "person_link_t" (
	"link_id" uuid NOT NULL,
	"person_a" varchar(255) NOT NULL,
	"person_b" varchar(255) NOT NULL,
	"reason" varchar(2048) NOT NULL,
	"linked_by" varchar(255) NOT NULL,
	"linked_ts" timestamp with time zone DEFAULT now() NOT NULL,
	"end_reason" varchar(2048),
	"ended_by" varchar(255),
	"ended_ts" timestamp with time zone,
	CONSTRAINT "person_link_pk" PRIMARY KEY("link_id"),
	CONSTRAINT "person_link_pair_ck" CHECK (person_a COLLATE "C" < person_b COLLATE "C"),
	CONSTRAINT "person_link_texts_ck" CHECK (btrim(person_a) <> '' AND btrim(person_b) <> '' AND btrim(reason) <> '' AND btrim(linked_by) <> ''),
	CONSTRAINT "person_link_end_ck" CHECK (num_nonnulls(end_reason, ended_by, ended_ts) IN (0, 3) AND (ended_ts IS NULL OR ended_ts >= linked_ts))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "person_link_living_uk" ON "person_link_t" USING btree ("person_a","person_b") WHERE ended_ts IS NULL;--> statement-breakpoint
CREATE INDEX "person_link_other_ix" ON "person_link_t" USING btree ("person_b") WHERE ended_ts IS NULL;--> statement-breakpoint

-- Every identity of the person behind one identity: itself and whatever living links reach from it, in any number of steps.
CREATE FUNCTION ea_identities_of(identity text) RETURNS SETOF text LANGUAGE sql STABLE ROWS 2
  SET search_path = pg_catalog, public, pg_temp AS $$
  WITH RECURSIVE same(id) AS (
    SELECT identity
    UNION
    SELECT CASE WHEN l.person_a = s.id THEN l.person_b ELSE l.person_a END
      FROM same s JOIN person_link_t l ON (l.person_a = s.id OR l.person_b = s.id) AND l.ended_ts IS NULL
  )
  SELECT id FROM same
$$;
--> statement-breakpoint
-- SQLSTATE EA007: the two persons of a decision are one. Asked when the decision is written, so that a link made after the
-- request counts. TG_ARGV[0] names the column that decides. One and the same identity is a CHECK's matter.
CREATE FUNCTION ea_two_persons() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  decider text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  IF EXISTS (SELECT 1 FROM ea_identities_of(NEW.requested_by) AS own WHERE own = decider) THEN
    RAISE EXCEPTION USING ERRCODE = 'EA007', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME,
      MESSAGE = format('%s: requester and decider are one person', TG_TABLE_NAME);
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER event_replay_request_two_persons BEFORE UPDATE ON event_replay_request_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by AND OLD.approved_by IS DISTINCT FROM NEW.approved_by)
  EXECUTE FUNCTION ea_two_persons('approved_by');
CREATE TRIGGER event_replay_action_request_two_persons BEFORE UPDATE ON event_replay_action_request_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by AND OLD.approved_by IS DISTINCT FROM NEW.approved_by)
  EXECUTE FUNCTION ea_two_persons('approved_by');
CREATE TRIGGER event_repair_two_persons BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN (NEW.decision_by <> NEW.requested_by AND OLD.decision_by IS DISTINCT FROM NEW.decision_by)
  EXECUTE FUNCTION ea_two_persons('decision_by');
CREATE TRIGGER event_repair_approver_two_persons BEFORE UPDATE ON event_repair_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by AND OLD.approved_by IS DISTINCT FROM NEW.approved_by)
  EXECUTE FUNCTION ea_two_persons('approved_by');
-- Nothing of ours writes a row that is decided already; if anybody does, the question is the same.
CREATE TRIGGER event_replay_request_two_persons_at_once BEFORE INSERT ON event_replay_request_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by) EXECUTE FUNCTION ea_two_persons('approved_by');
CREATE TRIGGER event_replay_action_request_two_persons_at_once BEFORE INSERT ON event_replay_action_request_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by) EXECUTE FUNCTION ea_two_persons('approved_by');
CREATE TRIGGER event_repair_two_persons_at_once BEFORE INSERT ON event_repair_t FOR EACH ROW
  WHEN (NEW.decision_by <> NEW.requested_by) EXECUTE FUNCTION ea_two_persons('decision_by');
CREATE TRIGGER event_repair_approver_two_persons_at_once BEFORE INSERT ON event_repair_t FOR EACH ROW
  WHEN (NEW.approved_by <> NEW.requested_by) EXECUTE FUNCTION ea_two_persons('approved_by');
--> statement-breakpoint
-- A link is written once and ended once; it never goes away.
CREATE TRIGGER person_link_never_deleted BEFORE DELETE ON person_link_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'rows are never deleted');
CREATE TRIGGER person_link_never_truncated BEFORE TRUNCATE ON person_link_t FOR EACH STATEMENT
  EXECUTE FUNCTION ea_refuse('EA001', 'the table is never truncated');
CREATE TRIGGER person_link_frozen BEFORE UPDATE ON person_link_t FOR EACH ROW
  WHEN (OLD.ended_ts IS NOT NULL
    OR (OLD.link_id, OLD.person_a, OLD.person_b, OLD.reason, OLD.linked_by, OLD.linked_ts)
      IS DISTINCT FROM (NEW.link_id, NEW.person_a, NEW.person_b, NEW.reason, NEW.linked_by, NEW.linked_ts))
  EXECUTE FUNCTION ea_refuse('EA002', 'a link never changes, and ends once');
--> statement-breakpoint
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT g.tgname, c.relname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
     WHERE NOT g.tgisinternal AND c.relnamespace = 'public'::regnamespace AND g.tgenabled <> 'A'
       AND g.tgname IN ('event_replay_request_two_persons', 'event_replay_action_request_two_persons', 'event_repair_two_persons',
         'event_repair_approver_two_persons', 'event_replay_request_two_persons_at_once',
         'event_replay_action_request_two_persons_at_once', 'event_repair_two_persons_at_once',
         'event_repair_approver_two_persons_at_once', 'person_link_never_deleted', 'person_link_never_truncated', 'person_link_frozen')
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', t.relname, t.tgname);
  END LOOP;
END $$;
