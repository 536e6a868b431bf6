import type { APPEND_EVENTS } from "@/server/contracts/append";
import type { ErrorCode } from "@/server/contracts/errors";
import type { OperationContract, OperationKind } from "@/server/contracts/operation";
import { AppError } from "@/server/platform/errors";
import { fieldErrors } from "./field-errors";
import type { Actor, BoundOperation, OperationContext } from "./operation-context";
import { countOperation } from "./operation-metrics";
import { callerAddress, RateLimited } from "./rate-limit";
import { type Refusal, ResponseMismatch, toRefusal } from "./refusal";
import { RefusedCaller } from "./refused-caller";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id";

/** What a deployment puts in front of its operations. Built once by the composition root. */
export type Gateway<Ctx extends OperationContext = OperationContext> = {
  readonly operations: ReadonlyMap<string, BoundOperation<Ctx>>;
  /** Who calls. Throws UNAUTHENTICATED, or AUTHORIZATION_DENIED for a cookie session from another site. */
  identify(request: Request): Promise<Actor>;
  /** The endpoint rule: whether one of the actor's roles may call this operation. */
  mayCall(actor: Actor, operation: string): boolean;
  context(actor: Actor, requestId: string, request: Request): Ctx;
  /** The pace of a caller; throws RateLimited. `operation` null: a published name isn't known (yet). */
  pace?(actor: Actor, operation: OperationContract | typeof APPEND_EVENTS | null): void;
  /** The pace of callers without identity, by address; throws RateLimited. */
  paceUnknown?(address: string): void;
  /** Told of each refusal whose caller is known. Never throws. */
  refused?(actor: Actor, call: RefusedCall): Promise<void>;
  /** Set where another replica answers this operation: passes the call on and returns its answer, or throws its refusal. */
  forward?(contract: OperationContract, call: ForwardedCall): Promise<unknown> | null;
};

export type RefusedCall = {
  readonly operation: string;
  readonly surface: string;
  readonly code: ErrorCode;
  readonly requestId: string;
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
 * The one way in for every published operation, and the only place that catches: identity, call, pace, endpoint rule, host,
 * strict request, handler, strict response, rendering. Nothing is looked up for a caller before host and rule have passed.
 */
export async function handleOperation<Ctx extends OperationContext>(
  gateway: Gateway<Ctx>,
  surface: Surface,
  request: Request,
): Promise<Response> {
  return answer(gateway, surface, request, async (entry) => {
    const actor = await entry.identify();
    const call = await surface.readCall(request);
    gateway.pace?.(actor, gateway.operations.get(call.name)?.contract ?? null);
    const operation = findOperation(gateway, call);
    entry.name(operation.contract.name);
    const forwarded = { data: call.data, request, requestId: entry.requestId };
    return surface.success(await runOperation(gateway, operation, actor, forwarded));
  });
}

/** What a route knows of the call it answers, and tells, so that refusals are counted and recorded under the right name. */
export type Entry = {
  readonly requestId: string;
  /** Who calls; remembered for the record of a refusal. Throws what `Gateway.identify` throws, or RateLimited. */
  identify(): Promise<Actor>;
  name(operation: string): void;
};

/** Runs `work` and turns whatever it throws into the surface's refusal. Every answer carries the request id. */
export async function answer(
  gateway: Pick<Gateway, "identify" | "paceUnknown" | "refused">,
  surface: Pick<Surface, "label" | "refusal">,
  request: Request,
  work: (entry: Entry) => Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request);
  let actor: Actor | null = null;
  let operation = "unknown";
  let code = "OK";
  let response: Response;
  try {
    response = await work({
      requestId,
      async identify() {
        actor = await identifyAtPace(gateway, request);
        return actor;
      },
      name(published) {
        operation = published;
      },
    });
  } catch (error) {
    const refused = toRefusal(error, requestId, operation, surface.label);
    code = refused.code;
    response = surface.refusal(refused);
    if (refused.status === 401) response.headers.set("www-authenticate", "Bearer");
    if (error instanceof RateLimited) response.headers.set("retry-after", String(error.retryAfterSeconds));
    const caller = error instanceof RefusedCaller ? error.actor : actor;
    if (caller !== null && !(error instanceof AnsweredElsewhere))
      await gateway.refused?.(caller, { operation, surface: surface.label, code: refused.code, requestId });
  }
  countOperation(surface.label, operation, code, (performance.now() - started) / 1000);
  response.headers.set(REQUEST_ID_HEADER, requestId);
  response.headers.set("cache-control", "no-store");
  // An answer opened as a page by hand runs and embeds nothing.
  response.headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  return response;
}

/** A refusal that the answering replica gave, and has recorded. */
class AnsweredElsewhere extends AppError {}

/** Who isn't identified is counted by address: guessing tokens gets slow, and who has one is never in that queue. */
async function identifyAtPace(gateway: Pick<Gateway, "identify" | "paceUnknown">, request: Request): Promise<Actor> {
  try {
    return await gateway.identify(request);
  } catch (error) {
    if (error instanceof AppError && error.code === "UNAUTHENTICATED") gateway.paceUnknown?.(callerAddress(request));
    throw error;
  }
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
  if (contract.human && !actor.human) throw new AppError("AUTHORIZATION_DENIED");
  checkHost(actor, data);
  const parsed = contract.request.safeParse(data);
  if (!parsed.success) {
    throw new AppError("INVALID_REQUEST", { errors: fieldErrors(parsed.error, contract.request, data) });
  }
  const forwarded = gateway.forward?.(contract, call) ?? null;
  const answered = await (forwarded?.catch(refusedElsewhere) ??
    operation.handle(gateway.context(actor, call.requestId, call.request), parsed.data));
  const result = contract.response.safeParse(answered);
  if (!result.success) throw new ResponseMismatch();
  return result.data;
}

function refusedElsewhere(error: unknown): never {
  throw error instanceof AppError ? new AnsweredElsewhere(error.code, error.details) : error;
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
