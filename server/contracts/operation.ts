import type { z } from "zod";
import type { ErrorCode } from "./errors";

/** `query` answers on /portal/query and changes nothing an operator could see; `command` answers on /portal/command. */
export type OperationKind = "query" | "command";

/**
 * One published operation. This object is all there is to say about its surface: JSON-RPC, REST, OpenAPI, the permission
 * look-up and the tests are driven by it.
 */
export type OperationContract<Request extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> = {
  /** Published name: URL segment, JSON-RPC action, metric label. */
  readonly name: string;
  readonly kind: OperationKind;
  /** One sentence in sentence case, without a final detail of implementation. */
  readonly summary: string;
  /**
   * Strict object (`z.strictObject`): an unknown member is refused by name. Holds `hostId` where the operation is
   * host-scoped; the gateway compares it with the token's host before anything is looked up.
   */
  readonly request: Request;
  /** The complete answer, strict at every level: a handler's answer with a member that isn't here is INTERNAL, not stripped. */
  readonly response: Response;
  /** Codes its handler may answer with, beyond those every operation may answer with (see `COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[];
  /** A person does this: a machine's token is refused before the request is judged (ER-APR-09). */
  readonly human?: true;
  /** Registered only in demo mode: unknown everywhere else. */
  readonly demoOnly?: true;
};

/** Codes that any operation may answer with, from the gateway itself. */
export const COMMON_ERRORS = [
  "INVALID_REQUEST",
  "UNAUTHENTICATED",
  "AUTHORIZATION_DENIED",
  "REPLAY_LIMIT_EXCEEDED",
  "RATE_LIMITED",
  "INTERNAL",
] as const satisfies readonly ErrorCode[];

/** Keeps the exact schema types, so that `bindOperation` checks the handler against them. */
export function defineOperation<Request extends z.ZodType, Response extends z.ZodType>(
  contract: OperationContract<Request, Response>,
): OperationContract<Request, Response> {
  return contract;
}
