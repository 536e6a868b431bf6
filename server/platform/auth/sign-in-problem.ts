import type { TokenProblem } from "./oidc/verify-token";

/** Words that the sign-in page's address may carry. */
export type SignInProblem = `TOKEN_${TokenProblem}` | "TOKEN_MACHINE" | "SIGN_IN_UNAVAILABLE";

const ADMINISTRATOR = "Someone who administers the identity provider or this deployment has to change that.";

const TEXTS: Readonly<Record<SignInProblem, string>> = {
  TOKEN_NOT_A_JWT: `The identity provider gave an access token that is no JWT, so nobody can be recognised by it. ${ADMINISTRATOR}`,
  TOKEN_NOT_AN_ACCESS_TOKEN: `The identity provider gave a token of another kind than an access token. ${ADMINISTRATOR}`,
  TOKEN_SIGNATURE: `The access token isn't signed by a published key of the identity provider. ${ADMINISTRATOR}`,
  TOKEN_ISSUER: `The access token names another issuer than this deployment trusts. ${ADMINISTRATOR}`,
  TOKEN_AUDIENCE: `The access token isn't meant for this deployment (audience). ${ADMINISTRATOR}`,
  TOKEN_INCOMPLETE: `The access token lacks a claim that it must have. ${ADMINISTRATOR}`,
  TOKEN_SUBJECT: `The access token names no usable subject. ${ADMINISTRATOR}`,
  TOKEN_HOST: `The access token says no host for you (it must be a UUID). ${ADMINISTRATOR}`,
  TOKEN_EXPIRED: "The access token had already expired. Check the clocks of both sides, then sign in again.",
  TOKEN_NOT_YET: "The access token isn't valid yet. Check the clocks of both sides, then sign in again.",
  TOKEN_MACHINE: "This is an account of a machine, or its token lacks the user claim. Only persons sign in here.",
  SIGN_IN_UNAVAILABLE: "Signing in isn't possible just now. Nothing was changed; try again.",
};

/** What the sign-in page says for the `error` of its address; undefined when the address carries none. */
export function signInProblemText(error: unknown): string | undefined {
  if (typeof error !== "string" || error === "") return undefined;
  if (Object.hasOwn(TEXTS, error)) return TEXTS[error as SignInProblem];
  return "Your organisation's sign-in did not end well. Nobody was signed in; try again.";
}
