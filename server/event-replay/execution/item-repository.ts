import type { ErrorCode } from "@/server/contracts/errors";
import { type ScopeRun, scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { contentFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { type Fence, mustHit } from "./fence";

export type ReplayMember = {
  readonly eventId: string;
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly policyRegistryVersion: string;
  readonly payloadDigest: string;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly versionBaseline: boolean;
};

export type ReplayItem = {
  readonly ordinal: number;
  readonly failureId: string;
  readonly repairId: string | null;
  readonly expectedFingerprint: string;
  readonly status: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED";
  readonly attemptCount: number;
  readonly failureStatus: "OPEN" | "RESOLVED" | "WAIVED";
  /** A repair of this failure awaits a decision or its use. */
  readonly repairUnderWay: boolean;
  /** As the archive says, and as its members' ids and digests add up to now. Equal unless somebody changed the archive. */
  readonly storedFingerprint: string;
  readonly computedFingerprint: string;
  readonly members: readonly ReplayMember[];
  /** What it writes, from the members' ordering columns; no payload is read. */
  readonly runs: readonly ScopeRun[];
};

type ItemRow = {
  item_ordinal: number;
  failure_id: string;
  repair_id: string | null;
  expected_content_fingerprint: string;
  status: ReplayItem["status"];
  attempt_count: number;
  failure_status: ReplayItem["failureStatus"];
  repair_under_way: boolean;
  projection_name: string;
  consumer_group: string;
  original_transaction_id: string;
  content_fingerprint: string;
  members: readonly ReplayMember[];
};

/** The items of a request in plan order, as the archive holds them now. At most 500 with 5,000 members. */
export async function loadItems(tx: Tx, hostId: string, requestId: string): Promise<ReplayItem[]> {
  const rows = await tx.query<ItemRow>(
    `SELECT i.item_ordinal, i.failure_id, i.repair_id, i.expected_content_fingerprint, i.status, i.attempt_count,
            f.status AS failure_status, f.projection_name, f.consumer_group, f.original_transaction_id, f.content_fingerprint,
            EXISTS (SELECT FROM event_repair_t p WHERE p.host_id = i.host_id AND p.failure_id = i.failure_id
                       AND p.status IN ('AWAITING_APPROVAL', 'APPROVED')) AS repair_under_way,
            m.members
       FROM event_replay_item_t i
       JOIN event_failure_transaction_t f ON f.host_id = i.host_id AND f.failure_id = i.failure_id
       CROSS JOIN LATERAL (
         SELECT json_agg(json_build_object('eventId', e.event_id, 'eventType', e.event_type,
                  'schemaVersion', coalesce(e.event_schema_version, ''), 'policyRegistryVersion', e.policy_registry_version,
                  'payloadDigest', e.payload_digest, 'aggregateType', e.aggregate_type, 'aggregateId', e.aggregate_id,
                  'aggregateVersion', e.aggregate_version, 'rootInstanceId', e.root_instance_id,
                  'graphRevision', e.graph_revision, 'versionBaseline', e.version_baseline) ORDER BY e.event_ordinal) AS members
           FROM event_failure_event_t e WHERE e.host_id = i.host_id AND e.failure_id = i.failure_id) m
      WHERE i.host_id = $1 AND i.replay_request_id = $2
      ORDER BY i.item_ordinal`,
    [hostId, requestId],
    "load_replay_items",
  );
  return rows.map(toItem);
}

function toItem(row: ItemRow): ReplayItem {
  return {
    ordinal: row.item_ordinal,
    failureId: row.failure_id,
    repairId: row.repair_id,
    expectedFingerprint: row.expected_content_fingerprint,
    status: row.status,
    attemptCount: row.attempt_count,
    failureStatus: row.failure_status,
    repairUnderWay: row.repair_under_way,
    storedFingerprint: row.content_fingerprint,
    computedFingerprint: contentFingerprint({
      projectionName: row.projection_name,
      consumerGroup: row.consumer_group,
      originalTransactionId: row.original_transaction_id,
      eventIds: row.members.map((member) => member.eventId),
      payloadDigests: row.members.map((member) => member.payloadDigest),
    }),
    members: row.members,
    runs: scopeRunsOf(row),
  };
}

export type Attempt = { readonly id: string; readonly ordinal: number; readonly number: number };

/** Item RUNNING and its next attempt, under our token. `pre` names where its scopes must stand: keys and versions only. */
export async function startAttempt(
  tx: Tx,
  fence: Fence,
  ordinal: number,
  worker: string,
  pre: Readonly<Record<string, unknown>>,
): Promise<Attempt> {
  tx.lock("ITEM");
  const id = newId();
  const rows = await tx.query<{ attempt_number: number }>(
    `WITH item AS (
       UPDATE event_replay_item_t SET status = 'RUNNING', attempt_count = attempt_count + 1, current_fencing_token = $4,
              updated_ts = clock_timestamp()
        WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $3 AND status = 'PENDING'
          AND current_fencing_token <= $4
       RETURNING attempt_count
     )
     INSERT INTO event_replay_attempt_t
            (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number, worker_id, fencing_token, started_ts,
             pre_projection_metadata)
     SELECT $1, $5, $2, $3, item.attempt_count, $6, $4, clock_timestamp(), $7::jsonb FROM item
     RETURNING attempt_number`,
    [fence.hostId, fence.replayRequestId, ordinal, fence.fencingToken, id, worker, JSON.stringify(pre)],
    "start_replay_attempt",
  );
  mustHit(rows.length);
  return { id, ordinal, number: (rows[0] as { attempt_number: number }).attempt_number };
}

/** Item and attempt FAILED, guarded by our token: exactly one row each. `reason` is our own words. */
export async function failAttempt(
  tx: Tx,
  fence: Fence,
  attempt: Attempt,
  { code, reason }: { readonly code: ErrorCode; readonly reason: string },
): Promise<void> {
  tx.lock("ITEM");
  const rows = await tx.query<{ items: number; attempts: number }>(
    `WITH item AS (
       UPDATE event_replay_item_t SET status = 'FAILED', updated_ts = clock_timestamp()
        WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $3 AND status = 'RUNNING'
          AND current_fencing_token = $4
       RETURNING 1
     ), attempt AS (
       UPDATE event_replay_attempt_t SET result = 'FAILED', completed_ts = clock_timestamp(), projection_committed = false,
              post_projection_metadata = '{}', error_code = $6, error_message = $7
        WHERE host_id = $1 AND replay_attempt_id = $5 AND result = 'RUNNING' AND fencing_token = $4
       RETURNING 1
     )
     SELECT (SELECT count(*) FROM item)::int AS items, (SELECT count(*) FROM attempt)::int AS attempts`,
    [fence.hostId, fence.replayRequestId, attempt.ordinal, fence.fencingToken, attempt.id, code, reason],
    "fail_replay_attempt",
  );
  mustHit(rows[0]?.items ?? 0);
  mustHit(rows[0]?.attempts ?? 0);
}

/** A dead executor's attempts end as ABANDONED, their items wait again (ER-ISO-20). The caller holds the request row. */
export async function abandonAttempts(tx: Tx, hostId: string, requestId: string): Promise<number> {
  tx.lock("ITEM");
  const abandoned = await tx.execute(
    `UPDATE event_replay_attempt_t SET result = 'ABANDONED', completed_ts = clock_timestamp(), error_code = 'LEASE_LOST'
      WHERE host_id = $1 AND replay_request_id = $2 AND result = 'RUNNING'`,
    [hostId, requestId],
  );
  await tx.execute(
    `UPDATE event_replay_item_t SET status = 'PENDING', updated_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2 AND status = 'RUNNING'`,
    [hostId, requestId],
  );
  return abandoned;
}

/** An item that no attempt may begin: FAILED without one. Both edges, since PENDING never ends directly. */
export async function failUnstarted(tx: Tx, fence: Fence, ordinal: number): Promise<void> {
  tx.lock("ITEM");
  for (const [from, to] of [
    ["PENDING", "RUNNING"],
    ["RUNNING", "FAILED"],
  ]) {
    mustHit(
      await tx.execute(
        `UPDATE event_replay_item_t SET status = $5, current_fencing_token = $4, updated_ts = clock_timestamp()
          WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $3 AND status = $6 AND current_fencing_token <= $4`,
        [fence.hostId, fence.replayRequestId, ordinal, fence.fencingToken, to, from],
      ),
    );
  }
}
