import { decodeJwt } from "jose";
import type { Account, NextAuthOptions, User } from "next-auth";
import type { JWT } from "next-auth/jwt";
import type { Secrets } from "@/server/platform/config";
import type { OidcConfig } from "@/server/platform/config-oidc";
import type { Actor } from "@/server/platform/http/operation-context";
import { log } from "@/server/platform/log";
import { demoCredentials } from "./demo/demo-credentials";
import { type DemoIdentity, verifyDemoToken } from "./demo/demo-token";
import { oidcProvider, PROVIDER_ID } from "./oidc/provider";
import { verifyProviderToken } from "./oidc/verify-token";
import { SESSION_SECONDS, sessionSeal } from "./session-seal";
import type { SignInProblem } from "./sign-in-problem";

export type SignInDeps = {
  readonly secrets: Secrets;
  /** Empty outside demo mode: then there is no credentials form. */
  readonly demoIdentities: readonly DemoIdentity[];
  readonly oidc: OidcConfig | null;
  /** Runs before the session exists; when it fails, nobody is signed in. */
  onSignIn(actor: Actor): Promise<void>;
  /** Runs while a session ends; the session ends also when it fails. */
  onSignOut(accessToken: string): Promise<void>;
};

/**
 * next-auth's configuration. The session is one encrypted HttpOnly cookie that keeps the person's own access token, so that
 * any replica can serve it; what the page may read of it is a name and when it ends.
 */
export function authOptions(deps: SignInDeps): NextAuthOptions {
  const { oidc, secrets } = deps;
  return {
    secret: secrets[0],
    session: { strategy: "jwt", maxAge: SESSION_SECONDS },
    jwt: sessionSeal(secrets),
    pages: { signIn: "/sign-in", error: "/sign-in", signOut: "/sign-in" },
    providers: [
      ...(oidc === null ? [] : [oidcProvider(oidc)]),
      ...(deps.demoIdentities.length === 0 ? [] : [demoProvider(deps)]),
    ],
    callbacks: {
      signIn: ({ account }) => (account?.provider === PROVIDER_ID && oidc ? admit(account, oidc, deps) : true),
      jwt: ({ token, user, account }) => (user ? sessionContent(user, account) : token),
      session({ session, token }) {
        const endsMs = typeof token.expiresAt === "number" ? token.expiresAt * 1000 : Number.POSITIVE_INFINITY;
        const expires = new Date(Math.min(endsMs, Date.parse(session.expires))).toISOString();
        return { expires, user: { name: token.name } };
      },
    },
    events: {
      async signOut({ token }) {
        if (typeof token?.accessToken === "string") await deps.onSignOut(token.accessToken);
      },
    },
    logger: {
      error: (code) => log.error("sign-in failed", { code: code.slice(0, 128) }),
      warn: (code) => log.warn("sign-in warning", { code: code.slice(0, 128) }),
      debug: () => undefined,
    },
  };
}

function demoProvider(deps: SignInDeps) {
  return demoCredentials({
    identities: deps.demoIdentities,
    secret: deps.secrets[0],
    async onSignIn(accessToken) {
      const actor = await verifyDemoToken(accessToken, deps.secrets);
      if (actor) await deps.onSignIn(actor);
    },
  });
}

/**
 * Lets a person in whose access token is one that every later request can be judged by. What is wrong with another is said on
 * the sign-in page by a word of ours, since the provider's settings have to change; the token itself stays unsaid.
 */
async function admit(account: Account, oidc: OidcConfig, deps: SignInDeps): Promise<true | string> {
  const refuse = (problem: SignInProblem) => {
    log.error("sign-in refused", { code: problem, component: "oidc" });
    return `/sign-in?error=${problem}`;
  };
  if (!account.access_token) return refuse("TOKEN_NOT_A_JWT");
  try {
    const verdict = await verifyProviderToken(account.access_token, oidc);
    if (!verdict.ok) return refuse(`TOKEN_${verdict.problem}`);
    if (!verdict.actor.human) return refuse("TOKEN_MACHINE");
    await deps.onSignIn(verdict.actor);
    return true;
  } catch {
    return refuse("SIGN_IN_UNAVAILABLE");
  }
}

/** Of what the provider or the demo gave, the session keeps the name, the tokens and their end. */
function sessionContent(user: User, account: Account | null): JWT {
  const given =
    account?.provider === PROVIDER_ID ? account.access_token : (user as { accessToken?: unknown }).accessToken;
  if (typeof given !== "string") throw new Error("a sign-in without an access token");
  return { name: user.name ?? null, accessToken: given, expiresAt: decodeJwt(given).exp };
}
