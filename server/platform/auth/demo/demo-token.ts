import { hkdfSync } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Secrets } from "@/server/platform/config";
import type { Actor } from "@/server/platform/http/operation-context";
import { isCanonicalUuid } from "@/server/platform/ids";

export const DEMO_ISSUER = "event-admin-demo";
const AUDIENCE = "event-admin";
const TOKEN_LIFETIME_SECONDS = 12 * 60 * 60;
/** Clocks of issuer and verifier may differ this much. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** A person of the demo, as the composition root supplies them. */
export type DemoIdentity = {
  readonly name: string;
  readonly displayName: string;
  readonly userId: string;
  readonly hostId: string;
  readonly roles: readonly string[];
};

/**
 * The access token of a demo identity: HS256 under a key derived from the deployment's secret, 12 hours, issuer and audience
 * fixed. Same form whether a session keeps it or `npm run token` prints it.
 */
export async function issueDemoToken(identity: DemoIdentity, secret: string): Promise<string> {
  return new SignJWT({
    uid: identity.userId,
    host: identity.hostId,
    role: identity.roles.join(" "),
    name: identity.displayName,
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(DEMO_ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(identity.name)
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_LIFETIME_SECONDS}s`)
    .sign(signingKey(secret));
}

/**
 * Verifies signature (by any secret that still counts), issuer, audience, expiry and the claims we need; null for any token
 * that fails, without saying why.
 * A token without user id is a machine's: `human` false.
 */
export async function verifyDemoToken(token: string, secrets: Secrets): Promise<Actor | null> {
  for (const secret of secrets) {
    const actor = await verifyUnder(token, secret);
    if (actor !== null) return actor;
  }
  return null;
}

async function verifyUnder(token: string, secret: string): Promise<Actor | null> {
  try {
    const { payload } = await jwtVerify(token, signingKey(secret), {
      algorithms: ["HS256"],
      issuer: DEMO_ISSUER,
      audience: AUDIENCE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["sub", "exp"],
    });
    const { sub, uid, host, role, name } = payload;
    if (typeof sub !== "string" || sub === "" || !isCanonicalUuid(host)) return null;
    return {
      personId: `${DEMO_ISSUER}|${sub}`,
      userId: typeof uid === "string" ? uid : "",
      hostId: host,
      roles: typeof role === "string" ? role.split(" ").filter((part) => part !== "") : [],
      name: typeof name === "string" ? name : sub,
      human: typeof uid === "string" && uid !== "",
    };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}

/** Own key for own purpose: the session cookie's encryption never shares it. */
function signingKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "event-admin access token v1", 32));
}
