import type { Tx } from "@/server/platform/db/transaction";

export type PlanHold = { readonly replayRequestId: string; readonly failureIds: readonly string[] };

/**
 * Which of these failures a plan holds that runs, or waits and can still be run: each failure under the furthest one, the
 * newest of several. Previews, dry runs, plans that ended, are overdue, or found their registry, a failure or a scope moved
 * hold nothing.
 */
export async function loadPlanHolds(
  tx: Tx,
  hostId: string,
  failureIds: readonly string[],
  registryVersion: string,
): Promise<PlanHold[]> {
  if (failureIds.length === 0) return [];
  return await tx.query<PlanHold>(
    `WITH plan AS MATERIALIZED (
       SELECT r.replay_request_id, r.requested_ts,
              array_position(ARRAY['RUNNING', 'INSTALLING_BARRIER', 'APPROVED', 'AWAITING_APPROVAL'], r.status::text) AS place
         FROM event_replay_request_t r
        WHERE r.host_id = $1 AND r.validation_mode = 'EXECUTE'
          AND (r.status IN ('INSTALLING_BARRIER', 'RUNNING')
            OR r.status IN ('AWAITING_APPROVAL', 'APPROVED') AND r.expires_ts > clock_timestamp()
              AND r.policy_registry_version = $3
              AND NOT EXISTS (SELECT FROM event_replay_item_t i
                JOIN event_failure_transaction_t f ON f.host_id = i.host_id AND f.failure_id = i.failure_id
                WHERE i.host_id = r.host_id AND i.replay_request_id = r.replay_request_id AND f.status <> 'OPEN')
              AND NOT EXISTS (SELECT FROM jsonb_to_recordset(r.plan_metadata -> 'scopes')
                  AS s("scopeType" text, "scopeKey" text, before int8)
                LEFT JOIN projection_scope_t p ON p.host_id = r.host_id AND p.projection_name = r.projection_name
                  AND p.consumer_group = r.consumer_group AND p.scope_type = s."scopeType" AND p.scope_key = s."scopeKey"
                WHERE p.projected_version IS DISTINCT FROM s.before))),
     held AS (
       SELECT DISTINCT ON (i.failure_id) i.failure_id, i.replay_request_id
         FROM plan JOIN event_replay_item_t i ON i.host_id = $1 AND i.replay_request_id = plan.replay_request_id
        WHERE i.failure_id = ANY ($2::uuid[])
        ORDER BY i.failure_id, plan.place, plan.requested_ts DESC, plan.replay_request_id DESC)
     SELECT replay_request_id AS "replayRequestId", array_agg(failure_id ORDER BY failure_id) AS "failureIds"
       FROM held GROUP BY 1 ORDER BY 1`,
    [hostId, failureIds, registryVersion],
    "load_plan_holds",
  );
}
