import type pg from "pg";
import { log } from "@/server/platform/log";

/** SUPERUSER and OWNER can do to evidence what no process of ours may; LIMITED can't. */
export type DatabaseRole = "LIMITED" | "OWNER" | "SUPERUSER";

/** With whose rights this pool's connections work. Throws what the driver throws. */
export async function readDatabaseRole(pool: pg.Pool): Promise<DatabaseRole> {
  const { rows } = await pool.query<{ role: DatabaseRole }>(
    `SELECT CASE WHEN r.rolsuper THEN 'SUPERUSER'
                 WHEN pg_has_role(c.relowner, 'USAGE') THEN 'OWNER' ELSE 'LIMITED' END AS role
       FROM pg_catalog.pg_roles r, pg_catalog.pg_class c
      WHERE r.rolname = current_user AND c.oid = to_regclass('public.event_store_t')`,
  );
  return rows[0]?.role ?? "LIMITED";
}

/**
 * Says in the log when a process outside the demo works with more rights than it needs. Never stops it: a deployment may have
 * one database user only. Throws nothing.
 */
export async function warnOfRights(pool: pg.Pool, demo: boolean): Promise<void> {
  if (demo) return;
  const role = await readDatabaseRole(pool).catch(() => null);
  if (role !== null && role !== "LIMITED") {
    log.warn("the database user has more rights than this process needs", { code: role, setting: "DATABASE_URL" });
  }
}
