-- Least privilege: three group roles without login beside the owner, who migrates. A deployment's login users become members of
-- them (README, "Database users"). Roles belong to the whole cluster, so several databases share them, and two migrations at
-- once may both want to make one: whoever comes second finds it. A migrating user who may not create roles makes none; somebody
-- who may then does, and the next run of the migrations grants. What each role may do stands in grants.sql beside this file.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['event_admin_web', 'event_admin_projector', 'event_admin_read'] LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = name);
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    EXCEPTION
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$;
--> statement-breakpoint
-- Totals are written by these alone: with the owner's rights, so that no process needs a right on the table.
ALTER FUNCTION ea_failure_rollup_insert() SECURITY DEFINER;
--> statement-breakpoint
ALTER FUNCTION ea_failure_rollup_update() SECURITY DEFINER;
