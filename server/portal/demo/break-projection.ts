import { appendCommand, appendCommands, type Command } from "@/server/event-replay/append/append-command";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { Pool } from "@/server/platform/db/pool";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { breakCommands, STOCK_SIZE, type Stock } from "./break-commands";
import { loadSample } from "./load-sample";
import { type DefectState, listAggregates, writeDefect } from "./repository";
import { administratorOf, asCommand, event } from "./sample";

export type DemoDeps = { readonly pool: Pool; readonly projection: ProjectionDefinition };

export type BreakResult = DefectState & {
  /** Transactions appended now. */
  readonly appended: number;
  /** Commands refused because their aggregate is blocked. */
  readonly refused: number;
};

/** Blocked aggregates a burst tries to change all the same, to show the refusal. */
const TRIES_ON_BLOCKED = 3;

/**
 * Turns the defect on and appends a few dozen realistic commands of this host, many of them of the broken types: in one commit,
 * so that later changes of one aggregate are stored before the command guard knows of the first failure. Aggregates that are
 * blocked already are tried one by one and refused. An empty store gets the sample first.
 */
export async function breakDemoProjection(deps: DemoDeps, hostId: string): Promise<BreakResult> {
  await loadSample(deps);
  const state = await inTransaction(deps.pool, "demo-break", (tx) => writeDefect(tx, true));
  const refused = await tryBlocked(deps, hostId);
  const appended = await appendBurst(deps, hostId);
  return { ...state, appended, refused };
}

/** Turns the defect off. What was captured stays until someone replays it. */
export async function fixDemoProjection(deps: Pick<DemoDeps, "pool">): Promise<DefectState> {
  return inTransaction(deps.pool, "demo-fix", (tx) => writeDefect(tx, false));
}

/** A failure captured between the look-up and the append refuses the burst; then other aggregates are chosen. */
const ATTEMPTS = 5;

async function appendBurst(deps: DemoDeps, hostId: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const commands = breakCommands(hostId, await loadStock(deps, hostId));
    if (commands.length === 0) return 0;
    try {
      return (await appendCommands(deps, commands)).length;
    } catch (error) {
      if (!isBlocked(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function tryBlocked(deps: DemoDeps, hostId: string): Promise<number> {
  let refused = 0;
  for (const { aggregateId, data } of await aggregates(deps, hostId, "ConfigProperty", true, TRIES_ON_BLOCKED)) {
    const command: Command = asCommand(hostId, administratorOf(hostId), [
      event("ConfigProperty", "Updated", aggregateId, data),
    ]);
    try {
      await appendCommand(deps, command);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      refused += 1;
    }
  }
  return refused;
}

async function loadStock(deps: DemoDeps, hostId: string): Promise<Stock> {
  const free = (type: string, size: number) => aggregates(deps, hostId, type, false, size);
  return {
    properties: await free("ConfigProperty", STOCK_SIZE.properties),
    configs: await free("Config", STOCK_SIZE.configs),
    roles: await free("Role", STOCK_SIZE.roles),
    users: await free("User", STOCK_SIZE.users),
    tables: await free("RefTable", STOCK_SIZE.tables),
    values: await free("RefValue", STOCK_SIZE.values),
  };
}

function aggregates(deps: DemoDeps, hostId: string, aggregateType: string, blocked: boolean, limit: number) {
  const { projectionName, consumerGroup } = deps.projection;
  return listAggregates(deps.pool, { hostId, projectionName, consumerGroup, aggregateType, blocked }, limit);
}

function isBlocked(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.code === "AGGREGATE_PROJECTION_BLOCKED" || error.code === "AGGREGATE_REPAIR_REQUIRED")
  );
}
