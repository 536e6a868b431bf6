import type { z } from "zod";
import type { OperationContract } from "@/server/contracts/operation";
import type { Pool } from "@/server/platform/db/pool";

/** Who calls. Identity is the person id (issuer + subject), never a name or e-mail (design §3 People). */
export type Actor = {
  /** `<issuer>|<subject>`, the key of person_t. */
  readonly personId: string;
  /** The portal's user id, as the token carries it. */
  readonly userId: string;
  /** The token's host: the only host this actor sees. */
  readonly hostId: string;
  readonly roles: readonly string[];
  /** For display alone; never compared. */
  readonly name: string;
  /** False for a client-credentials token: it may not do what a person must. */
  readonly human: boolean;
};

/** What a handler gets beside its validated request. `hostId` equals the token's host; a request with another never comes this far. */
export type OperationContext = {
  readonly pool: Pool;
  readonly actor: Actor;
  readonly hostId: string;
  readonly requestId: string;
  /**
   * Whether the actor's roles grant something beyond calling the operation, by a name of ours ("getNotification:everyone").
   * The endpoint rules file maps such names to roles, so that no role name stands in code.
   */
  may(permission: string): boolean;
};

/** One entry of the registry: a contract and the handler bound to it. `Ctx` is what the composition root must supply. */
export type BoundOperation<Ctx extends OperationContext = OperationContext> = {
  readonly contract: OperationContract;
  handle(ctx: Ctx, request: unknown): Promise<unknown>;
};

/**
 * Binds a handler to its contract; a handler whose types don't fit doesn't compile. Modules export arrays of these
 * (`portalOperations`, `failureOperations`, `notificationOperations`) and `server/operations/registry.ts` lists them.
 * A handler throws `AppError(code, details)` and nothing else on purpose; the wrapper renders it.
 */
export function bindOperation<Request extends z.ZodType, Response extends z.ZodType, Ctx extends OperationContext>(
  contract: OperationContract<Request, Response>,
  handler: (ctx: Ctx, request: z.output<Request>) => Promise<z.input<Response>>,
): BoundOperation<Ctx> {
  return { contract, handle: (ctx, request) => handler(ctx, request as z.output<Request>) };
}
