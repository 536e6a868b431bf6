import type { Config } from "@/server/platform/config";
import { AppError } from "@/server/platform/errors";
import type { Actor } from "@/server/platform/http/operation-context";
import { requireSameOrigin } from "@/server/platform/http/same-origin";
import { verifyDemoToken } from "./demo/demo-token";
import { verifyProviderToken } from "./oidc/verify-token";
import { readSessionToken } from "./session-cookie";

export type IdentityConfig = Pick<Config, "secrets" | "demo" | "oidc" | "publicUrl">;

/**
 * Who sent this request. A bearer token decides alone: a bad one never falls back to a cookie. A cookie session additionally
 * proves that our own page sent it. Throws UNAUTHENTICATED or AUTHORIZATION_DENIED.
 */
export async function identifyRequest(request: Request, config: IdentityConfig): Promise<Actor> {
  const authorization = request.headers.get("authorization");
  if (authorization !== null) {
    const token = /^Bearer ([A-Za-z0-9_.-]{1,8192})$/i.exec(authorization)?.[1];
    return authenticated(token === undefined ? null : await actorOfToken(token, config));
  }
  const actor = authenticated(await actorOfCookies(request.headers.get("cookie"), config));
  requireSameOrigin(request, actor, config.publicUrl);
  requireViewer(request, actor);
  return actor;
}

/** Header by which a page of the console says for whom it was made. */
const VIEWER = "x-event-admin-viewer";

/**
 * A page made for one person decides nothing in the name of another who signed in in the same browser since: for that person
 * nobody is signed in any more. No proof of anything; without the header nothing is asked.
 */
function requireViewer(request: Request, actor: Actor): void {
  const viewer = request.headers.get(VIEWER);
  if (viewer !== null && viewer !== actor.userId) {
    throw new AppError("UNAUTHENTICATED", { errors: [{ field: "", rule: "ANOTHER_PERSON" }] });
  }
}

/**
 * The caller's own access token, as it came: of the Authorization header, else of the session cookie. To forward a call that
 * `identifyRequest` has accepted; null when there is none.
 */
export async function accessTokenOf(request: Request, config: IdentityConfig): Promise<string | null> {
  const authorization = request.headers.get("authorization");
  if (authorization !== null) return /^Bearer (\S+)$/i.exec(authorization)?.[1] ?? null;
  return readSessionToken(request.headers.get("cookie"), config.secrets);
}

/** Actor of a Cookie header, or null. For pages; a request that changes something goes through `identifyRequest`. */
export async function actorOfCookies(cookieHeader: string | null, config: IdentityConfig): Promise<Actor | null> {
  const token = await readSessionToken(cookieHeader, config.secrets);
  return token === null ? null : actorOfToken(token, config);
}

/** Actor of an access token, or null. Throws ProviderUnreachable when that can't be known. */
export async function actorOfToken(token: string, config: IdentityConfig): Promise<Actor | null> {
  const demo = config.demo ? await verifyDemoToken(token, config.secrets) : null;
  if (demo !== null || config.oidc === null) return demo;
  const verdict = await verifyProviderToken(token, config.oidc);
  return verdict.ok ? verdict.actor : null;
}

function authenticated(actor: Actor | null): Actor {
  if (actor === null) throw new AppError("UNAUTHENTICATED");
  return actor;
}
