import type { ErrorCode } from "@/server/contracts/errors";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction } from "@/server/platform/db/transaction";
import type { Actor } from "@/server/platform/http/operation-context";
import { log } from "@/server/platform/log";
import { audit } from "./audit";

/** What is known of a refused call; words of ours and an id, nothing the caller wrote. */
export type RefusedCall = {
  readonly operation: string;
  readonly surface: string;
  readonly code: ErrorCode;
  readonly requestId: string;
};

/** Refusals that say something about a person: what may be denied to everybody alike (a bad request) is none. */
const RECORDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "AUTHORIZATION_DENIED",
  "UNAUTHENTICATED",
  "RATE_LIMITED",
  "REPAIR_APPROVER_MUST_DIFFER",
]);

const WINDOW_MS = 60_000;
/** Distinct refusals remembered at once; beyond it they are counted by the metric alone. */
const MAX_OPEN = 10_000;

type Open = { calls: number; sinceMs: number; last: RefusedCall };

/**
 * Writes refused calls into the audit: the first of an actor, operation and code at once, those of the following minute as one
 * record with their number. So a caller who is refused a million times leaves one record a minute, and none goes uncounted
 * while the process lives. Never throws, never keeps an answer waiting for more than the database's first reply.
 */
export class RefusalRecorder {
  private readonly open = new Map<string, Open>();

  constructor(
    private readonly pool: Pool,
    private readonly later: (work: () => void) => void = (work) => setTimeout(work, WINDOW_MS).unref(),
    private readonly nowMs: () => number = Date.now,
  ) {}

  async record(actor: Actor, call: RefusedCall): Promise<void> {
    if (!RECORDED.has(call.code)) return;
    const key = JSON.stringify([actor.hostId, actor.personId, call.operation, call.code]);
    const known = this.open.get(key);
    if (known !== undefined) {
      if (known.calls === 0) known.sinceMs = this.nowMs();
      known.calls += 1;
      known.last = call;
      return;
    }
    if (this.open.size >= MAX_OPEN) return;
    this.open.set(key, { calls: 0, sinceMs: this.nowMs(), last: call });
    this.later(() => this.close(key, actor));
    await this.write(actor, call, 1, this.nowMs());
  }

  /** End of a minute: what came meanwhile is one record, and opens the next minute; nothing came: forgotten. */
  private close(key: string, actor: Actor): void {
    const { calls, sinceMs, last } = this.open.get(key) as Open;
    if (calls === 0) {
      this.open.delete(key);
      return;
    }
    this.open.set(key, { calls: 0, sinceMs: this.nowMs(), last });
    this.later(() => this.close(key, actor));
    void this.write(actor, last, calls, sinceMs);
  }

  private async write(actor: Actor, call: RefusedCall, calls: number, sinceMs: number): Promise<void> {
    const { hostId, personId, human } = actor;
    try {
      await inTransaction(
        this.pool,
        "refused-call",
        (tx) =>
          audit(tx, {
            hostId,
            event: "CALL_REFUSED",
            actor: human ? { type: "USER", personId } : { type: "WORKER", workerId: personId },
            details: { ...call, calls, since: new Date(sinceMs).toISOString() },
          }),
        { statementTimeoutMs: 2_000, lockTimeoutMs: 2_000, attempts: 1 },
      );
    } catch {
      log.warn("refused call not recorded", { operation: call.operation, code: call.code, count: calls });
    }
  }
}
