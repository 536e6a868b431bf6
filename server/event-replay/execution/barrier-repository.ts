import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";

export type Projection = Pick<ProjectionDefinition, "projectionName" | "consumerGroup">;

/** Which execution holds or wants barriers of one host. */
export type BarrierHolder = { readonly hostId: string; readonly requestId: string; readonly projection: Projection };

export type LiveBarrier = {
  readonly barrierId: string;
  readonly scope: Scope;
  readonly state: "INSTALLING" | "ACTIVE" | "DRAINING" | "QUARANTINED";
  readonly epoch: number;
  readonly requestId: string | null;
  readonly failureId: string | null;
  /** Its owner failure is an item of the asking request. */
  readonly ownerInPlan: boolean;
  /** Its owner failure is still OPEN. */
  readonly ownerOpen: boolean;
};

type BarrierRow = {
  barrier_id: string;
  scope_type: Scope["type"];
  scope_key: string;
  state: LiveBarrier["state"];
  barrier_epoch: number;
  replay_request_id: string | null;
  quarantine_failure_id: string | null;
  owner_in_plan: boolean;
  owner_open: boolean;
};

/** Same order in every statement that locks several barriers. */
const LOCKED = "ORDER BY b.barrier_id FOR UPDATE OF b";

/**
 * Unreleased barriers that concern a request: on these scopes, already its own, or quarantined under one of its items wherever
 * they stand. `locked` takes the rows FOR UPDATE.
 */
export async function loadLiveBarriers(
  tx: Tx,
  { hostId, requestId, projection }: BarrierHolder,
  scopes: readonly Scope[],
  locked: boolean,
): Promise<LiveBarrier[]> {
  if (locked) tx.lock("BARRIER");
  const rows = await tx.query<BarrierRow>(
    `SELECT b.barrier_id, b.scope_type, b.scope_key, b.state, b.barrier_epoch, b.replay_request_id, b.quarantine_failure_id,
            EXISTS (SELECT FROM event_replay_item_t i WHERE i.host_id = b.host_id AND i.replay_request_id = $4
                     AND i.failure_id = b.quarantine_failure_id) AS owner_in_plan,
            EXISTS (SELECT FROM event_failure_transaction_t f WHERE f.host_id = b.host_id
                     AND f.failure_id = b.quarantine_failure_id AND f.status = 'OPEN') AS owner_open
       FROM event_replay_barrier_t b
      WHERE b.host_id = $1 AND b.projection_name = $2 AND b.consumer_group = $3 AND b.released_ts IS NULL
        AND (b.replay_request_id = $4
          OR (b.scope_type, b.scope_key) IN (SELECT * FROM unnest($5::varchar[], $6::varchar[]))
          OR b.quarantine_failure_id IN (SELECT i.failure_id FROM event_replay_item_t i
                                          WHERE i.host_id = $1 AND i.replay_request_id = $4))
      ${locked ? LOCKED : "ORDER BY b.barrier_id"}`,
    [
      hostId,
      projection.projectionName,
      projection.consumerGroup,
      requestId,
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
    ],
  );
  return rows.map((row) => ({
    barrierId: row.barrier_id,
    scope: { type: row.scope_type, key: row.scope_key },
    state: row.state,
    epoch: row.barrier_epoch,
    requestId: row.replay_request_id,
    failureId: row.quarantine_failure_id,
    ownerInPlan: row.owner_in_plan,
    ownerOpen: row.owner_open,
  }));
}

export async function insertBarriers(
  tx: Tx,
  { hostId, requestId, projection }: BarrierHolder,
  scopes: readonly Scope[],
  epoch: number,
  fencingToken: number,
): Promise<{ readonly barrierId: string; readonly scope: Scope }[]> {
  if (scopes.length === 0) return [];
  const barriers = scopes.map((scope) => ({ barrierId: newId(), scope }));
  await tx.execute(
    `INSERT INTO event_replay_barrier_t (host_id, barrier_id, projection_name, consumer_group, scope_type, scope_key, state,
            owner_type, replay_request_id, barrier_epoch, fencing_token, installed_ts, updated_ts)
     SELECT $1, n.barrier_id, $2, $3, n.scope_type, n.scope_key, 'ACTIVE', 'REPLAY_REQUEST', $4, $5, $6, now(), now()
       FROM unnest($7::uuid[], $8::varchar[], $9::varchar[]) AS n(barrier_id, scope_type, scope_key)`,
    [
      hostId,
      projection.projectionName,
      projection.consumerGroup,
      requestId,
      epoch,
      fencingToken,
      arrayLiteral(barriers.map((barrier) => barrier.barrierId)),
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
    ],
  );
  return barriers;
}

/** Quarantined barriers get the request as their owner, under a higher epoch; its own only learn the newer token. */
export async function takeBarriers(
  tx: Tx,
  { hostId, requestId }: BarrierHolder,
  barrierIds: readonly string[],
  epoch: number,
  fencingToken: number,
): Promise<number> {
  if (barrierIds.length === 0) return 0;
  return tx.execute(
    `UPDATE event_replay_barrier_t
        SET state = CASE state WHEN 'QUARANTINED' THEN 'ACTIVE' ELSE state END,
            owner_type = 'REPLAY_REQUEST', replay_request_id = $2, quarantine_failure_id = NULL,
            barrier_epoch = CASE state WHEN 'QUARANTINED' THEN greatest(barrier_epoch + 1, $4) ELSE barrier_epoch END,
            fencing_token = greatest(fencing_token, $5), updated_ts = now()
      WHERE host_id = $1 AND barrier_id = ANY ($3::uuid[]) AND released_ts IS NULL
        AND (state = 'QUARANTINED' OR replay_request_id = $2)`,
    [hostId, requestId, arrayLiteral(barrierIds), epoch, fencingToken],
  );
}

/** The request's ACTIVE barriers (of these scopes, or all) begin to drain. */
export async function drainBarriers(
  tx: Tx,
  { hostId, requestId }: BarrierHolder,
  scopes: readonly Scope[] | null,
): Promise<number> {
  tx.lock("BARRIER");
  return tx.execute(
    `UPDATE event_replay_barrier_t SET state = 'DRAINING', updated_ts = now()
      WHERE (host_id, barrier_id) IN (
        SELECT b.host_id, b.barrier_id FROM event_replay_barrier_t b
         WHERE b.host_id = $1 AND b.replay_request_id = $2 AND b.state = 'ACTIVE' AND b.released_ts IS NULL
           AND ($3::varchar[] IS NULL OR (b.scope_type, b.scope_key) IN (SELECT * FROM unnest($3::varchar[], $4::varchar[])))
         ${LOCKED})`,
    [
      hostId,
      requestId,
      scopes && arrayLiteral(scopes.map((scope) => scope.type)),
      scopes && arrayLiteral(scopes.map((scope) => scope.key)),
    ],
  );
}

/** Barriers become quarantines of these failures; the epoch tells the new owner from the old. */
export async function quarantineBarriers(
  tx: Tx,
  hostId: string,
  owners: readonly { readonly barrierId: string; readonly failureId: string }[],
): Promise<number> {
  if (owners.length === 0) return 0;
  return tx.execute(
    `UPDATE event_replay_barrier_t b
        SET state = 'QUARANTINED', owner_type = 'FAILURE_QUARANTINE', replay_request_id = NULL,
            quarantine_failure_id = o.failure_id, barrier_epoch = b.barrier_epoch + 1, updated_ts = now()
       FROM unnest($2::uuid[], $3::uuid[]) AS o(barrier_id, failure_id)
      WHERE b.host_id = $1 AND b.barrier_id = o.barrier_id AND b.released_ts IS NULL AND b.state <> 'QUARANTINED'`,
    [
      hostId,
      arrayLiteral(owners.map((owner) => owner.barrierId)),
      arrayLiteral(owners.map((owner) => owner.failureId)),
    ],
  );
}

/** A draining barrier passes to the request whose barrier its parked work still waits for. */
export async function handBarriers(
  tx: Tx,
  hostId: string,
  heirs: readonly { readonly barrierId: string; readonly requestId: string }[],
): Promise<number> {
  if (heirs.length === 0) return 0;
  return tx.execute(
    `UPDATE event_replay_barrier_t b
        SET replay_request_id = o.request_id, barrier_epoch = b.barrier_epoch + 1, updated_ts = now(),
            fencing_token = greatest(b.fencing_token, (SELECT r.fencing_token FROM event_replay_request_t r
              WHERE r.host_id = b.host_id AND r.replay_request_id = o.request_id))
       FROM unnest($2::uuid[], $3::uuid[]) AS o(barrier_id, request_id)
      WHERE b.host_id = $1 AND b.barrier_id = o.barrier_id AND b.released_ts IS NULL AND b.state = 'DRAINING'`,
    [hostId, arrayLiteral(heirs.map((heir) => heir.barrierId)), arrayLiteral(heirs.map((heir) => heir.requestId))],
  );
}

export async function releaseBarriers(
  tx: Tx,
  hostId: string,
  barrierIds: readonly string[],
  releasedBy: string,
): Promise<number> {
  if (barrierIds.length === 0) return 0;
  return tx.execute(
    `UPDATE event_replay_barrier_t SET released_by = $3, release_reason = 'Parked work is drained', released_ts = now(),
            updated_ts = now()
      WHERE host_id = $1 AND barrier_id = ANY ($2::uuid[]) AND released_ts IS NULL AND state = 'DRAINING'`,
    [hostId, arrayLiteral(barrierIds), releasedBy],
  );
}
