import type pg from "pg";
import { CaptureError } from "@/server/event-replay/capture/capture-failure";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { inTransaction } from "@/server/platform/db/transaction";
import { WakeUp } from "@/server/platform/db/wake-up";
import { countCaptured, countCaptureFailure, countParked, countProjected } from "./live-metrics";
import { ensureProgressRows, findLanesWithWork, OUTBOX_CHANNEL } from "./outbox-lane";
import { ProcessorStatus } from "./processor-status";
import { LaneMemory, projectBatch, safeErrorName } from "./project-batch";

export type LiveProjectorOptions = {
  readonly databaseUrl: string;
  /** Lanes projected side by side. More than the cores of the database gains little. */
  readonly lanes?: number;
  readonly pollMs?: number;
  readonly onEvent?: (event: LiveEvent) => void;
};

/** What the process may log: names and counts, nothing of the events. */
export type LiveEvent =
  | { readonly kind: "batch"; readonly partitionId: number; readonly transactions: number; readonly captured: number }
  | { readonly kind: "retry"; readonly partitionId: number | null; readonly error: string; readonly delayMs: number };

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;

/**
 * The PostgreSQL live processor: any number may run against one database. Each of its lane workers repeatedly picks a lane
 * with work, projects one batch, and waits for the next append otherwise. Nothing in memory decides anything: lanes are owned
 * by row locks for the length of a batch. Failures of the database or the archive stop the lane, not the process: it tries
 * again with growing delay and says so in its status row.
 */
export class LiveProjector {
  private readonly wakeUp: WakeUp;
  private readonly status: ProcessorStatus;
  private readonly busy = new Set<number>();
  private readonly memory = new Map<number, LaneMemory>();
  private readonly lanes: number;
  private stopping = false;
  private workers: Promise<void>[] = [];

  constructor(
    private readonly pool: pg.Pool,
    private readonly definition: ProjectionDefinition,
    private readonly options: LiveProjectorOptions,
  ) {
    this.lanes = options.lanes ?? 4;
    this.wakeUp = new WakeUp(options.databaseUrl, OUTBOX_CHANNEL, options.pollMs ?? 1_000);
    this.status = new ProcessorStatus(pool, definition, "DATABASE");
  }

  async start(): Promise<void> {
    await inTransaction(this.pool, "live-start", (tx) => ensureProgressRows(tx, this.definition));
    await this.status.start();
    await this.wakeUp.start();
    this.workers = Array.from({ length: this.lanes }, () => this.work());
  }

  /** Lets running batches end, then stops. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.wakeUp.stop();
    await Promise.all(this.workers);
    await this.status.stop();
  }

  private async work(): Promise<void> {
    let delayMs = 0;
    while (!this.stopping) {
      let lane: number | null = null;
      try {
        lane = await this.takeLane();
        const worked = lane !== null && (await this.projectLane(lane));
        delayMs = 0;
        if (!worked) await this.wakeUp.wait();
      } catch (error) {
        delayMs = Math.min(BACKOFF_MAX_MS, Math.max(BACKOFF_MIN_MS, delayMs * 2));
        this.noteError(lane, error, delayMs);
        await this.pause(delayMs);
      } finally {
        if (lane !== null) this.busy.delete(lane);
      }
    }
  }

  private async takeLane(): Promise<number | null> {
    const lanes = await findLanesWithWork(this.pool, this.definition);
    const free = lanes.filter((partitionId) => !this.busy.has(partitionId));
    const lane = free[0];
    if (lane === undefined) return null;
    this.busy.add(lane);
    // One notification wakes one worker; whoever sees more work than its own passes it on.
    if (free.length > 1) this.wakeUp.signal();
    return lane;
  }

  /** Works the lane until it has nothing more. True when anything was done. */
  private async projectLane(partitionId: number): Promise<boolean> {
    const memory = this.memory.get(partitionId) ?? new LaneMemory();
    this.memory.set(partitionId, memory);
    let worked = false;
    while (!this.stopping) {
      const result = await projectBatch(this.pool, this.definition, partitionId, memory);
      if (result.kind === "IDLE") break;
      worked = true;
      countProjected(result.transactions - result.captured - result.parked, result.events);
      countCaptured(result.captured);
      countParked(result.parked);
      this.options.onEvent?.({
        kind: "batch",
        partitionId,
        transactions: result.transactions,
        captured: result.captured,
      });
    }
    if (worked) this.status.healthy(partitionId);
    return worked;
  }

  private noteError(lane: number | null, error: unknown, delayMs: number): void {
    const archive = error instanceof CaptureError;
    const name = archive ? `CAPTURE_${safeErrorName(error.cause)}` : safeErrorName(error);
    if (archive) countCaptureFailure(safeErrorName(error.cause));
    this.status.retrying(lane, name);
    this.options.onEvent?.({ kind: "retry", partitionId: lane, error: name, delayMs });
  }

  private async pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, this.stopping ? 0 : delayMs));
  }
}
