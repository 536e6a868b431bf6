import type { OperationContract, OperationKind } from "@/server/contracts/operation";
import { accessTokenOf } from "@/server/platform/auth/identify";
import type { Config } from "@/server/platform/config";
import { AppError } from "@/server/platform/errors";
import type { ForwardedCall } from "@/server/platform/http/handle-operation";
import { callOperation, FORWARDED_HEADER, type InternalAnswer, passOn } from "@/server/platform/http/internal-call";

/** Longer than the longest attempt of an execution, so that the call never ends before what it called (reference §7). */
export const INTERNAL_TIMEOUT_MS = 1_830_000;

/** Calls an operation on the replica that answers its kind, by the caller's own token. Never throws. */
export async function callReplica(
  config: Config,
  kind: OperationKind,
  operation: string,
  { data, request, requestId }: ForwardedCall,
): Promise<InternalAnswer> {
  const accessToken = await accessTokenOf(request, config);
  if (accessToken === null) return { kind: "REFUSED", code: "UNAUTHENTICATED", details: {} };
  const baseUrl = (kind === "query" ? config.queryUrl : config.commandUrl) ?? config.loopbackUrl;
  return callOperation({ baseUrl, accessToken, requestId, timeoutMs: INTERNAL_TIMEOUT_MS }, kind, operation, data);
}

/**
 * The operations that another replica answers (EVENT_ADMIN_ROLE): passed on once by the caller's own token, so that every
 * replica serves every page. Null where this replica answers itself.
 */
export function forwarder(
  config: Config,
): (contract: OperationContract, call: ForwardedCall) => Promise<unknown> | null {
  return (contract, call) =>
    config.role === "all" || config.role === contract.kind ? null : forward(config, contract, call);
}

/** Passed on once already: two replicas of one role point at each other, or a client wrote the header itself. */
function refuseSecondPass(request: Request): void {
  if (!request.headers.has(FORWARDED_HEADER)) return;
  throw new AppError("INVALID_REQUEST", { errors: [{ field: "", rule: "FORWARDED_TWICE" }] });
}

async function forward(config: Config, contract: OperationContract, call: ForwardedCall): Promise<unknown> {
  refuseSecondPass(call.request);
  const answer = await callReplica(config, contract.kind, contract.name, call);
  if (answer.kind === "ANSWERED") return answer.body;
  if (answer.kind === "REFUSED") throw new AppError(answer.code, answer.details);
  if (contract.errors.includes("REPLAY_EXECUTION_UNAVAILABLE")) throw new AppError("REPLAY_EXECUTION_UNAVAILABLE");
  throw new Error("the replica that answers this operation could not be reached");
}

/**
 * A body of events on a replica that takes no commands: its bytes go once, unchanged, to the one that does, and its answer
 * comes back as it is. Null where this replica appends itself.
 */
export async function forwardAppend(
  config: Config,
  path: string,
  call: { readonly body: Buffer; readonly request: Request; readonly requestId: string },
): Promise<Response | null> {
  if (config.role !== "query") return null;
  const { body, request, requestId } = call;
  refuseSecondPass(request);
  const accessToken = await accessTokenOf(request, config);
  if (accessToken === null) throw new AppError("UNAUTHENTICATED");
  const baseUrl = config.commandUrl ?? config.loopbackUrl;
  const answer = await passOn({ baseUrl, accessToken, requestId, timeoutMs: INTERNAL_TIMEOUT_MS }, path, body);
  if (answer === null) throw new Error("the replica that appends could not be reached");
  return new Response(answer.text, { status: answer.status, headers: { "content-type": answer.contentType } });
}
