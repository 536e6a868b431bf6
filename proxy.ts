import { type NextRequest, NextResponse } from "next/server";

const REQUEST_ID = "x-request-id";
/** Page path and query for server components; read by server/platform/auth/require-session.ts. */
const PATH = "x-event-admin-path";

/**
 * Headers of every page: request id and a content security policy with a nonce of its own (what is the same for every answer
 * stands in next.config.mjs). It guards nothing: identity and permission are checked where the work is done.
 */
export function proxy(request: NextRequest): NextResponse {
  const requestId = crypto.randomUUID();
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
  const secure = isHttps(request);
  const policy = contentSecurityPolicy(nonce, secure);
  const headers = new Headers(request.headers);
  headers.set(REQUEST_ID, requestId);
  headers.set(PATH, request.nextUrl.pathname + request.nextUrl.search);
  // Next takes the nonce of its own scripts from the request's policy.
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  response.headers.set(REQUEST_ID, requestId);
  if (request.nextUrl.pathname.startsWith("/api/")) response.headers.set("cache-control", "no-store");
  if (secure) response.headers.set("strict-transport-security", "max-age=31536000; includeSubDomains");
  return response;
}

/** By its own connection, by what the front end says, or by the public URL that the deployment names. */
function isHttps(request: NextRequest): boolean {
  return (
    request.nextUrl.protocol === "https:" ||
    request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https" ||
    (process.env.NEXTAUTH_URL?.startsWith("https://") ?? false)
  );
}

function contentSecurityPolicy(nonce: string, secure: boolean): string {
  // React's development build evaluates code to rebuild stack traces; the product never does.
  const development = process.env.NODE_ENV === "development" ? " 'unsafe-eval'" : "";
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'${development}`,
    "script-src-attr 'none'",
    development ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(secure ? ["upgrade-insecure-requests"] : []),
  ].join("; ");
}

/**
 * Not the operations' routes: in front of a proxy the framework holds each body in memory, and cuts it at ten megabytes without
 * a word to the route. They read their own bodies, bounded, and set their own headers.
 */
export const config = {
  matcher: [
    "/((?!_next/static|_next/image|favicon.ico|api/events|api/event-replay/|portal/|healthz|readyz|metrics).*)",
  ],
};
