import CredentialsProvider from "next-auth/providers/credentials";
import { type DemoIdentity, issueDemoToken } from "./demo-token";

export type DemoSignIn = {
  readonly identities: readonly DemoIdentity[];
  /** Signs the tokens. */
  readonly secret: string;
  /** Runs before the session exists; when it fails, nobody is signed in. */
  onSignIn(accessToken: string): Promise<void>;
};

/** Demo users: the password is the name. A wrong one is refused without saying which part was wrong. Demo mode only. */
export function demoCredentials(demo: DemoSignIn) {
  return CredentialsProvider({
    name: "Demo",
    credentials: { username: { label: "Name", type: "text" }, password: { label: "Password", type: "password" } },
    async authorize(credentials) {
      const name = credentials?.username?.trim().toLowerCase();
      const identity = demo.identities.find((candidate) => candidate.name === name);
      if (!identity || credentials?.password !== identity.name) return null;
      try {
        const accessToken = await issueDemoToken(identity, demo.secret);
        await demo.onSignIn(accessToken);
        return { id: identity.userId, name: identity.displayName, accessToken };
      } catch {
        // next-auth puts a thrown message into the address bar; only this word may stand there.
        throw new Error("SIGN_IN_UNAVAILABLE");
      }
    },
  });
}
