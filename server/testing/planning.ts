import type pg from "pg";
import { planningOperations } from "@/server/event-replay/planning/operations";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { upsertPerson } from "@/server/platform/auth/person-repository";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { newId } from "@/server/platform/ids";
import { ledgerProjection } from "./ledger-projection";
import { callOperation } from "./read-context";

/** Operations by which the test rules name roles: a role is called like what it may call. */
const OPERATOR = ["createEventReplayPlan", "approveEventReplay", "cancelEventReplay", "executeEventReplay"];

export type Who = {
  readonly hostId: string;
  readonly name: string;
  readonly roles?: readonly string[];
  readonly human?: boolean;
  readonly projection?: ProjectionDefinition;
};

/** What the gateway hands a handler for this person; operators by default. */
export function as(pool: pg.Pool, who: Who): ReplayContext {
  return {
    pool,
    hostId: who.hostId,
    requestId: "test",
    projection: who.projection ?? ledgerProjection(),
    actor: {
      personId: `https://issuer.test|${who.name}`,
      userId: newId(),
      hostId: who.hostId,
      roles: who.roles ?? OPERATOR,
      name: who.name,
      human: who.human ?? true,
    },
    may: () => true,
    rolesMayCall: (roles, operation) => roles.includes(operation),
    callQuery: () => Promise.resolve({ kind: "LOST" }),
  };
}

/** Writes that these persons were seen on the host. */
export async function meet(...people: readonly ReplayContext[]): Promise<void> {
  for (const { pool, actor } of people) await inTransaction(pool, "meet", (tx) => upsertPerson(tx, actor));
}

/** Calls a planning operation as the gateway does: strict request in, strict answer out. */
export function call<T>(ctx: ReplayContext, name: string, request: object): Promise<T> {
  return callOperation<T>(planningOperations, name, ctx, request);
}

/** The code an operation refuses with, and its details; "ok" when it doesn't. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ readonly code: string; readonly details: AppError["details"] }> {
  try {
    await work;
    return { code: "ok", details: {} };
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, details: error.details };
    throw error;
  }
}

/** A request to plan these failures of the ledger. */
export function planRequest(failureIds: readonly string[], overrides: object = {}): object {
  return {
    projectionName: "ledger",
    consumerGroup: "ledger-group",
    failureIds,
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    reason: `the ledger is fixed ${newId()}`,
    ...overrides,
  };
}
