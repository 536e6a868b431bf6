import type { Tx } from "@/server/platform/db/transaction";

/** A person as last seen on the host. */
export type SeenPerson = { readonly personId: string; readonly name: string; readonly roles: readonly string[] };

/** Display names of these persons; who was never seen on this host is missing. */
export async function loadNames(
  tx: Tx,
  hostId: string,
  personIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(personIds.filter((id) => id !== null))];
  if (ids.length === 0) return new Map();
  const rows = await tx.query<{ person_id: string; display_name: string }>(
    "SELECT person_id, display_name FROM person_t WHERE host_id = $1 AND person_id = ANY ($2::text[])",
    [hostId, ids],
    "load_names",
  );
  return new Map(rows.map((row) => [row.person_id, row.display_name]));
}

/** Everyone seen on the host but one, most recently seen first, at most 500. */
export async function loadOthers(tx: Tx, hostId: string, butPersonId: string): Promise<SeenPerson[]> {
  return await tx.query<SeenPerson>(
    `SELECT person_id AS "personId", display_name AS name, roles FROM person_t
      WHERE host_id = $1 AND person_id <> $2 ORDER BY last_seen_ts DESC, person_id LIMIT 500`,
    [hostId, butPersonId],
    "load_others",
  );
}
