import { z } from "zod";
import type { OperationKind } from "@/server/contracts/operation";
import { AppError } from "@/server/platform/errors";
import type { Call, Surface } from "./handle-operation";
import { parseJson } from "./parse-json";
import { readBody } from "./read-body";
import type { Refusal } from "./refusal";
import { MAX_REQUEST_BYTES } from "./rest-surface";

/** Service of the published operations: `lightapi.net/user/<operation>/0.1.0` (ER-API-01). */
export const SERVICE = { host: "lightapi.net", service: "user", version: "0.1.0" } as const;

const rpcId = z.union([z.string().max(255), z.number(), z.null()]);
const rpcEnvelope = z.strictObject({
  jsonrpc: z.literal("2.0"),
  method: z.string().max(255),
  params: z.unknown().optional(),
  id: rpcId.optional(),
});
const legacyEnvelope = z.strictObject({
  host: z.string().max(64),
  service: z.string().max(64),
  action: z.string().max(128),
  version: z.string().max(16),
  data: z.unknown().optional(),
});

/** JSON-RPC's own numbers; everything of the catalog is a server error, told apart by `data`. */
const RPC_CODES: Readonly<Record<string, number>> = {
  SYNTAX: -32700,
  TRAILING_TEXT: -32700,
  INVALID_UTF8: -32700,
  NOT_AN_ENVELOPE: -32600,
  UNKNOWN_OPERATION: -32601,
};

/**
 * `POST /portal/query` and `/portal/command` for unmodified upstream clients: JSON-RPC 2.0, or the legacy envelope, which is
 * answered bare (reference §10). In a JSON-RPC error `data` is the bare code string and `message` our sentence.
 */
export function portalSurface(kind: OperationKind): Surface {
  let id: z.output<typeof rpcId> = null;
  let bare = false;
  return {
    label: kind,
    async readCall(request) {
      const body = parseJson(await readBody(request, MAX_REQUEST_BYTES));
      const legacy = legacyEnvelope.safeParse(body);
      if (legacy.success) {
        bare = true;
        return legacyCall(legacy.data, kind);
      }
      const rpc = rpcEnvelope.safeParse(body);
      if (!rpc.success) throw invalid("NOT_AN_ENVELOPE");
      id = rpc.data.id ?? null;
      return { name: operationOf(rpc.data.method), data: rpc.data.params ?? {}, kind };
    },
    success: (result) => (bare ? Response.json(result) : Response.json({ jsonrpc: "2.0", result, id })),
    refusal: (refusal) => (bare ? bareRefusal(refusal) : rpcRefusal(refusal, id)),
  };
}

/** `GET /portal/query?cmd=<url-encoded legacy envelope>`: bare JSON either way. */
export function legacyGetSurface(): Surface {
  return {
    label: "get",
    async readCall(request) {
      const cmd = new URL(request.url).searchParams.get("cmd");
      const legacy = cmd === null ? null : legacyEnvelope.safeParse(parseJson(cmd));
      if (!legacy?.success) throw invalid("NOT_AN_ENVELOPE");
      return legacyCall(legacy.data, "query");
    },
    success: (result) => Response.json(result),
    refusal: bareRefusal,
  };
}

function legacyCall(envelope: z.output<typeof legacyEnvelope>, kind: OperationKind): Call {
  const { host, service, action, version, data } = envelope;
  return { name: operationOf(`${host}/${service}/${action}/${version}`), data: data ?? {}, kind };
}

function operationOf(method: string): string {
  const [host, service, action, version, ...rest] = method.split("/");
  if (
    host !== SERVICE.host ||
    service !== SERVICE.service ||
    version !== SERVICE.version ||
    !action ||
    rest.length > 0
  ) {
    throw invalid("UNKNOWN_OPERATION");
  }
  return action;
}

function rpcRefusal(refusal: Refusal, id: z.output<typeof rpcId>): Response {
  const { code, status, retryable, sentence, details, requestId } = refusal;
  const rule = code === "INVALID_REQUEST" ? details.errors?.[0]?.rule : undefined;
  const number = RPC_CODES[rule ?? ""] ?? (code === "INVALID_REQUEST" ? -32602 : -32603);
  const error = { code: number, message: sentence, data: code, retryable, details, requestId };
  return Response.json({ jsonrpc: "2.0", error, id }, { status });
}

function bareRefusal(refusal: Refusal): Response {
  const { code, status, retryable, sentence, details, requestId } = refusal;
  return Response.json({ statusCode: status, code, message: sentence, retryable, details, requestId }, { status });
}

function invalid(rule: string): AppError {
  return new AppError("INVALID_REQUEST", { errors: [{ field: "", rule }] });
}
