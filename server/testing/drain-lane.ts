import type pg from "pg";
import { LaneMemory, projectBatch } from "@/server/event-replay/live/project-batch";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";

/** Projects a lane until it has nothing more, as the live processor does. Returns what was captured and parked. */
export async function drainLane(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  partitionId: number,
  memory: LaneMemory = new LaneMemory(),
): Promise<{ transactions: number; captured: number; parked: number; batches: number }> {
  const total = { transactions: 0, captured: 0, parked: 0, batches: 0 };
  for (;;) {
    const result = await projectBatch(pool, definition, partitionId, memory);
    if (result.kind === "IDLE") return total;
    total.transactions += result.transactions;
    total.captured += result.captured;
    total.parked += result.parked;
    total.batches += 1;
  }
}
