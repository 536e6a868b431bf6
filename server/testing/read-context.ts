import type { ReplayContext } from "@/server/event-replay/replay-context";
import type { Pool } from "@/server/platform/db/pool";
import type { BoundOperation } from "@/server/platform/http/operation-context";
import { newId } from "@/server/platform/ids";
import { portalProjection } from "@/server/portal/portal-projection";

/** What a handler would get from the gateway, for one person of one host. `may` grants the named permissions. */
export function readContext(
  pool: Pool,
  hostId: string,
  options: { userId?: string; may?: readonly string[] } = {},
): ReplayContext {
  const userId = options.userId ?? newId();
  return {
    pool,
    hostId,
    requestId: "test",
    projection: portalProjection(),
    actor: { personId: `https://issuer.test|${userId}`, userId, hostId, roles: [], name: "Test", human: true },
    may: (permission) => options.may?.includes(permission) ?? false,
    rolesMayCall: (roles, operation) => roles.includes(operation),
    callQuery: () => Promise.resolve({ kind: "LOST" }),
  };
}

/** Calls a published operation as the gateway does: strict request in, strict response out. */
export async function callOperation<T>(
  operations: readonly BoundOperation<ReplayContext>[],
  name: string,
  ctx: ReplayContext,
  request: object,
): Promise<T> {
  const operation = operations.find((candidate) => candidate.contract.name === name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const parsed = operation.contract.request.parse({ hostId: ctx.hostId, ...request });
  return operation.contract.response.parse(await operation.handle(ctx, parsed)) as T;
}
