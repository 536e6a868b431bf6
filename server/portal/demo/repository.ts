import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";

export type DefectState = { readonly broken: boolean; readonly sinceTs: string | null };

/** Whether the demo's defect is on. No row means it never was. */
export async function readDefect(tx: Tx): Promise<DefectState> {
  const [row] = await tx.query<{ enabled: boolean; since_ts: string | null }>(
    "SELECT enabled, since_ts FROM demo_defect_t WHERE id = 1",
    [],
    "demo-read-defect",
  );
  return { broken: row?.enabled ?? false, sinceTs: row?.since_ts ? toIso(row.since_ts) : null };
}

/** Turns the defect on or off; a second time keeps the first time's `since_ts`. */
export async function writeDefect(tx: Tx, enabled: boolean): Promise<DefectState> {
  await tx.execute(
    `INSERT INTO demo_defect_t (id, enabled, since_ts) VALUES (1, $1, CASE WHEN $1 THEN now() END)
     ON CONFLICT (id) DO UPDATE SET enabled = EXCLUDED.enabled, since_ts = EXCLUDED.since_ts
     WHERE demo_defect_t.enabled <> EXCLUDED.enabled`,
    [enabled],
  );
  return readDefect(tx);
}
