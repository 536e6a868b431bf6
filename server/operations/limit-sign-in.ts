import { callerAddress, RateLimited, type RateLimiter } from "@/server/platform/http/rate-limit";
import { readBody } from "@/server/platform/http/read-body";
import { toRefusal } from "@/server/platform/http/refusal";
import { requestIdOf } from "@/server/platform/http/request-id";
import { problem } from "@/server/platform/http/rest-surface";

/** A sign-in form holds a name, a password and a token; nothing near this. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * The pace of sign-in: every attempt counts for its address, a failed one by password for its name too, so that a password
 * isn't guessed from many addresses. Reads of the session routes are free. Over it: 429 with Retry-After, and nobody is asked.
 */
export async function limitSignIn(
  limiter: RateLimiter,
  request: Request,
  signIn: () => Promise<Response>,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const attempt = request.method === "POST" || pathname.includes("/callback/");
  if (!attempt) return await signIn();
  try {
    limiter.take("signIn", callerAddress(request));
    if (request.method !== "POST") return await signIn();
    const body = await readBody(request.clone(), MAX_FORM_BYTES);
    const name = isPassword(pathname) ? nameIn(request, body) : null;
    if (name !== null) limiter.check("signInName", name);
    const response = await signIn();
    if (name !== null && isRefused(response)) spend(limiter, name);
    return response;
  } catch (error) {
    const refused = problem(toRefusal(error, requestIdOf(request), "signIn", "session"));
    if (error instanceof RateLimited) refused.headers.set("retry-after", String(error.retryAfterSeconds));
    return refused;
  }
}

/** However the address is written: the route reads its parts decoded, and none behind the provider. */
function isPassword(pathname: string): boolean {
  const parts = pathname.split("/").map((part) => decoded(part));
  return parts.some((part, i) => part === "callback" && parts[i + 1] === "credentials");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The name as the sign-in itself reads it: of a form the last one, or of JSON. */
function nameIn(request: Request, body: Buffer): string | null {
  const text = body.toString("utf8");
  const json = request.headers.get("content-type")?.includes("application/json") ?? false;
  const name = json ? jsonName(text) : new URLSearchParams(text).getAll("username").at(-1);
  return typeof name === "string" ? name.trim().toLowerCase().slice(0, 128) : null;
}

function jsonName(text: string): unknown {
  try {
    return (JSON.parse(text) as { username?: unknown } | null)?.username;
  } catch {
    return null;
  }
}

/** 401 to a page of ours; a form sent without a script is led to the sign-in page with the error in its address. */
function isRefused(response: Response): boolean {
  return response.status === 401 || /[?&]error=/.test(response.headers.get("location") ?? "");
}

function spend(limiter: RateLimiter, name: string): void {
  try {
    limiter.take("signInName", name);
  } catch {
    // Attempts at once took the last one: the next is refused.
  }
}
