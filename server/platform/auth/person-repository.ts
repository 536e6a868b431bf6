import type { Tx } from "@/server/platform/db/transaction";
import type { Actor } from "@/server/platform/http/operation-context";

/**
 * Remembers who was seen on a host with which roles: the ground for saying whether anybody else could approve. One row a
 * person and host; the row of a machine is never written. Index: primary key.
 */
export async function upsertPerson(tx: Tx, actor: Actor): Promise<void> {
  if (!actor.human) return;
  const at = actor.personId.indexOf("|");
  await tx.execute(
    `INSERT INTO person_t (host_id, person_id, issuer, subject, display_name, roles, first_seen_ts, last_seen_ts)
     VALUES ($1, $2, $3, $4, $5, $6, now(), now())
     ON CONFLICT (host_id, person_id) DO UPDATE
        SET display_name = excluded.display_name, roles = excluded.roles, last_seen_ts = excluded.last_seen_ts`,
    [
      actor.hostId,
      actor.personId,
      actor.personId.slice(0, at),
      actor.personId.slice(at + 1),
      actor.name.slice(0, 255),
      [...actor.roles],
    ],
  );
}
