import type { ErrorCode } from "@/server/contracts/errors";
import type { ParkedHeader } from "@/server/event-replay/projection/domain/parked-frame";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { BarrierHolder, Projection } from "./barrier-repository";

/** SQL: the parked row `d` waits for a barrier that doesn't drain yet. */
const WAITS = `EXISTS (
  SELECT FROM event_projection_deferred_scope_t s
    JOIN event_replay_barrier_t o ON o.host_id = s.host_id AND o.barrier_id = s.barrier_id
   WHERE s.host_id = d.host_id AND s.deferred_id = d.deferred_id AND o.released_ts IS NULL AND o.state <> 'DRAINING')`;

/**
 * Whether anything is parked behind a draining barrier of the request. Parked rows name their first barrier themselves, so
 * one index probe for each barrier nearly always answers; the second look finds those that wait for one of ours among others.
 * ORDER BY and OFFSET keep both as probes, whatever the planner believes of tables that were just filled.
 */
export async function hasParkedWork(tx: Tx, { hostId, requestId }: BarrierHolder): Promise<boolean> {
  const own = `b.host_id = $1 AND b.replay_request_id = $2 AND b.released_ts IS NULL AND b.state = 'DRAINING'`;
  const [first] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (
       SELECT FROM event_replay_barrier_t b
        CROSS JOIN LATERAL (
          SELECT FROM event_projection_deferred_t d
           WHERE d.host_id = b.host_id AND d.barrier_id = b.barrier_id AND d.status = 'PENDING'
           ORDER BY d.source_order_key LIMIT 1) p
        WHERE ${own}) AS found`,
    [hostId, requestId],
    "has_parked_work",
  );
  if (first?.found) return true;
  const [other] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (
       SELECT FROM event_projection_deferred_t d
        WHERE d.host_id = $1 AND d.status = 'PENDING' AND EXISTS (
          SELECT FROM event_projection_deferred_scope_t s
            JOIN event_replay_barrier_t b ON b.host_id = s.host_id AND b.barrier_id = s.barrier_id
           WHERE s.host_id = d.host_id AND s.deferred_id = d.deferred_id AND ${own} OFFSET 0)) AS found`,
    [hostId, requestId],
    "has_parked_work_of_others",
  );
  return other?.found ?? false;
}

/**
 * The first parked transaction, in source order, all of whose barriers drain, whoever owns them. Parked work of one scope
 * waits for at least all that its predecessors wait for, so the first that may run never overtakes one of its scopes.
 * One probe of event_projection_deferred_drain_ix for each draining barrier of the host.
 */
export async function findDrainable(tx: Tx, hostId: string, projection: Projection): Promise<string | null> {
  const [row] = await tx.query<{ deferred_id: string }>(
    `SELECT c.deferred_id
       FROM event_replay_barrier_t b
      CROSS JOIN LATERAL (
        SELECT d.deferred_id, d.source_order_key FROM event_projection_deferred_t d
         WHERE d.host_id = b.host_id AND d.barrier_id = b.barrier_id AND d.status = 'PENDING' AND NOT ${WAITS}
         ORDER BY d.source_order_key LIMIT 1) c
      WHERE b.host_id = $1 AND b.projection_name = $2 AND b.consumer_group = $3 AND b.released_ts IS NULL
        AND b.state = 'DRAINING'
      ORDER BY c.source_order_key LIMIT 1`,
    [hostId, projection.projectionName, projection.consumerGroup],
    "find_drainable",
  );
  return row?.deferred_id ?? null;
}

export type ParkedRow = ParkedHeader & { readonly deferredId: string; readonly payload: Buffer };

/** Locks one parked transaction that still waits and loads its bytes; null when somebody else has drained it meanwhile. */
export async function lockParked(
  tx: Tx,
  hostId: string,
  projection: Projection,
  deferredId: string,
): Promise<ParkedRow | null> {
  const [row] = await tx.query<{
    original_transaction_id: string;
    content_fingerprint: string;
    event_count: number;
    payload_digest: string;
    payload_plain: Buffer;
  }>(
    `SELECT original_transaction_id, content_fingerprint, event_count, payload_digest, payload_plain
       FROM event_projection_deferred_t WHERE host_id = $1 AND deferred_id = $2 AND status = 'PENDING' FOR UPDATE`,
    [hostId, deferredId],
    "lock_parked",
  );
  if (!row) return null;
  return {
    deferredId,
    hostId,
    projectionName: projection.projectionName,
    consumerGroup: projection.consumerGroup,
    transactionId: row.original_transaction_id,
    contentFingerprint: row.content_fingerprint,
    eventCount: row.event_count,
    payloadDigest: row.payload_digest,
    payload: row.payload_plain,
  };
}

export async function startParked(tx: Tx, hostId: string, deferredId: string): Promise<number> {
  return tx.execute(
    `UPDATE event_projection_deferred_t SET status = 'RUNNING', attempt_count = attempt_count + 1, updated_ts = now()
      WHERE host_id = $1 AND deferred_id = $2 AND status = 'PENDING'`,
    [hostId, deferredId],
    "start_parked",
  );
}

/** Ends a running one: projected, or archived as the failure named. */
export async function endParked(
  tx: Tx,
  hostId: string,
  deferredId: string,
  failed: { readonly failureId: string; readonly code: ErrorCode } | null,
): Promise<number> {
  return tx.execute(
    `UPDATE event_projection_deferred_t
        SET status = $3, failure_id = $4, error_code = $5, completed_ts = now(), updated_ts = now()
      WHERE host_id = $1 AND deferred_id = $2 AND status = 'RUNNING'`,
    [hostId, deferredId, failed ? "FAILED" : "SUCCEEDED", failed?.failureId ?? null, failed?.code ?? null],
    "end_parked",
  );
}

/** Unreleased barriers that one parked transaction waits for, locked in the order of every barrier lock. */
export async function lockBarriersOfParked(
  tx: Tx,
  hostId: string,
  deferredId: string,
): Promise<{ readonly barrierId: string; readonly scope: Scope }[]> {
  tx.lock("BARRIER");
  const rows = await tx.query<{ barrier_id: string; scope_type: Scope["type"]; scope_key: string }>(
    `SELECT b.barrier_id, b.scope_type, b.scope_key
       FROM event_replay_barrier_t b
      WHERE b.host_id = $1 AND b.released_ts IS NULL AND b.barrier_id IN (
        SELECT s.barrier_id FROM event_projection_deferred_scope_t s WHERE s.host_id = $1 AND s.deferred_id = $2)
      ORDER BY b.barrier_id FOR UPDATE OF b`,
    [hostId, deferredId],
  );
  return rows.map((row) => ({ barrierId: row.barrier_id, scope: { type: row.scope_type, key: row.scope_key } }));
}

/** Whether an OPEN failure holds any of the scopes: then what comes after it is a gap for LIVE work, too. */
export async function heldByFailure(
  tx: Tx,
  hostId: string,
  projection: Projection,
  scopes: readonly Scope[],
): Promise<boolean> {
  const [row] = await tx.query<{ held: boolean }>(
    `SELECT EXISTS (
       SELECT FROM unnest($4::varchar[], $5::varchar[]) AS w(scope_type, scope_key)
         JOIN event_failure_scope_t f ON f.host_id = $1 AND f.projection_name = $2 AND f.consumer_group = $3
          AND f.scope_type = w.scope_type AND f.scope_key = w.scope_key AND f.status = 'OPEN') AS held`,
    [
      hostId,
      projection.projectionName,
      projection.consumerGroup,
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
    ],
  );
  return row?.held ?? false;
}

/** What a request's draining barrier still waits for; `blocker` of the first parked transaction that may not run. */
export type DrainingBarrier = {
  readonly barrierId: string;
  readonly parked: boolean;
  readonly mayDrain: boolean;
  readonly heirRequestId: string | null;
  readonly heirFailureId: string | null;
};

/** The request's draining barriers, locked, with the standing of what is parked behind each. */
export async function lockDrainingBarriers(tx: Tx, { hostId, requestId }: BarrierHolder): Promise<DrainingBarrier[]> {
  tx.lock("BARRIER");
  const rows = await tx.query<{ barrier_id: string }>(
    `SELECT b.barrier_id FROM event_replay_barrier_t b
      WHERE b.host_id = $1 AND b.replay_request_id = $2 AND b.released_ts IS NULL AND b.state = 'DRAINING'
      ORDER BY b.barrier_id FOR UPDATE OF b`,
    [hostId, requestId],
  );
  if (rows.length === 0) return [];
  const standing = await tx.query<{
    barrier_id: string;
    may_drain: boolean;
    heir_request_id: string | null;
    heir_failure_id: string | null;
  }>(
    `SELECT w.barrier_id, p.may_drain, h.replay_request_id AS heir_request_id, h.quarantine_failure_id AS heir_failure_id
       FROM unnest($2::uuid[]) AS w(barrier_id)
      CROSS JOIN LATERAL (
        SELECT d.deferred_id, NOT ${WAITS} AS may_drain
          FROM event_projection_deferred_scope_t b
          JOIN event_projection_deferred_t d ON d.host_id = b.host_id AND d.deferred_id = b.deferred_id
         WHERE b.host_id = $1 AND b.barrier_id = w.barrier_id AND d.status = 'PENDING'
         ORDER BY may_drain DESC, d.source_order_key LIMIT 1) p
       LEFT JOIN LATERAL (
        SELECT o.replay_request_id, o.quarantine_failure_id
          FROM event_projection_deferred_scope_t s
          JOIN event_replay_barrier_t o ON o.host_id = s.host_id AND o.barrier_id = s.barrier_id
         WHERE s.host_id = $1 AND s.deferred_id = p.deferred_id AND o.released_ts IS NULL AND o.state <> 'DRAINING'
         ORDER BY o.state = 'QUARANTINED' DESC, o.barrier_id LIMIT 1) h ON true`,
    [hostId, arrayLiteral(rows.map((row) => row.barrier_id))],
  );
  const byId = new Map(standing.map((row) => [row.barrier_id, row]));
  return rows.map(({ barrier_id }) => {
    const row = byId.get(barrier_id);
    return {
      barrierId: barrier_id,
      parked: row !== undefined,
      mayDrain: row?.may_drain ?? false,
      heirRequestId: row?.heir_request_id ?? null,
      heirFailureId: row?.heir_failure_id ?? null,
    };
  });
}

export type WaitingRow = { readonly deferredId: string; readonly scopes: readonly Scope[] };

/** Whether anything parked touches one of these scopes. Index: event_projection_deferred_pending_scope_ix. */
export async function anyParkedOn(tx: Tx, hostId: string, scopes: readonly Scope[]): Promise<boolean> {
  if (scopes.length === 0) return false;
  const [row] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (
       SELECT FROM unnest($2::varchar[], $3::varchar[]) AS w(scope_type, scope_key)
         JOIN event_projection_deferred_t d ON d.host_id = $1 AND d.status = 'PENDING'
          AND d.dependency_scopes @> jsonb_build_array(jsonb_build_object('scopeType', w.scope_type, 'scopeKey', w.scope_key))) AS found`,
    [hostId, arrayLiteral(scopes.map((scope) => scope.type)), arrayLiteral(scopes.map((scope) => scope.key))],
  );
  return row?.found ?? false;
}

/** Everything parked of one host and projection, in source order: ids and scopes, no bytes. */
export async function loadWaiting(tx: Tx, hostId: string, projection: Projection): Promise<WaitingRow[]> {
  const rows = await tx.query<{
    deferred_id: string;
    dependency_scopes: { scopeType: Scope["type"]; scopeKey: string }[];
  }>(
    `SELECT d.deferred_id, d.dependency_scopes FROM event_projection_deferred_t d
       JOIN event_replay_barrier_t b ON b.host_id = d.host_id AND b.barrier_id = d.barrier_id
      WHERE d.host_id = $1 AND d.status = 'PENDING' AND b.projection_name = $2 AND b.consumer_group = $3
      ORDER BY d.source_order_key`,
    [hostId, projection.projectionName, projection.consumerGroup],
  );
  return rows.map((row) => ({
    deferredId: row.deferred_id,
    scopes: row.dependency_scopes.map(({ scopeType, scopeKey }) => ({ type: scopeType, key: scopeKey })),
  }));
}

export async function linkParked(
  tx: Tx,
  hostId: string,
  links: readonly { readonly deferredId: string; readonly barrierId: string }[],
): Promise<void> {
  if (links.length === 0) return;
  await tx.execute(
    `INSERT INTO event_projection_deferred_scope_t (host_id, deferred_id, barrier_id, created_ts)
     SELECT $1, l.deferred_id, l.barrier_id, now() FROM unnest($2::uuid[], $3::uuid[]) AS l(deferred_id, barrier_id)
     ON CONFLICT DO NOTHING`,
    [hostId, arrayLiteral(links.map((link) => link.deferredId)), arrayLiteral(links.map((link) => link.barrierId))],
  );
}
