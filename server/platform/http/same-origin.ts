import { AppError } from "@/server/platform/errors";
import type { Actor } from "./operation-context";
import { RefusedCaller } from "./refused-caller";
import { requireJsonContent } from "./rest-surface";

/**
 * Browsers attach cookies to requests that other sites start. A call by cookie therefore proves that a page of ours sent it:
 * by its Origin, or Sec-Fetch-Site, which no page can set; a read by GET may show its Referer instead, for browsers that send
 * neither. What changes something is declared as JSON besides, which no form can send. `publicUrl`, where a deployment names
 * one, is the only origin there is; otherwise the one the request was sent to. Throws AUTHORIZATION_DENIED or INVALID_REQUEST.
 */
export function requireSameOrigin(request: Request, actor: Actor, publicUrl: string | null): void {
  const fetchSite = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  if (request.method === "GET") {
    const own =
      fetchSite === null
        ? isOwn(origin ?? request.headers.get("referer"), request, publicUrl)
        : fetchSite === "same-origin" || fetchSite === "none";
    if (!own) throw foreign(actor);
    return;
  }
  const own = origin === null ? fetchSite === "same-origin" : isOwn(origin, request, publicUrl);
  if (!own) throw foreign(actor);
  try {
    requireJsonContent(request);
  } catch (error) {
    throw error instanceof AppError ? new RefusedCaller(actor, error.code, error.details) : error;
  }
}

function foreign(actor: Actor): RefusedCaller {
  return new RefusedCaller(actor, "AUTHORIZATION_DENIED", { errors: [{ field: "", rule: "NOT_FROM_OUR_PAGE" }] });
}

function isOwn(url: string | null, request: Request, publicUrl: string | null): boolean {
  if (url === null || !URL.canParse(url)) return false;
  const { origin, host, protocol } = new URL(url);
  if (publicUrl !== null) return origin === new URL(publicUrl).origin;
  return /^https?:$/.test(protocol) && host === (request.headers.get("host") ?? new URL(request.url).host);
}
