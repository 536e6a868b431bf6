import type { Tx } from "@/server/platform/db/transaction";
import type { Fence } from "./fence";
import { mustHit, requireToken } from "./fence";

/**
 * SQL of "somebody may try again", for request row `r`: an intent or a run that nobody executes now, because the lease is past
 * or was given back. Computed at every read by the database's clock, never stored.
 */
export const RETRYABLE = `(r.status IN ('INSTALLING_BARRIER', 'RUNNING') AND NOT EXISTS (
  SELECT FROM event_replay_lease_t l
   WHERE l.host_id = r.host_id AND l.replay_request_id = r.replay_request_id AND l.expires_ts > clock_timestamp()))`;

/** Whether an execution holds a lease that is not past. */
export async function hasLiveLease(tx: Tx, hostId: string, replayRequestId: string): Promise<boolean> {
  const [row] = await tx.query<{ live: boolean }>(
    `SELECT EXISTS (SELECT FROM event_replay_lease_t
              WHERE host_id = $1 AND replay_request_id = $2 AND expires_ts > clock_timestamp()) AS live`,
    [hostId, replayRequestId],
    "has_live_lease",
  );
  return row?.live ?? false;
}

/** Writes the lease of a new claim; its epoch counts the claims. The caller holds the request row and has raised its token. */
export async function writeLease(tx: Tx, fence: Fence, owner: string, leaseSeconds: number): Promise<void> {
  mustHit(
    await tx.execute(
      `INSERT INTO event_replay_lease_t AS l
              (host_id, replay_request_id, lease_owner, lease_epoch, fencing_token, heartbeat_ts, expires_ts)
       SELECT $1, $2, $4, 1, $3, t, t + make_interval(secs => $5) FROM clock_timestamp() AS t
       ON CONFLICT (host_id, replay_request_id)
       DO UPDATE SET lease_owner = EXCLUDED.lease_owner, lease_epoch = l.lease_epoch + 1,
                     fencing_token = EXCLUDED.fencing_token, heartbeat_ts = EXCLUDED.heartbeat_ts,
                     expires_ts = EXCLUDED.expires_ts, updated_ts = clock_timestamp()
        WHERE l.fencing_token < EXCLUDED.fencing_token`,
      [fence.hostId, fence.replayRequestId, fence.fencingToken, owner, leaseSeconds],
      "write_lease",
    ),
  );
}

/** SQL: the lease of ($1, $2) under token $3 runs `seconds` on from now. It asks for the token, not for the time. */
export const renewal = (seconds: string) => `
  UPDATE event_replay_lease_t l SET heartbeat_ts = t.now, expires_ts = t.now + make_interval(secs => ${seconds}), updated_ts = t.now
    FROM (SELECT clock_timestamp() AS now) t
   WHERE l.host_id = $1 AND l.replay_request_id = $2 AND l.fencing_token = $3`;

/**
 * The fence (see assertFence) and the lease's renewal in one statement: the request row is locked and its token compared
 * before the lease is touched. A lease that is past but not taken over is still ours.
 */
export async function holdFence(tx: Tx, fence: Fence, leaseSeconds: number): Promise<void> {
  tx.lock("REPLAY_REQUEST");
  const rows = await tx.query<{ fencing_token: number; renewed: number }>(
    `WITH request AS MATERIALIZED (
       SELECT fencing_token FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2 FOR SHARE
     ), renewed AS (${renewal("$4")} AND EXISTS (SELECT FROM request WHERE fencing_token = $3) RETURNING 1)
     SELECT fencing_token, (SELECT count(*)::int FROM renewed) AS renewed FROM request`,
    [fence.hostId, fence.replayRequestId, fence.fencingToken, leaseSeconds],
    "hold_fence",
  );
  requireToken(rows, fence);
  mustHit(rows[0]?.renewed ?? 0);
}

/** Gives the lease back at the end of an attempt: only a crash waits for its expiry. */
export async function releaseLease(tx: Tx, fence: Fence): Promise<void> {
  await tx.execute(
    `UPDATE event_replay_lease_t l SET heartbeat_ts = least(l.heartbeat_ts, t.now - interval '1 microsecond'),
            expires_ts = t.now, updated_ts = t.now
       FROM (SELECT clock_timestamp() AS now) t
      WHERE l.host_id = $1 AND l.replay_request_id = $2 AND l.fencing_token = $3 AND l.expires_ts > t.now`,
    [fence.hostId, fence.replayRequestId, fence.fencingToken],
    "release_lease",
  );
}
