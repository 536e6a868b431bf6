import type pg from "pg";
import {
  type BarrierHolder,
  installBarriers,
  releaseIfDrained,
  startDraining,
} from "@/server/event-replay/execution/barriers";
import { type DrainResult, drainNext } from "@/server/event-replay/execution/drain";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { inTransaction } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import { insertFailure, runningRequest } from "@/server/testing/replay-rows";

/** A running request of a host, by hand: what holds barriers when the execution itself isn't the subject. */
export type Holder = BarrierHolder & {
  readonly partitionId: number;
  readonly fencingToken: number;
  /** The one item of its plan. */
  readonly failureId: string;
};

export const account = (key: string): Scope => ({ type: "AGGREGATE", key: `Account:${key}` });

export async function newHolder(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  hostId: string,
  failureId?: string,
): Promise<Holder> {
  const item = failureId ?? (await insertFailure(pool, hostId));
  const requestId = await runningRequest(pool, hostId, { failures: [item] });
  const { projectionName, consumerGroup } = definition;
  const projection = { projectionName, consumerGroup };
  return { hostId, requestId, projection, partitionId: partitionOfHost(hostId), fencingToken: 0, failureId: item };
}

export const install = (pool: pg.Pool, holder: Holder, scopes: readonly Scope[]) =>
  inTransaction(pool, "install", (tx) => installBarriers(tx, { ...holder, scopes }));

export const startDrain = (pool: pg.Pool, holder: Holder) =>
  inTransaction(pool, "start-drain", (tx) => startDraining(tx, holder));

export const drainStep = (pool: pg.Pool, definition: ProjectionDefinition, holder: Holder): Promise<DrainResult> =>
  inTransaction(pool, "drain", (tx) => drainNext(tx, definition, holder));

export const release = (pool: pg.Pool, holder: Holder) =>
  inTransaction(pool, "release", (tx) => releaseIfDrained(tx, holder));

/** Drains and releases as an execution does after its items. Returns the failed steps. */
export async function finish(pool: pg.Pool, definition: ProjectionDefinition, holder: Holder): Promise<DrainResult[]> {
  const failed: DrainResult[] = [];
  await startDrain(pool, holder);
  for (;;) {
    const result = await drainStep(pool, definition, holder);
    if (result.kind === "FAILED") failed.push(result);
    if (result.kind === "DRAINED" || result.kind === "FAILED") continue;
    if ((await release(pool, holder)) === "RELEASED") return failed;
  }
}

export type BarrierRow = {
  readonly scope_key: string;
  readonly state: string;
  readonly owner_type: string;
  readonly replay_request_id: string | null;
  readonly quarantine_failure_id: string | null;
  readonly barrier_epoch: number;
  readonly fencing_token: number;
  readonly released: boolean;
};

export async function barriersOf(pool: pg.Pool, hostId: string): Promise<BarrierRow[]> {
  const { rows } = await pool.query<BarrierRow>(
    `SELECT scope_key, state, owner_type, replay_request_id, quarantine_failure_id, barrier_epoch, fencing_token,
            released_ts IS NOT NULL AS released
       FROM event_replay_barrier_t WHERE host_id = $1 ORDER BY scope_key, installed_ts, barrier_id`,
    [hostId],
  );
  return rows;
}

export type ParkedRow = {
  readonly original_transaction_id: string;
  readonly status: string;
  readonly failure_id: string | null;
  readonly error_code: string | null;
};

/** Parked transactions of a host in source order. */
export async function parkedOf(pool: pg.Pool, hostId: string): Promise<ParkedRow[]> {
  const { rows } = await pool.query<ParkedRow>(
    `SELECT original_transaction_id, status, failure_id, error_code FROM event_projection_deferred_t
      WHERE host_id = $1 ORDER BY source_order_key`,
    [hostId],
  );
  return rows;
}
