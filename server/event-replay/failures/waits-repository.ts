import type { BlockedScope } from "@/server/contracts/overview";
import type { Tx } from "@/server/platform/db/transaction";
import type { BlockedRow } from "./blocked-repository";

export type Waits = Pick<BlockedScope, "state" | "waitsFor">;

const NOBODY: Waits = { state: "BLOCKED", waitsFor: "Nobody has acted" };
const RUNS: Waits = { state: "RUNNING", waitsFor: "A replay is running" };
const QUARANTINED: Waits = { state: "QUARANTINED", waitsFor: "Held since a replay failed; plan again" };
const BY_STATUS: Readonly<Record<string, Waits>> = {
  AWAITING_APPROVAL: { state: "PLAN_WAITING", waitsFor: "A plan waits for approval" },
  APPROVED: { state: "PLAN_APPROVED", waitsFor: "An approved plan waits to be run" },
  INSTALLING_BARRIER: RUNS,
  RUNNING: RUNS,
};

type Row = { readonly at: number; readonly status: string | null; readonly quarantined: boolean };

/**
 * What each blocked scope waits for, in the order of `rows`: the furthest plan that holds its oldest open failure, else its
 * quarantine, else nobody. Overdue plans, previews and dry runs don't count. One look-up by index a row.
 */
export async function loadWaits(tx: Tx, hostId: string, rows: readonly BlockedRow[]): Promise<Waits[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<Row>(
    `SELECT x.at::int AS at,
        (SELECT r.status FROM event_replay_item_t i
           JOIN event_replay_request_t r ON r.host_id = i.host_id AND r.replay_request_id = i.replay_request_id
          WHERE i.host_id = $1 AND i.failure_id = x.failure_id AND r.validation_mode = 'EXECUTE'
            AND (r.status IN ('INSTALLING_BARRIER', 'RUNNING')
              OR r.status IN ('AWAITING_APPROVAL', 'APPROVED') AND r.expires_ts > clock_timestamp())
          ORDER BY array_position(ARRAY['RUNNING', 'INSTALLING_BARRIER', 'APPROVED', 'AWAITING_APPROVAL'], r.status::text)
          LIMIT 1) AS status,
        EXISTS (SELECT FROM event_replay_barrier_t b WHERE b.host_id = $1 AND b.projection_name = x.projection_name
          AND b.consumer_group = x.consumer_group AND b.scope_type = x.scope_type AND b.scope_key = x.scope_key
          AND b.released_ts IS NULL AND b.state = 'QUARANTINED') AS quarantined
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
        WITH ORDINALITY AS x(failure_id, projection_name, consumer_group, scope_type, scope_key, at)
      ORDER BY x.at`,
    [
      hostId,
      rows.map((row) => row.failureId),
      rows.map((row) => row.projectionName),
      rows.map((row) => row.consumerGroup),
      rows.map((row) => row.scopeType),
      rows.map((row) => row.scopeKey),
    ],
    "load_waits",
  );
  return found.map(({ status, quarantined }) => BY_STATUS[status ?? ""] ?? (quarantined ? QUARANTINED : NOBODY));
}
