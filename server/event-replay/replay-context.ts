import type { InternalAnswer } from "@/server/platform/http/internal-call";
import type { OperationContext } from "@/server/platform/http/operation-context";
import type { ProjectionDefinition } from "./projection/domain/types";

/** Context of operations that know the projection: the composition root supplies the definition. */
export type ReplayContext = OperationContext & {
  readonly projection: ProjectionDefinition;
  /**
   * One real HTTP call to the surface that answers queries, by the caller's own access token. Sent at most once, never throws
   * (platform/http/internal-call.ts).
   */
  callQuery(operation: string, data: unknown): Promise<InternalAnswer>;
  /** Whether somebody with these roles may call an operation: who else could act. No role name stands in code. */
  rolesMayCall(roles: readonly string[], operation: string): boolean;
};
