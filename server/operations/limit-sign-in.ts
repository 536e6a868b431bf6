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
    const name = pathname.endsWith("/callback/credentials") ? nameIn(body) : null;
    if (name !== null) limiter.check("signInName", name);
    const response = await signIn();
    if (name !== null && response.status === 401) spend(limiter, name);
    return response;
  } catch (error) {
    const refused = problem(toRefusal(error, requestIdOf(request), "signIn", "session"));
    if (error instanceof RateLimited) refused.headers.set("retry-after", String(error.retryAfterSeconds));
    return refused;
  }
}

function nameIn(body: Buffer): string | null {
  const name = new URLSearchParams(body.toString("utf8")).get("username");
  return name === null ? null : name.trim().toLowerCase().slice(0, 128);
}

function spend(limiter: RateLimiter, name: string): void {
  try {
    limiter.take("signInName", name);
  } catch {
    // Attempts at once took the last one: the next is refused.
  }
}
