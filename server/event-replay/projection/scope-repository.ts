import { compareScopes, type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { ScopeStanding } from "./domain/continuity";
import type { ProjectionDefinition, ProjectionTransaction } from "./domain/types";

/** A scope of one host: lanes carry several hosts in one batch. */
export type HostScope = Scope & { readonly hostId: string };

export function hostScopeId(hostId: string, scope: Scope): string {
  return `${hostId}\u0000${scopeId(scope)}`;
}

export function compareHostScopes(a: HostScope, b: HostScope): number {
  return a.hostId < b.hostId ? -1 : a.hostId > b.hostId ? 1 : compareScopes(a, b);
}

/**
 * Where each scope stands, its row locked FOR UPDATE in canonical order, together with whether an OPEN failure holds it.
 * `scopes` must be sorted by compareHostScopes and free of duplicates. A scope that has no row yet is unknown: only the lane
 * that owns the host's partition creates it. Uses the primary key and the partial index of the command guard; the look-up per
 * scope is left out by one look-up a statement while none of the hosts has an OPEN failure, which is nearly always.
 */
export async function loadStandings(
  tx: Tx,
  definition: ProjectionDefinition,
  scopes: readonly HostScope[],
): Promise<Map<string, ScopeStanding>> {
  const standings = new Map<string, ScopeStanding>();
  if (scopes.length === 0) return standings;
  tx.lock("ORDERING_SCOPE");
  const rows = await tx.query<{ i: number; projected_version: number | null; held: boolean }>(
    `SELECT w.i::int AS i, s.projected_version,
            (SELECT EXISTS (SELECT FROM event_failure_scope_t a
                             WHERE a.status = 'OPEN' AND a.host_id = ANY ($6::uuid[]) AND a.projection_name = $1
                               AND a.consumer_group = $2))
            AND EXISTS (SELECT FROM event_failure_scope_t f
                     WHERE f.status = 'OPEN' AND f.host_id = w.host_id AND f.scope_type = w.scope_type
                       AND f.scope_key = w.scope_key AND f.projection_name = $1 AND f.consumer_group = $2) AS held
       FROM unnest($3::uuid[], $4::varchar[], $5::varchar[]) WITH ORDINALITY AS w(host_id, scope_type, scope_key, i)
       LEFT JOIN LATERAL (
         SELECT projected_version FROM projection_scope_t
          WHERE host_id = w.host_id AND projection_name = $1 AND consumer_group = $2
            AND scope_type = w.scope_type AND scope_key = w.scope_key
            FOR UPDATE
       ) s ON true`,
    [
      definition.projectionName,
      definition.consumerGroup,
      arrayLiteral(scopes.map((scope) => scope.hostId)),
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
      arrayLiteral([...new Set(scopes.map((scope) => scope.hostId))]),
    ],
    "load_standings",
  );
  for (const row of rows) {
    const scope = scopes[row.i - 1] as HostScope;
    standings.set(hostScopeId(scope.hostId, scope), { projected: row.projected_version, held: row.held });
  }
  return standings;
}

type ScopeMove = HostScope & { readonly version: number };

/** Scopes that had no row. Two writers of one new scope would be a breach of lane ownership, and fail on the key. */
export async function insertScopes(
  tx: Tx,
  definition: ProjectionDefinition,
  moves: readonly ScopeMove[],
): Promise<void> {
  if (moves.length === 0) return;
  await tx.execute(
    `INSERT INTO projection_scope_t
            (projection_name, consumer_group, host_id, scope_type, scope_key, projected_version, updated_ts)
     SELECT $1, $2, m.host_id, m.scope_type, m.scope_key, m.version, now()
       FROM unnest($3::uuid[], $4::varchar[], $5::varchar[], $6::bigint[]) AS m(host_id, scope_type, scope_key, version)`,
    moveParameters(definition, moves),
    "insert_scopes",
  );
  await advanceGraphRevisions(tx, moves);
}

/** Scopes whose rows this transaction holds locked. Each must move forward; the table's trigger refuses anything else too. */
export async function updateScopes(
  tx: Tx,
  definition: ProjectionDefinition,
  moves: readonly ScopeMove[],
): Promise<void> {
  if (moves.length === 0) return;
  const written = await tx.execute(
    `UPDATE projection_scope_t s SET projected_version = m.version, updated_ts = now()
       FROM unnest($3::uuid[], $4::varchar[], $5::varchar[], $6::bigint[]) AS m(host_id, scope_type, scope_key, version)
      WHERE s.host_id = m.host_id AND s.projection_name = $1 AND s.consumer_group = $2
        AND s.scope_type = m.scope_type AND s.scope_key = m.scope_key AND s.projected_version < m.version`,
    moveParameters(definition, moves),
    "update_scopes",
  );
  if (written !== moves.length) throw new Error("a scope moved while its row was locked");
  await advanceGraphRevisions(tx, moves);
}

function moveParameters(definition: ProjectionDefinition, moves: readonly ScopeMove[]): unknown[] {
  return [
    definition.projectionName,
    definition.consumerGroup,
    arrayLiteral(moves.map((move) => move.hostId)),
    arrayLiteral(moves.map((move) => move.type)),
    arrayLiteral(moves.map((move) => move.key)),
    arrayLiteral(moves.map((move) => move.version)),
  ];
}

/**
 * The public face of graph order: projected_revision follows the projection in its own commit. A root that was never accepted
 * here (an external producer) gets its row now; a deleted instance keeps it as a tombstone.
 */
async function advanceGraphRevisions(tx: Tx, moves: readonly ScopeMove[]): Promise<void> {
  const roots = moves.filter((move) => move.type === "GRAPH_ROOT");
  if (roots.length === 0) return;
  tx.lock("GRAPH_PROJECTED");
  await tx.execute(
    `INSERT INTO instance_graph_revision_t AS g
            (host_id, instance_id, accepted_revision, projected_revision, accepted_ts, projected_ts)
     SELECT r.host_id, r.instance_id, r.revision, r.revision, now(), now()
       FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS r(host_id, instance_id, revision)
     ON CONFLICT (host_id, instance_id)
     DO UPDATE SET projected_revision = EXCLUDED.projected_revision, projected_ts = EXCLUDED.projected_ts,
                   accepted_revision = greatest(g.accepted_revision, EXCLUDED.projected_revision)
      WHERE g.projected_revision < EXCLUDED.projected_revision`,
    [
      arrayLiteral(roots.map((root) => root.hostId)),
      arrayLiteral(roots.map((root) => root.key)),
      arrayLiteral(roots.map((root) => root.version)),
    ],
  );
}

/**
 * Unordered transactions of the list that are already projected. Their only idempotency is this ledger: they have no version
 * to compare (design §3 Continuity).
 */
export async function loadProjectedTransactions(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
): Promise<ReadonlySet<string>> {
  if (transactions.length === 0) return new Set();
  const rows = await tx.query<{ host_id: string; transaction_id: string }>(
    `SELECT p.host_id, p.transaction_id
       FROM unnest($3::uuid[], $4::uuid[]) AS w(host_id, transaction_id)
       JOIN projected_transaction_t p
         ON p.host_id = w.host_id AND p.projection_name = $1 AND p.consumer_group = $2 AND p.transaction_id = w.transaction_id`,
    [
      definition.projectionName,
      definition.consumerGroup,
      arrayLiteral(transactions.map((transaction) => transaction.hostId)),
      arrayLiteral(transactions.map((transaction) => transaction.transactionId)),
    ],
    "load_projected_transactions",
  );
  return new Set(rows.map((row) => `${row.host_id}\u0000${row.transaction_id}`));
}

export async function insertProjectedTransactions(
  tx: Tx,
  definition: ProjectionDefinition,
  transactions: readonly ProjectionTransaction[],
): Promise<void> {
  if (transactions.length === 0) return;
  const last = transactions.map((transaction) => transaction.members.at(-1)?.source);
  await tx.execute(
    `INSERT INTO projected_transaction_t
            (projection_name, consumer_group, host_id, transaction_id, partition_id, last_offset, projected_ts)
     SELECT $1, $2, w.host_id, w.transaction_id, w.partition_id, w.last_offset, now()
       FROM unnest($3::uuid[], $4::uuid[], $5::int[], $6::bigint[]) AS w(host_id, transaction_id, partition_id, last_offset)`,
    [
      definition.projectionName,
      definition.consumerGroup,
      arrayLiteral(transactions.map((transaction) => transaction.hostId)),
      arrayLiteral(transactions.map((transaction) => transaction.transactionId)),
      arrayLiteral(last.map((source) => source?.partition ?? null)),
      arrayLiteral(last.map((source) => source?.offset ?? null)),
    ],
    "insert_projected_transactions",
  );
}
