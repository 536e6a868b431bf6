import type { ErrorCode } from "@/server/contracts/errors";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import { isTransient, safePgError } from "@/server/platform/db/pg-errors";
import { inTransaction, type TransactionOptions, type Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { log } from "@/server/platform/log";
import { auditExecution } from "./audit";
import { expectationsOf, type ScopeExpectation } from "./domain/expectations";
import { assertFence, type Fence } from "./fence";
import { finishExecution, quarantineUndone } from "./finish";
import { installForRequest } from "./install";
import type { NextAttempt } from "./item-end";
import {
  type Attempt,
  abandonAttempts,
  failAttempt,
  failUnstarted,
  loadItems,
  type ReplayItem,
  startAttempt,
} from "./item-repository";
import { holdFence, releaseLease } from "./lease";
import { checkPlan } from "./plan-check";
import type { ProcessDeps } from "./process-event-replay";
import type { RequestRow } from "./request-repository";
import { auditStarted, blameItem, ItemFailure, runItem } from "./run-item";
import type { ExecutionSettings } from "./settings";
import type { Step } from "./step";
import { workerId } from "./worker-id";

/** Stops between two steps without an end: the request stays RUNNING, its lease is given back, somebody may try again. */
class Stop extends Error {
  constructor(readonly code: ErrorCode | null) {
    super("stopped between steps");
  }
}

/** An item that isn't done, and what it must find and leave. */
type Planned = { readonly item: ReplayItem; readonly expected: readonly ScopeExpectation[] };

const beginning = ({ item, expected }: Planned): NextAttempt => ({
  ordinal: item.ordinal,
  worker: workerId(),
  pre: { scopes: expected.map(({ type, key, before }) => ({ scopeType: type, scopeKey: key, version: before })) },
});

/**
 * One claimed execution, from barriers to durable end. Every transaction starts with the fence; between transactions nothing
 * is held but the lease, which each step renews. Whatever goes wrong, either a durable outcome is written or the request stays
 * as it is and may be tried again.
 */
export class Execution {
  constructor(
    private readonly deps: ProcessDeps,
    private readonly request: RequestRow,
    private readonly fence: Fence,
    private readonly settings: ExecutionSettings,
    /** performance.now() at which the attempt's budget is used up. */
    private readonly deadline: number,
  ) {}

  /** Returns when the durable status says what became of it. Throws what stopped it, after giving the lease back. */
  async run(): Promise<void> {
    try {
      const { step, request, deps, fence, settings } = this;
      const runs = request.status === "RUNNING" || (await installForRequest(step, request, deps, fence, settings));
      if (!runs) return;
      await this.runItems();
      await finishExecution(step, request, deps, fence, settings, () => this.requireTime());
    } catch (error) {
      await this.giveBack(error);
    }
  }

  private async runItems(): Promise<void> {
    const items = await this.step("replay-plan", (tx) => loadItems(tx, this.fence.hostId, this.fence.replayRequestId));
    if (items.some((item) => item.status === "FAILED")) return;
    const objection = await this.step("replay-check", (tx) =>
      checkPlan(
        tx,
        this.deps.projection,
        this.fence.hostId,
        this.request,
        items,
        readReplayConfig().excludedEventTypes,
      ),
    );
    if (objection !== null) {
      const item = items.find(({ ordinal }) => ordinal === objection.ordinal) as ReplayItem;
      return this.failItem(item, null, new ItemFailure(objection.code, objection.reason));
    }
    const expected = expectationsOf(
      items.map((item) => item.runs),
      this.request.plan_metadata.scopes,
    );
    const toDo = items.flatMap((item, i) =>
      item.status === "SUCCEEDED" ? [] : [{ item, expected: expected?.[i] as readonly ScopeExpectation[] }],
    );
    let begun: Attempt | null = null;
    for (const [i, planned] of toDo.entries()) {
      const done = await this.runOne(planned, begun, toDo[i + 1]);
      if (done === "FAILED") return;
      begun = done;
    }
  }

  /**
   * FAILED: the ordered plan stops there (ER-ISO-21). Else the next item's attempt, begun in the commit of this one; null when
   * there is none or it may not begin now.
   */
  private async runOne(planned: Planned, begun: Attempt | null, next?: Planned): Promise<Attempt | null | "FAILED"> {
    const { item, expected } = planned;
    const config = readReplayConfig();
    if (!config.enabled) throw new Stop("REPLAY_EXECUTION_PAUSED");
    if (begun === null) this.requireTime();
    if (begun === null && this.isUsedUp(item)) {
      const words = "Every attempt of this item was interrupted.";
      await this.failItem(item, null, new ItemFailure("REPLAY_LIMIT_EXCEEDED", words));
      return "FAILED";
    }
    const attempt = begun ?? (await this.begin(planned));
    try {
      return await this.bare("replay-item", (tx) =>
        runItem(tx, {
          definition: this.deps.projection,
          fence: this.fence,
          item,
          attempt,
          expected,
          excludedEventTypes: config.excludedEventTypes,
          leaseSeconds: this.settings.leaseSeconds,
          next: () =>
            next && this.mayBegin(next.item) ? { ...beginning(next), failureId: next.item.failureId } : null,
        }),
      );
    } catch (error) {
      const failure = blameItem(error);
      if (failure === null) throw error;
      await this.failItem(item, attempt, failure);
      return "FAILED";
    }
  }

  /** The start of an attempt that no commit before it began: a commit of its own. */
  private begin(planned: Planned): Promise<Attempt> {
    const { ordinal, worker, pre } = beginning(planned);
    return this.step("replay-attempt", async (tx) => {
      const started = await startAttempt(tx, this.fence, ordinal, worker, pre);
      await auditStarted(tx, this.fence, planned.item.failureId, started);
      return started;
    });
  }

  /** Whether an item's attempt may begin with the commit before it: breaker, time, tries. Otherwise runOne says what follows. */
  private mayBegin(item: ReplayItem): boolean {
    return readReplayConfig().enabled && performance.now() < this.deadline && !this.isUsedUp(item);
  }

  private isUsedUp(item: ReplayItem): boolean {
    return item.attemptCount >= this.settings.attemptsPerItem;
  }

  /** The whole attempt has a bound; past it the request waits for somebody to go on with it (ER-ISO-23). */
  private requireTime(): void {
    if (performance.now() >= this.deadline) throw new Stop(null);
  }

  /** Item and attempt FAILED and the scopes of everything undone quarantined, in one fenced transaction of its own. */
  private async failItem(item: ReplayItem, attempt: Attempt | null, failure: ItemFailure): Promise<void> {
    await this.step("replay-item-failed", async (tx) => {
      await quarantineUndone(tx, this.request, this.fence);
      if (attempt === null) await failUnstarted(tx, this.fence, item.ordinal);
      else {
        await failAttempt(tx, this.fence, attempt, failure);
      }
      await auditExecution(tx, this.fence, "EVENT_REPLAY_ATTEMPT_FAILED", {
        failureId: item.failureId,
        details: { itemOrdinal: item.ordinal, code: failure.code, reason: failure.reason },
      });
    });
  }

  /** One fenced transaction that renews the lease, as the first thing it writes. */
  private readonly step: Step = (name, body, options) =>
    this.bare(
      name,
      async (tx) => {
        await holdFence(tx, this.fence, this.settings.leaseSeconds);
        return body(tx);
      },
      options,
    );

  private bare<T>(name: string, body: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return inTransaction(this.deps.pool, name, body, {
      idleTimeoutMs: this.settings.idleTimeoutMs,
      pointLookups: true,
      ...options,
    });
  }

  /** Gives the lease back, so that only a crash waits for its expiry, and says what stopped us. */
  private async giveBack(error: unknown): Promise<void> {
    if (error instanceof AppError && error.code === "LEASE_LOST") throw error;
    try {
      await this.bare("replay-give-back", async (tx) => {
        await assertFence(tx, this.fence);
        await abandonAttempts(tx, this.fence.hostId, this.fence.replayRequestId);
        await releaseLease(tx, this.fence);
      });
    } catch (lost) {
      // Taken over meanwhile: the new owner decides. Unreachable database: the lease runs out by itself.
      if (lost instanceof AppError) throw lost;
    }
    if (error instanceof Stop) {
      if (error.code === null) return;
      throw new AppError(error.code);
    }
    const pg = safePgError(error);
    if (!isTransient(error) && pg?.sqlState !== "57014") throw error;
    log.warn("replay execution interrupted", { replayRequestId: this.fence.replayRequestId, sqlState: pg?.sqlState });
    throw new AppError("REPLAY_EXECUTION_UNAVAILABLE");
  }
}
