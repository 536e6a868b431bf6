import { decode, encode, type JWT, type JWTDecodeParams, type JWTEncodeParams } from "next-auth/jwt";
import type { Secrets } from "@/server/platform/config";

/** The longest a browser stays signed in, whatever its token says. */
export const SESSION_SECONDS = 12 * 60 * 60;

/** What the encrypted session cookie keeps. Nothing of it but the name ever reaches a page. */
export type SessionContent = {
  readonly name?: string | null;
  /** The person's own access token, as the provider gave it. */
  readonly accessToken: string;
  /** Seconds since 1970: when the access token ends, and the session with it unless it is renewed. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
};

/**
 * Seals and opens session cookies for next-auth. The first secret seals, every one opens: replicas share no more than the secrets,
 * and one secret follows another without a logout. A session ends with its access token.
 */
export function sessionSeal(secrets: Secrets, nowMs: () => number = Date.now) {
  return {
    maxAge: SESSION_SECONDS,
    encode(params: JWTEncodeParams): Promise<string> {
      return encode({ ...params, secret: secrets[0], maxAge: secondsLeft(params.token, nowMs()) });
    },
    async decode(params: JWTDecodeParams): Promise<JWT | null> {
      return params.token ? openSealed(params.token, secrets, params.salt) : null;
    },
  };
}

/** The content under any of the secrets; null for what none of them sealed, and for what has ended. */
export async function openSealed(token: string, secrets: Secrets, salt?: string): Promise<JWT | null> {
  for (const secret of secrets) {
    const content = await decode({ token, secret, ...(salt === undefined ? {} : { salt }) }).catch(() => null);
    if (content !== null) return content;
  }
  return null;
}

function secondsLeft(token: JWT | undefined, nowMs: number): number {
  const left = typeof token?.expiresAt === "number" ? Math.floor(token.expiresAt - nowMs / 1000) : SESSION_SECONDS;
  return Math.max(0, Math.min(SESSION_SECONDS, left));
}
