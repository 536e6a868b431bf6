import type { OperationContract, OperationKind } from "@/server/contracts/operation";
import { AppError } from "@/server/platform/errors";
import { fieldErrors } from "./field-errors";
import type { Actor, BoundOperation, OperationContext } from "./operation-context";
import { countOperation } from "./operation-metrics";
import { type Refusal, ResponseMismatch, toRefusal } from "./refusal";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id";

/** What a deployment puts in front of its operations. Built once by the composition root. */
export type Gateway<Ctx extends OperationContext = OperationContext> = {
  readonly operations: ReadonlyMap<string, BoundOperation<Ctx>>;
  /** Who calls. Throws UNAUTHENTICATED, or AUTHORIZATION_DENIED for a cookie session from another site. */
  identify(request: Request): Promise<Actor>;
  /** The endpoint rule: whether one of the actor's roles may call this operation. */
  mayCall(actor: Actor, operation: string): boolean;
  context(actor: Actor, requestId: string, request: Request): Ctx;
  /** Set where another replica answers this operation: passes the call on and returns its answer, or throws its refusal. */
  forward?(contract: OperationContract, call: ForwardedCall): Promise<unknown> | null;
};

export type ForwardedCall = { readonly data: unknown; readonly request: Request; readonly requestId: string };

/** A call as its surface wrote it. `kind` null: the surface serves both. */
export type Call = { readonly name: string; readonly data: unknown; readonly kind: OperationKind | null };

/** How one surface reads a call and writes the answer. */
export type Surface = {
  readonly label: string;
  readCall(request: Request): Promise<Call>;
  success(result: unknown): Response;
  refusal(refusal: Refusal): Response;
};

/**
 * The one way in for every published operation, and the only place that catches: identity, call, endpoint rule, host, strict
 * request, handler, strict response, rendering. Nothing is looked up for a caller before host and rule have passed.
 */
export async function handleOperation<Ctx extends OperationContext>(
  gateway: Gateway<Ctx>,
  surface: Surface,
  request: Request,
): Promise<Response> {
  return answer(surface, request, async (requestId, name) => {
    const actor = await gateway.identify(request);
    const call = await surface.readCall(request);
    const operation = findOperation(gateway, call);
    name(operation.contract.name);
    return surface.success(await runOperation(gateway, operation, actor, { data: call.data, request, requestId }));
  });
}

/** Runs `work` and turns whatever it throws into the surface's refusal. Every answer carries the request id. */
export async function answer(
  surface: Pick<Surface, "label" | "refusal">,
  request: Request,
  work: (requestId: string, name: (operation: string) => void) => Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request);
  let operation = "unknown";
  let code = "OK";
  let response: Response;
  try {
    response = await work(requestId, (name) => {
      operation = name;
    });
  } catch (error) {
    const refused = toRefusal(error, requestId, operation, surface.label);
    code = refused.code;
    response = surface.refusal(refused);
    if (refused.status === 401) response.headers.set("www-authenticate", "Bearer");
  }
  countOperation(surface.label, operation, code, (performance.now() - started) / 1000);
  response.headers.set(REQUEST_ID_HEADER, requestId);
  response.headers.set("cache-control", "no-store");
  // An answer opened as a page by hand runs and embeds nothing.
  response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  return response;
}

function findOperation<Ctx extends OperationContext>(gateway: Gateway<Ctx>, call: Call): BoundOperation<Ctx> {
  const operation = gateway.operations.get(call.name);
  if (!operation) throw invalid("", "UNKNOWN_OPERATION");
  if (call.kind !== null && call.kind !== operation.contract.kind) throw invalid("", "WRONG_PATH");
  return operation;
}

async function runOperation<Ctx extends OperationContext>(
  gateway: Gateway<Ctx>,
  operation: BoundOperation<Ctx>,
  actor: Actor,
  call: ForwardedCall,
): Promise<unknown> {
  const { contract } = operation;
  const { data } = call;
  if (!gateway.mayCall(actor, contract.name)) throw new AppError("AUTHORIZATION_DENIED");
  checkHost(actor, data);
  const parsed = contract.request.safeParse(data);
  if (!parsed.success) {
    throw new AppError("INVALID_REQUEST", { errors: fieldErrors(parsed.error, contract.request, data) });
  }
  const forwarded = gateway.forward?.(contract, call) ?? null;
  const answered = await (forwarded ??
    operation.handle(gateway.context(actor, call.requestId, call.request), parsed.data));
  const result = contract.response.safeParse(answered);
  if (!result.success) throw new ResponseMismatch();
  return result.data;
}

/** A request that names another host than the token's is denied, whatever else is wrong with it (ER-APR-07). */
function checkHost(actor: Actor, data: unknown): void {
  if (data === null || typeof data !== "object" || !Object.hasOwn(data, "hostId")) return;
  const { hostId } = data as { hostId: unknown };
  if (typeof hostId === "string" && hostId !== actor.hostId) throw new AppError("AUTHORIZATION_DENIED");
}

function invalid(field: string, rule: string): AppError {
  return new AppError("INVALID_REQUEST", { errors: [{ field, rule }] });
}
