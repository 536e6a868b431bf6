import { isCanonicalUuid, newId } from "@/server/platform/ids";

export const REQUEST_ID_HEADER = "x-request-id";

/**
 * The id under which a request is found in the log. One that a front end of ours set is kept; only a UUID counts, so that a
 * caller can't write text of its own into the log.
 */
export function requestIdOf(request: { readonly headers: Headers }): string {
  const given = request.headers.get(REQUEST_ID_HEADER);
  return isCanonicalUuid(given) ? given : newId();
}
