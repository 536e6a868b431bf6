import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { type AuditEvent, audit } from "./audit";

export type LinkChange = {
  /** Two identities, `issuer|subject` each, in any order. */
  readonly persons: readonly [string, string];
  readonly reason: string;
  /** Who gives the command, as the deployment knows them. */
  readonly by: string;
};

export type LinkOutcome = "DONE" | "ALREADY" | "SAME_IDENTITY" | "NEVER_SEEN";

export type LivingLink = {
  readonly personA: string;
  readonly personB: string;
  readonly reason: string;
  readonly linkedBy: string;
  /** The database's own text. */
  readonly linkedTs: string;
};

/**
 * Makes two identities one person, on every host, from now on: decisions already taken stand. Both must have signed in before,
 * since a mistyped identity would guard nothing. One audit record on each host that has seen either of them (ER-APR-05).
 */
export async function linkPersons(tx: Tx, change: LinkChange): Promise<LinkOutcome> {
  const [a, b] = inOrder(change.persons);
  if (a === b) return "SAME_IDENTITY";
  const hosts = await loadHosts(tx, a, b);
  if (hosts === null) return "NEVER_SEEN";
  const made = await tx.execute(
    `INSERT INTO person_link_t (link_id, person_a, person_b, reason, linked_by, linked_ts)
     VALUES ($1, $2, $3, $4, $5, clock_timestamp())
     ON CONFLICT (person_a, person_b) WHERE ended_ts IS NULL DO NOTHING`,
    [newId(), a, b, change.reason, change.by],
  );
  if (made === 0) return "ALREADY";
  await auditEach(tx, hosts, "PERSON_ACCOUNTS_LINKED", change);
  return "DONE";
}

/** Ends a link that was a mistake. What was decided while it lived stands; it stays readable. Audited as the link was. */
export async function unlinkPersons(tx: Tx, change: LinkChange): Promise<LinkOutcome> {
  const [a, b] = inOrder(change.persons);
  const hosts = await loadHosts(tx, a, b);
  if (hosts === null) return "NEVER_SEEN";
  const ended = await tx.execute(
    `UPDATE person_link_t SET end_reason = $3, ended_by = $4, ended_ts = clock_timestamp()
      WHERE person_a = $1 AND person_b = $2 AND ended_ts IS NULL`,
    [a, b, change.reason, change.by],
  );
  if (ended === 0) return "ALREADY";
  await auditEach(tx, hosts, "PERSON_ACCOUNTS_UNLINKED", change);
  return "DONE";
}

/** Links that count now, oldest first. */
export async function loadLivingLinks(tx: Tx): Promise<LivingLink[]> {
  return await tx.query<LivingLink>(
    `SELECT person_a AS "personA", person_b AS "personB", reason, linked_by AS "linkedBy", linked_ts AS "linkedTs"
       FROM person_link_t WHERE ended_ts IS NULL ORDER BY linked_ts, link_id`,
  );
}

/** Hosts that have seen either; null when one of the two was never seen anywhere. */
async function loadHosts(tx: Tx, a: string, b: string): Promise<string[] | null> {
  const rows = await tx.query<{ hostId: string; personId: string }>(
    `SELECT host_id AS "hostId", person_id AS "personId" FROM person_t WHERE person_id IN ($1, $2) ORDER BY host_id`,
    [a, b],
  );
  const seen = new Set(rows.map((row) => row.personId));
  return seen.has(a) && seen.has(b) ? [...new Set(rows.map((row) => row.hostId))] : null;
}

async function auditEach(tx: Tx, hosts: readonly string[], event: AuditEvent, change: LinkChange): Promise<void> {
  for (const hostId of hosts) {
    await audit(tx, {
      hostId,
      event,
      actor: { type: "WORKER", workerId: `people-command:${change.by}`.slice(0, 255) },
      reason: change.reason,
      details: { personIds: inOrder(change.persons) },
    });
  }
}

/** By bytes, as the table's CHECK compares. */
function inOrder([one, other]: readonly [string, string]): [string, string] {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) <= 0 ? [one, other] : [other, one];
}
