import { noteServerTime } from "@/components/ui/clock";
import { Problem, parseProblem } from "./problem";

/** Header by which an answer names its log line. */
const REQUEST_ID = "x-request-id";
const TIMEOUT_MS = 30_000;
/** Header by which a page says for whom it was made: in another tab somebody else may have signed in since. */
const VIEWER = "x-event-admin-viewer";
let viewer: string | undefined;

/** From now on calls of this page are made as this person or refused. */
export function callAs(personKey: string): void {
  if (typeof window !== "undefined") viewer = personKey;
}

const readJson = async (response: Response): Promise<unknown> => {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
};

/**
 * Calls one published operation and returns its answer, or throws a Problem. It never repeats a call: reads are repeated
 * by the query client, commands by nobody. The caller's types come from the contract.
 */
export async function callOperation<Response>(name: string, request: object, signal?: AbortSignal): Promise<Response> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  let response: globalThis.Response;
  try {
    response = await fetch(`/api/event-replay/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...(viewer && { [VIEWER]: viewer }) },
      body: JSON.stringify(request),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      cache: "no-store",
      credentials: "same-origin",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem("OFFLINE", true);
  }
  noteServerTime(response.headers.get("date"), Date.now());
  const requestId = response.headers.get(REQUEST_ID) ?? undefined;
  const body = await readJson(response);
  if (!response.ok) throw parseProblem(body, requestId);
  if (body === undefined) throw new Problem("UNREADABLE", true, {}, requestId);
  return body as Response;
}
