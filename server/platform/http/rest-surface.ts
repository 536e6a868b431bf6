import { AppError } from "@/server/platform/errors";
import type { Surface } from "./handle-operation";
import { parseJson } from "./parse-json";
import { readBody } from "./read-body";
import type { Refusal } from "./refusal";

/** No operation's request comes near this; what may be large (events) has its own route and limit. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/** `POST /api/event-replay/<operation>`: JSON in, JSON out, RFC 9457 problem documents for refusals. */
export function restSurface(operation: string): Surface {
  return {
    label: "rest",
    async readCall(request) {
      return { name: operation, data: parseJson(await readBody(request, MAX_REQUEST_BYTES)), kind: null };
    },
    success: (result) => Response.json(result),
    refusal: problem,
  };
}

/** RFC 9457. `type` is a relative reference to the documentation of the code; `detail` is the catalog's own sentence. */
export function problem(refusal: Refusal): Response {
  const { code, status, retryable, sentence, details, requestId } = refusal;
  return Response.json(
    { type: `/api-docs#${code}`, title: code, status, detail: sentence, code, retryable, details, requestId },
    { status, headers: { "content-type": "application/problem+json" } },
  );
}

/** Refuses a body that isn't declared as JSON. */
export function requireJsonContent(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && !type?.endsWith("+json")) {
    throw new AppError("INVALID_REQUEST", { errors: [{ field: "", rule: "CONTENT_TYPE_NOT_JSON" }] });
  }
}
