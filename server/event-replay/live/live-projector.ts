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

type LaneRest = { readonly memory: LaneMemory; notBefore: number; delayMs: number };

const POLL_MS = 1_000;
/** A lane that another process works, or that a barrier installer waits for, is looked at again after this. */
const HELD_ELSEWHERE_MS = 50;
const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;

/**
 * The PostgreSQL live processor: any number may run against one database. Each of its lane workers repeatedly picks a lane
 * with work, projects one batch, and waits for the next append otherwise. Nothing in memory decides anything: lanes are owned
 * by row locks for the length of a batch. Failures of the database or the archive stop that lane, not the process and not
 * the other lanes: it is tried again with growing delay, and the status row says so.
 */
export class LiveProjector {
  private readonly wakeUp: WakeUp;
  private readonly status: ProcessorStatus;
  private readonly busy = new Set<number>();
  private readonly rests = new Map<number, LaneRest>();
  private readonly lanes: number;
  private stopping = false;
  private workers: Promise<void>[] = [];

  constructor(
    private readonly pool: pg.Pool,
    private readonly definition: ProjectionDefinition,
    private readonly options: LiveProjectorOptions,
  ) {
    this.lanes = options.lanes ?? 4;
    this.wakeUp = new WakeUp(options.databaseUrl, OUTBOX_CHANNEL, options.pollMs ?? POLL_MS);
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
      try {
        const lane = await this.takeLane();
        if (lane !== null) await this.projectLane(lane);
        else await this.wakeUp.wait(this.untilNextDue());
        delayMs = 0;
      } catch (error) {
        // The look for work itself failed: the database is away. Failures of one lane are kept to that lane.
        delayMs = grown(delayMs);
        this.noteError(null, error, delayMs);
        await this.wakeUp.wait(this.stopping ? 0 : delayMs);
      }
    }
  }

  /** A lane with work that no other worker of this process has and that is not waiting out a trouble of its own. */
  private async takeLane(): Promise<number | null> {
    const withWork = await findLanesWithWork(this.pool, this.definition);
    this.status.onlyLanes(withWork);
    const now = performance.now();
    const free = withWork.filter((id) => !this.busy.has(id) && this.rest(id).notBefore <= now);
    const lane = free[0];
    if (lane === undefined) return null;
    this.busy.add(lane);
    // One notification wakes one worker; whoever sees more work than its own passes it on.
    if (free.length > 1) this.wakeUp.signal();
    return lane;
  }

  /** Works the lane until it has nothing more, is held elsewhere, or fails; then it rests, and other lanes go on. */
  private async projectLane(partitionId: number): Promise<void> {
    const rest = this.rest(partitionId);
    try {
      let worked = false;
      while (!this.stopping) {
        const result = await projectBatch(this.pool, this.definition, partitionId, rest.memory);
        if (result.kind === "IDLE") break;
        worked = true;
        rest.delayMs = 0;
        this.status.healthy(partitionId);
        countProjected(result.transactions - result.captured - result.parked, result.events);
        countCaptured(result.captured);
        countParked(result.parked);
        const { transactions, captured } = result;
        this.options.onEvent?.({ kind: "batch", partitionId, transactions, captured });
      }
      if (!worked) rest.notBefore = performance.now() + HELD_ELSEWHERE_MS;
    } catch (error) {
      rest.delayMs = grown(rest.delayMs);
      rest.notBefore = performance.now() + rest.delayMs;
      this.noteError(partitionId, error, rest.delayMs);
    } finally {
      this.busy.delete(partitionId);
    }
  }

  private rest(partitionId: number): LaneRest {
    const known = this.rests.get(partitionId);
    if (known) return known;
    const fresh = { memory: new LaneMemory(), notBefore: 0, delayMs: 0 };
    this.rests.set(partitionId, fresh);
    return fresh;
  }

  /** Milliseconds until a resting lane may be tried again; the poll bounds it. */
  private untilNextDue(): number {
    const now = performance.now();
    const due = [...this.rests.values()].map((rest) => rest.notBefore - now).filter((ms) => ms > 0);
    return Math.max(1, Math.min(...due, this.options.pollMs ?? POLL_MS));
  }

  private noteError(lane: number | null, error: unknown, delayMs: number): void {
    const archive = error instanceof CaptureError;
    const name = archive ? `CAPTURE_${safeErrorName(error.cause)}` : safeErrorName(error);
    if (archive) countCaptureFailure(safeErrorName(error.cause));
    this.status.retrying(lane, name);
    this.options.onEvent?.({ kind: "retry", partitionId: lane, error: name, delayMs });
  }
}

function grown(delayMs: number): number {
  return Math.min(BACKOFF_MAX_MS, Math.max(BACKOFF_MIN_MS, delayMs * 2));
}
