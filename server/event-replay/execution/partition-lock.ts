import { partitionLockKey } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { safePgError } from "@/server/platform/db/pg-errors";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { EXECUTION } from "./settings";

type Projection = Pick<ProjectionDefinition, "projectionName" | "consumerGroup">;

/** Slack that lets the lock's own timeout speak before the statement's. */
const STATEMENT_SLACK_MS = 5_000;

const GAVE_UP = new Set(["55P03", "57014"]);

/**
 * Takes the partition's lock exclusively until the transaction ends: every live batch of it has committed, and the next one
 * begins after us (design §3). While it waits, new batches leave the lane to it. Throws PAUSE_TIMEOUT after `waitMs`.
 */
export async function pausePartition(
  tx: Tx,
  projection: Projection,
  partitionId: number,
  waitMs: number = EXECUTION.installWaitMs,
): Promise<void> {
  tx.lock("PARTITION");
  const [before] = await tx.query<{ lock: string; statement: string }>(
    "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement",
  );
  await setTimeouts(tx, `${waitMs}ms`, `${waitMs + STATEMENT_SLACK_MS}ms`);
  try {
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [partitionLockKey(projection, partitionId)]);
  } catch (error) {
    throw GAVE_UP.has(safePgError(error)?.sqlState ?? "") ? new AppError("PAUSE_TIMEOUT") : error;
  }
  await setTimeouts(tx, before?.lock ?? "0", before?.statement ?? "0");
}

/** Shares the partition's lock with live batches and other drains: no barrier is installed or released until we commit. */
export async function sharePartition(tx: Tx, projection: Projection, partitionId: number): Promise<void> {
  tx.lock("PARTITION");
  await tx.query(
    "SELECT pg_advisory_xact_lock_shared($1::bigint)",
    [partitionLockKey(projection, partitionId)],
    "share_partition",
  );
}

async function setTimeouts(tx: Tx, lock: string, statement: string): Promise<void> {
  await tx.query("SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)", [
    lock,
    statement,
  ]);
}
