import type pg from "pg";
import { claimBatch, ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";

/** The transactions waiting in a lane, exactly as the live processor reads them, without projecting or claiming them. */
export async function waitingTransactions(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  partitionId: number,
  limit = 100_000,
): Promise<readonly ProjectionTransaction[]> {
  return inTransaction(pool, "peek", async (tx) => {
    await ensureProgressRows(tx, definition);
    return (await claimBatch(tx, definition, partitionId, limit))?.transactions ?? [];
  });
}
