import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import type { Projection } from "./barrier-repository";
import { type Fence, mustHit } from "./fence";
import type { Attempt } from "./item-repository";
import { renewal } from "./lease";

/** The attempt that begins with the commit that ends the one before. */
export type NextAttempt = {
  readonly ordinal: number;
  readonly worker: string;
  /** Where its scopes must stand: keys and versions only. */
  readonly pre: Readonly<Record<string, unknown>>;
};

export type ItemSuccess = {
  readonly projection: Projection;
  readonly failureId: string;
  readonly attempt: Attempt;
  readonly post: Readonly<Record<string, unknown>>;
  /** Where the plan says that the item's scopes stand now. */
  readonly scopes: readonly (Scope & { readonly after: number })[];
  readonly leaseSeconds: number;
  readonly next: NextAttempt | null;
};

export type ItemEnded = {
  /** False: a repair of the failure is under way, and nothing may be committed. */
  readonly resolved: boolean;
  /** Scopes that stand where the plan says. */
  readonly moved: number;
  readonly next: Attempt | null;
};

/**
 * Everything that a success writes about itself, in one statement: failure RESOLVED unless a repair of it is under way, item and
 * attempt SUCCEEDED, the lease renewed, the next item's attempt begun. The caller holds the
 * failure's row. Item, attempt and lease are guarded by our token, one row
 * each, or it is LEASE_LOST; the caller judges the rest and has to roll back when it doesn't hold.
 */
export async function endItem(tx: Tx, fence: Fence, end: ItemSuccess): Promise<ItemEnded> {
  tx.lock("ITEM");
  const nextId = newId();
  const [found] = await tx.query<Counts>(
    END_ITEM,
    [
      fence.hostId,
      fence.replayRequestId,
      fence.fencingToken,
      end.leaseSeconds,
      end.failureId,
      end.attempt.ordinal,
      end.attempt.id,
      JSON.stringify(end.post),
      end.projection.projectionName,
      end.projection.consumerGroup,
      arrayLiteral(end.scopes.map((scope) => scope.type)),
      arrayLiteral(end.scopes.map((scope) => scope.key)),
      arrayLiteral(end.scopes.map((scope) => scope.after)),
      end.next?.ordinal ?? null,
      nextId,
      end.next?.worker ?? "",
      JSON.stringify(end.next?.pre ?? {}),
    ],
    "end_replay_item",
  );
  const counts = found as Counts;
  mustHit(counts.leases);
  mustHit(counts.items);
  mustHit(counts.attempts);
  const next = end.next;
  if (next !== null) mustHit(counts.next_attempt === null ? 0 : 1);
  return {
    resolved: counts.failures === 1,
    moved: counts.moved,
    next: next && { id: nextId, ordinal: next.ordinal, number: counts.next_attempt as number },
  };
}

type Counts = {
  leases: number;
  failures: number;
  items: number;
  attempts: number;
  next_attempt: number | null;
  moved: number;
};

const END_ITEM = `
WITH lease AS (${renewal("$4")} RETURNING 1
), failure AS (
  UPDATE event_failure_transaction_t f SET status = 'RESOLVED', resolved_ts = clock_timestamp(), resolved_by_request_id = $2,
         resolution_code = 'RESOLVED_BY_EXACT_REPLAY', updated_ts = clock_timestamp()
   WHERE f.host_id = $1 AND f.failure_id = $5 AND f.status = 'OPEN'
     AND NOT EXISTS (SELECT FROM event_repair_t p WHERE p.host_id = f.host_id AND p.failure_id = f.failure_id
                        AND p.status IN ('AWAITING_APPROVAL', 'APPROVED'))
  RETURNING 1
), item AS (
  UPDATE event_replay_item_t SET status = 'SUCCEEDED', updated_ts = clock_timestamp()
   WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $6 AND status = 'RUNNING' AND current_fencing_token = $3
  RETURNING 1
), attempt AS (
  UPDATE event_replay_attempt_t SET result = 'SUCCEEDED', completed_ts = clock_timestamp(), projection_committed = true,
         post_projection_metadata = $8::jsonb
   WHERE host_id = $1 AND replay_attempt_id = $7 AND result = 'RUNNING' AND fencing_token = $3
  RETURNING 1
), next_item AS (
  UPDATE event_replay_item_t SET status = 'RUNNING', attempt_count = attempt_count + 1, current_fencing_token = $3,
         updated_ts = clock_timestamp()
   WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $14::int AND status = 'PENDING'
     AND current_fencing_token <= $3
  RETURNING attempt_count
), next_attempt AS (
  INSERT INTO event_replay_attempt_t
         (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number, worker_id, fencing_token, started_ts,
          pre_projection_metadata)
  SELECT $1, $15::uuid, $2, $14::int, next_item.attempt_count, $16, $3, clock_timestamp(), $17::jsonb FROM next_item
  RETURNING attempt_number
)
SELECT (SELECT count(*)::int FROM lease) AS leases, (SELECT count(*)::int FROM failure) AS failures,
       (SELECT count(*)::int FROM item) AS items, (SELECT count(*)::int FROM attempt) AS attempts,
       (SELECT attempt_number FROM next_attempt) AS next_attempt,
       (SELECT count(*)::int FROM unnest($11::varchar[], $12::varchar[], $13::bigint[]) AS w(scope_type, scope_key, version)
          JOIN projection_scope_t s ON s.host_id = $1 AND s.projection_name = $9 AND s.consumer_group = $10
           AND s.scope_type = w.scope_type AND s.scope_key = w.scope_key AND s.projected_version = w.version) AS moved`;
