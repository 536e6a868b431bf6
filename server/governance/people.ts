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

/** Every identity of the person behind this one: itself, and the accounts that living links make theirs. */
export async function loadIdentities(tx: Tx, personId: string): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(
    "SELECT id FROM ea_identities_of($1) AS id",
    [personId],
    "load_identities",
  );
  return new Set(rows.map((row) => row.id));
}

/** Everyone seen on the host but one person, under whatever identity, most recently seen first, at most 500. */
export async function loadOthers(tx: Tx, hostId: string, butPersonId: string): Promise<SeenPerson[]> {
  return await tx.query<SeenPerson>(
    `SELECT person_id AS "personId", display_name AS name, roles FROM person_t
      WHERE host_id = $1 AND person_id <> ALL (ARRAY(SELECT ea_identities_of($2))) ORDER BY last_seen_ts DESC, person_id LIMIT 500`,
    [hostId, butPersonId],
    "load_others",
  );
}
