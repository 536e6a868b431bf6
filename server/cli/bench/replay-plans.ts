import type pg from "pg";
import { processReplay } from "@/server/event-replay/execution/process-event-replay";
import { approveEventReplay } from "@/server/event-replay/planning/approve-event-replay";
import { createEventReplayPlan } from "@/server/event-replay/planning/create-event-replay-plan";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { createPool, type Pool } from "@/server/platform/db/pool";
import { newId } from "@/server/platform/ids";
import type { Account } from "./account-projection";
import { drainByEngine, untilEmpty } from "./engine-drain";
import { fillOutbox, hostOfLane, SHAPE, seekToEnd } from "./outbox-data";

/** Five members of about 2 kB over five aggregates, one of them refused until the defect is fixed. */
const SHAPE_OF_FAILURE = { ...SHAPE, members: 5, ownerBytes: 1_800, failEvery: 1, failOrdinal: 2 };

export type Plan = { readonly hostId: string; readonly replayRequestId: string; readonly planHash: string };

/** The projection without its defect: a refused balance was a sign that nobody meant. */
export function fixed({ definition, table }: Account): ProjectionDefinition {
  return {
    ...definition,
    handlerFor: () => ({
      kind: "rows",
      project: (event) => [
        {
          table,
          key: [event.aggregateId],
          set: {
            owner: event.data.owner as string,
            balance: Math.abs(event.data.balance as number),
            aggregate_version: event.aggregateVersion,
            update_ts: event.time,
          },
        },
      ],
    }),
  };
}

/** Appends and captures `n` transactions on a lane. The failures' ids in source order. */
export async function captureFailures(pool: Pool, account: Account, lane: number, n: number): Promise<string[]> {
  const group = account.definition.consumerGroup;
  await seekToEnd(pool, [group], [lane]);
  await fillOutbox(pool, { ...SHAPE_OF_FAILURE, lane, transactions: n });
  await drainByEngine(pool, account.definition, lane, untilEmpty);
  const { rows } = await pool.query<{ failure_id: string }>(
    `SELECT failure_id FROM event_failure_transaction_t
      WHERE host_id = $1 AND consumer_group = $2 AND status = 'OPEN' ORDER BY failure_id`,
    [hostOfLane(lane), group],
  );
  if (rows.length !== n) throw new Error(`${rows.length} failures are open instead of ${n}`);
  return rows.map((row) => row.failure_id);
}

function person(pool: Pool, account: Account, hostId: string, name: string): ReplayContext {
  return {
    pool,
    hostId,
    requestId: newId(),
    projection: fixed(account),
    actor: { personId: `bench|${name}`, userId: newId(), hostId, roles: [], name, human: true },
    may: () => true,
    rolesMayCall: () => true,
    callQuery: () => Promise.resolve({ kind: "LOST" }),
  };
}

/** A plan of one person over these failures, approved by another, its intent committed. */
export async function approvedPlan(
  pool: Pool,
  account: Account,
  lane: number,
  failureIds: readonly string[],
): Promise<Plan> {
  const hostId = hostOfLane(lane);
  const { projectionName, consumerGroup } = account.definition;
  const { replayRequestId, planHash } = await createEventReplayPlan(person(pool, account, hostId, "one"), {
    hostId,
    projectionName,
    consumerGroup,
    failureIds: [...failureIds],
    strategy: "EXACT",
    validationMode: "EXECUTE",
    reason: "bench",
  });
  const decision = { hostId, replayRequestId, planHash, reason: "bench" };
  await approveEventReplay(person(pool, account, hostId, "two"), decision);
  await pool.query(
    `UPDATE event_replay_request_t SET status = 'INSTALLING_BARRIER', started_by = requested_by, started_ts = clock_timestamp()
      WHERE host_id = $1 AND replay_request_id = $2`,
    [hostId, replayRequestId],
  );
  return { hostId, replayRequestId, planHash };
}

/** Everything from claim to end. Throws unless it succeeded. */
export async function executePlan(pool: Pool, account: Account, plan: Plan): Promise<void> {
  const { status } = await processReplay({ pool, projection: fixed(account) }, plan);
  if (status !== "SUCCEEDED") throw new Error(`the plan ended ${status}`);
}

export async function withPool<T>(databaseUrl: string, max: number, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = createPool(databaseUrl, { max, name: "bench" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
