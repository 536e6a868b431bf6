import type { StaleReason } from "@/server/contracts/stale-reason";
import type { Tx } from "@/server/platform/db/transaction";

export type StaleRow = StaleReason & { readonly replayRequestId: string };

const WORDS: Readonly<Record<StaleReason["code"], string>> = {
  FAILURE_NOT_OPEN: "A failure of the plan is no longer open.",
  FAILURE_CHANGED: "A failure of the plan is not what was planned.",
  PAYLOAD_GONE: "Archived bytes of a failure of the plan are gone.",
  SCOPE_MOVED: "A scope of the plan has moved since planning.",
  REPAIR_PROPOSED: "A repair of a failure of the plan was proposed.",
  REPAIR_CHANGED: "The repair bound to the plan is not approved any more.",
  REGISTRY_CHANGED: "The policy registry is not the one the plan was made under.",
};

/**
 * What of a plan's preconditions no longer holds, for requests that haven't started: each failure OPEN with the planned
 * content and its bytes, no other repair under way, the registry the planned one, each scope where the plan found it. Nothing
 * else makes a plan stale: other scopes, later failures and the source's progress don't (design §3). At most `take` reasons a
 * request; one statement for a whole page. Requests in other states have none.
 */
export async function loadStaleReasons(
  tx: Tx,
  hostId: string,
  requestIds: readonly string[],
  registryVersion: string,
  take: number,
): Promise<StaleRow[]> {
  if (requestIds.length === 0) return [];
  const rows = await tx.query<{
    replay_request_id: string;
    code: StaleReason["code"];
    failure_id: string | null;
    scope_type: "AGGREGATE" | "GRAPH_ROOT" | null;
    scope_key: string | null;
  }>(
    `WITH unstarted AS (
       SELECT r.* FROM event_replay_request_t r
        WHERE r.host_id = $1 AND r.replay_request_id = ANY ($2::uuid[])
          AND r.status IN ('READY', 'AWAITING_APPROVAL', 'APPROVED')),
     broken AS (
       SELECT r.replay_request_id, 'REGISTRY_CHANGED' AS code, NULL::uuid AS failure_id, NULL::text AS scope_type,
              NULL::text AS scope_key, 0 AS place
         FROM unstarted r WHERE r.policy_registry_version <> $3
       UNION ALL
       SELECT r.replay_request_id, 'SCOPE_MOVED', NULL, s."scopeType", s."scopeKey", 1
         FROM unstarted r
        CROSS JOIN LATERAL jsonb_to_recordset(r.plan_metadata -> 'scopes') AS s("scopeType" text, "scopeKey" text, before int8)
         LEFT JOIN projection_scope_t p ON p.host_id = $1 AND p.projection_name = r.projection_name
          AND p.consumer_group = r.consumer_group AND p.scope_type = s."scopeType" AND p.scope_key = s."scopeKey"
        WHERE p.projected_version IS DISTINCT FROM s.before
       UNION ALL
       SELECT r.replay_request_id, c.code, f.failure_id, NULL, NULL, 2 + i.item_ordinal
         FROM unstarted r
         JOIN event_replay_item_t i ON i.host_id = r.host_id AND i.replay_request_id = r.replay_request_id
         JOIN event_failure_transaction_t f ON f.host_id = i.host_id AND f.failure_id = i.failure_id
        CROSS JOIN LATERAL (SELECT CASE
                WHEN f.status <> 'OPEN' THEN 'FAILURE_NOT_OPEN'
                WHEN f.content_fingerprint <> i.expected_content_fingerprint OR NOT f.executable THEN 'FAILURE_CHANGED'
                WHEN EXISTS (SELECT FROM event_failure_event_t e WHERE e.host_id = f.host_id AND e.failure_id = f.failure_id
                       AND e.payload_storage <> 'DATABASE_PLAIN') THEN 'PAYLOAD_GONE'
                WHEN i.repair_id IS NULL AND EXISTS (SELECT FROM event_repair_t p WHERE p.host_id = f.host_id
                       AND p.failure_id = f.failure_id AND p.status IN ('AWAITING_APPROVAL', 'APPROVED')) THEN 'REPAIR_PROPOSED'
                WHEN i.repair_id IS NOT NULL AND NOT EXISTS (SELECT FROM event_repair_t p WHERE p.host_id = f.host_id
                       AND p.repair_id = i.repair_id AND p.status = 'APPROVED') THEN 'REPAIR_CHANGED' END AS code) c
        WHERE c.code IS NOT NULL)
     SELECT replay_request_id, code, failure_id, scope_type, scope_key
       FROM (SELECT b.*, row_number() OVER (PARTITION BY replay_request_id ORDER BY place, scope_type, scope_key) AS n FROM broken b) ranked
      WHERE n <= $4 ORDER BY replay_request_id, n`,
    [hostId, requestIds, registryVersion, take],
    "load_stale_reasons",
  );
  return rows.map((row) => ({
    replayRequestId: row.replay_request_id,
    code: row.code,
    message: WORDS[row.code],
    ...(row.failure_id === null ? {} : { failureId: row.failure_id }),
    ...(row.scope_type === null ? {} : { scopeType: row.scope_type }),
    ...(row.scope_key === null ? {} : { scopeKey: row.scope_key }),
  }));
}
