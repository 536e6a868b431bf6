import { beforeAll, expect, test, vi } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { LiveProjector } from "@/server/event-replay/live/live-projector";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import type { Pool } from "@/server/platform/db/pool";
import { AppError } from "@/server/platform/errors";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, putOutbox } from "@/server/testing/outbox";
import { as, call, planRequest } from "@/server/testing/planning";
import { callOperation } from "@/server/testing/read-context";
import { account, captureWithDefect } from "@/server/testing/replay-plans";
import { executionOperations } from "./operations";
import { processEventReplay } from "./process-event-replay";

/** Two opposing plans each. SOAK=1: ten times as many. */
const PAIRS = process.env.SOAK ? 500 : 50;
/** Pairs at once, two persons each. */
const AT_ONCE = 4;
/** Commands that arrive for each pair while its plans run. */
const ARRIVALS = 6;
const WAIT = { timeout: 120_000, interval: 10 };

const db = testDatabase();
const ledger = ledgerProjection();
const hostId = hostOfPartition(5);

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  // What was really applied, in the order in which it was: an undone write leaves no row.
  await db.pool.query(
    `CREATE TABLE applied_t (seq bigserial PRIMARY KEY, account_id text, version bigint);
     CREATE FUNCTION note_applied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO applied_t (account_id, version) VALUES (NEW.account_id, NEW.aggregate_version); RETURN NULL; END $$;
     CREATE TRIGGER note_applied AFTER INSERT OR UPDATE ON account_t FOR EACH ROW EXECUTE FUNCTION note_applied()`,
  );
});

/** Errors that aren't refusals of ours; nobody may ever see one. */
const leaked: unknown[] = [];
/** How often each refusal was met. */
const met = new Map<string, number>();
/** Last version appended of each account: what the projection must show in the end. */
const appended = new Map<string, number>();

/** A person whose execute command really runs the processor and gets its answer, as over the internal call. */
function person(pool: Pool, name: string): ReplayContext {
  const ctx = as(pool, { hostId, name });
  return {
    ...ctx,
    async callQuery(_operation, data) {
      try {
        return { kind: "ANSWERED", body: await processEventReplay(ctx, data as never) };
      } catch (error) {
        if (error instanceof AppError) return { kind: "REFUSED", code: error.code, details: error.details };
        leaked.push(error);
        return { kind: "LOST" };
      }
    },
  };
}

/** The answer, or the code of the refusal. */
async function told<T>(work: Promise<T>): Promise<{ readonly code: string; readonly answer: T | null }> {
  try {
    return { code: "ok", answer: await work };
  } catch (error) {
    if (!(error instanceof AppError)) leaked.push(error);
    const code = error instanceof AppError ? error.code : "LEAKED";
    met.set(code, (met.get(code) ?? 0) + 1);
    return { code, answer: null };
  }
}

type Planned = { replayRequestId: string; planHash: string };

/** Executes until the request has an end; who meets another execution tries again, as a person would. Null: the plan is stale. */
async function executeToEnd(ctx: ReplayContext, plan: Planned): Promise<string | null> {
  let outcome: string | null = null;
  await vi.waitFor(async () => {
    const { code, answer } = await told(
      callOperation<{ status: string; failureCode: string | null }>(executionOperations, "executeEventReplay", ctx, {
        replayRequestId: plan.replayRequestId,
        planHash: plan.planHash,
        reason: "the ledger is fixed",
      }),
    );
    expect(code).not.toBe("REPLAY_EXECUTION_IN_PROGRESS");
    if (answer) expect(["SUCCEEDED", "FAILED"]).toContain(answer.status);
    if (answer?.status === "FAILED") expect(answer.failureCode).toBe("STALE_PLAN");
    outcome = answer?.status === "SUCCEEDED" ? "SUCCEEDED" : null;
  }, WAIT);
  return outcome;
}

const openAmong = async (failureIds: readonly string[]): Promise<string[]> =>
  (
    await db.pool.query<{ failure_id: string }>(
      "SELECT failure_id FROM event_failure_transaction_t WHERE failure_id = ANY ($1::uuid[]) AND status = 'OPEN'",
      [failureIds],
    )
  ).rows.map((row) => row.failure_id);

/** Plans, lets bob approve and executes, again and again, until none of the failures is open. */
async function recover(ctx: ReplayContext, bob: ReplayContext, failureIds: readonly string[]): Promise<void> {
  for (let open = await openAmong(failureIds); open.length > 0; open = await openAmong(failureIds)) {
    const { answer: plan } = await told(call<Planned>(ctx, "createEventReplayPlan", planRequest(open.slice(0, 100))));
    if (!plan) continue;
    const decision = { replayRequestId: plan.replayRequestId, planHash: plan.planHash, reason: "seen" };
    await told(call(ctx, "listEventReplay", {}));
    const approved = await told(call(bob, "approveEventReplay", decision));
    if (approved.answer && (await executeToEnd(ctx, plan)) === "SUCCEEDED") continue;
    await told(call(ctx, "cancelEventReplay", decision));
  }
}

const nextOf = (id: string) => {
  const version = (appended.get(id) ?? 0) + 1;
  appended.set(id, version);
  return account(id, version, version);
};

/** Commands over both scopes of pairs that are under barriers now, in either direction, and over an account nobody holds. */
async function arrive(pool: Pool, over: () => boolean): Promise<void> {
  const sent = new Map<string, number>();
  while (!over()) {
    const { rows } = await pool.query<{ pair: string }>(
      `SELECT DISTINCT split_part(split_part(scope_key, ':', 2), '-', 2) AS pair FROM event_replay_barrier_t
        WHERE host_id = $1 AND released_ts IS NULL`,
      [hostId],
    );
    const busy = rows.filter(({ pair }) => (sent.get(pair) ?? 0) < ARRIVALS);
    for (const { pair } of busy) {
      const n = (sent.get(pair) ?? 0) + 1;
      sent.set(pair, n);
      const ids = n % 2 === 0 ? [`x-${pair}`, `y-${pair}`] : [`y-${pair}`, `x-${pair}`];
      await putOutbox(pool, { hostId, members: ids.map(nextOf) });
    }
    if (busy.length > 0) await putOutbox(pool, { hostId, members: [nextOf("free")] });
  }
}

test(
  "ER-ISO-02 ER-ISO-07 100 opposing two-scope plans under live load: no deadlock reaches anybody, every transaction is applied once and in order",
  async () => {
    const pairs = Array.from({ length: PAIRS }, (_, i) => String(i));
    const { failureIds } = await captureWithDefect(
      db.pool,
      [
        ...pairs.map((p) => [nextOf(`x-${p}`), nextOf(`y-${p}`)]),
        ...pairs.map((p) => [nextOf(`x-${p}`), nextOf(`y-${p}`)]),
        ...pairs.map((p) => [nextOf(`y-${p}`), nextOf(`x-${p}`)]),
      ],
      hostId,
    );
    expect(failureIds).toHaveLength(2 * PAIRS);
    const users = db.createPool({ max: 4 * AT_ONCE });
    const projector = new LiveProjector(db.createPool({ max: 4 }), ledger, {
      databaseUrl: db.url,
      lanes: 2,
      pollMs: 50,
    });
    await projector.start();
    let over = false;
    const load = arrive(db.createPool({ max: 1 }), () => over);
    const [alice, carol, bob] = ["alice", "carol", "bob"].map((name) => person(users, name)) as [
      ReplayContext,
      ReplayContext,
      ReplayContext,
    ];
    const left = pairs.map((_, i) => [failureIds[i] as string, failureIds[PAIRS + i] as string] as const);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = left.pop(); next; next = left.pop()) {
          const [first, second] = next;
          await Promise.all([recover(alice, bob, [first]), recover(carol, bob, [second])]);
        }
      }),
    );
    over = true;
    await load;
    // What arrived between two plans of a pair waits as a failure of its own.
    const caughtUp = async () => {
      const { rows } = await db.pool.query<{ behind: number }>(
        `SELECT c.next_offset - p.next_offset AS behind FROM event_offset_counter_t c JOIN consumer_offsets p USING (partition_id)
        WHERE c.partition_id = 5 AND p.group_id = $1`,
        [ledger.consumerGroup],
      );
      return rows[0]?.behind;
    };
    await vi.waitFor(async () => expect(await caughtUp()).toBe(0), WAIT);
    await projector.stop();
    const { rows: rest } = await db.pool.query<{ failure_id: string }>(
      "SELECT failure_id FROM event_failure_transaction_t WHERE status = 'OPEN' ORDER BY first_failed_ts",
    );
    await recover(
      alice,
      bob,
      rest.map((row) => row.failure_id),
    );

    expect(leaked).toEqual([]);
    const named = ["INVALID_REPLAY_STATE", "REPLAY_EXECUTION_IN_PROGRESS", "STALE_PLAN"];
    expect([...met.keys()].filter((code) => !named.includes(code))).toEqual([]);
    expect(met.get("REPLAY_EXECUTION_IN_PROGRESS")).toBeGreaterThan(0);
    const { rows: deadlocks } = await db.pool.query(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    expect(deadlocks).toEqual([{ deadlocks: 0 }]);
    expect(await checkConservation(db.pool, ledger, { atRest: true })).toEqual([]);
    const { rows: ends } = await db.pool.query<{ end: string; n: number }>(
      `SELECT status || coalesce(' ' || failure_code, '') AS end, count(*)::int AS n FROM event_replay_request_t GROUP BY 1`,
    );
    const ending = new Map(ends.map(({ end, n }) => [end, n]));
    expect([...ending.keys()].filter((end) => !["SUCCEEDED", "CANCELLED", "FAILED STALE_PLAN"].includes(end))).toEqual(
      [],
    );
    expect(ending.get("SUCCEEDED")).toBeGreaterThanOrEqual(PAIRS);
    const { rows: failures } = await db.pool.query("SELECT DISTINCT status FROM event_failure_transaction_t");
    expect(failures).toEqual([{ status: "RESOLVED" }]);
    const { rows: parked } = await db.pool.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM event_projection_deferred_t WHERE status = 'SUCCEEDED'",
    );
    expect(parked[0]?.n).toBeGreaterThan(0);
    const { rows: applied } = await db.pool.query<{ account_id: string; versions: number[] }>(
      "SELECT account_id, array_agg(version::int ORDER BY seq) AS versions FROM applied_t GROUP BY account_id",
    );
    const inOrder = new Map([...appended].map(([id, last]) => [id, Array.from({ length: last }, (_, i) => i + 1)]));
    expect(new Map(applied.map((row) => [row.account_id, row.versions]))).toEqual(inOrder);
    const { rows: accounts } = await db.pool.query(
      "SELECT account_id, owner, balance, aggregate_version FROM account_t",
    );
    expect(new Map(accounts.map((row) => [row.account_id, row]))).toEqual(
      new Map(
        [...appended].map(([id, last]) => [
          id,
          { account_id: id, owner: `${id} v${last}`, balance: last, aggregate_version: last },
        ]),
      ),
    );
  },
  process.env.SOAK ? 3_600_000 : 600_000,
);
