import type { NextAuthOptions } from "next-auth";
import CredentialsProvider from "next-auth/providers/credentials";
import { log } from "@/server/platform/log";
import { type DemoIdentity, issueDemoToken, TOKEN_LIFETIME_SECONDS } from "./access-token";

export type SignInDeps = {
  readonly secret: string;
  /** Empty outside demo mode: then there is no credentials form. */
  readonly demoIdentities: readonly DemoIdentity[];
  /** Runs before the session exists; when it fails, nobody is signed in. */
  onSignIn(identity: DemoIdentity): Promise<void>;
};

/**
 * next-auth's configuration. The session is one encrypted HttpOnly cookie that keeps the person's own access token, so that
 * any replica can serve it; what the page may read of it is a name.
 */
export function authOptions(deps: SignInDeps): NextAuthOptions {
  return {
    secret: deps.secret,
    session: { strategy: "jwt", maxAge: TOKEN_LIFETIME_SECONDS },
    pages: { signIn: "/sign-in", error: "/sign-in", signOut: "/sign-in" },
    providers: deps.demoIdentities.length > 0 ? [demoCredentials(deps)] : [],
    callbacks: {
      jwt({ token, user }) {
        const accessToken = (user as { accessToken?: unknown } | undefined)?.accessToken;
        return typeof accessToken === "string" ? { name: user.name, accessToken } : token;
      },
      session({ session, token }) {
        return { expires: session.expires, user: { name: token.name } };
      },
    },
    logger: {
      error: (code) => log.error("sign-in failed", { code: code.slice(0, 128) }),
      warn: (code) => log.warn("sign-in warning", { code: code.slice(0, 128) }),
      debug: () => undefined,
    },
  };
}

/** Demo users: the password is the name. A wrong one is refused without saying which part was wrong. */
function demoCredentials(deps: SignInDeps) {
  return CredentialsProvider({
    name: "Demo",
    credentials: { username: { label: "Name", type: "text" }, password: { label: "Password", type: "password" } },
    async authorize(credentials) {
      const name = credentials?.username?.trim().toLowerCase();
      const identity = deps.demoIdentities.find((candidate) => candidate.name === name);
      if (!identity || credentials?.password !== identity.name) return null;
      try {
        await deps.onSignIn(identity);
        const accessToken = await issueDemoToken(identity, deps.secret);
        return { id: identity.userId, name: identity.displayName, accessToken };
      } catch {
        // next-auth puts a thrown message into the address bar; only this word may stand there.
        throw new Error("SIGN_IN_UNAVAILABLE");
      }
    },
  });
}
