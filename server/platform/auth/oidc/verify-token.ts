import { decodeProtectedHeader, errors, jwtVerify } from "jose";
import type { OidcConfig } from "@/server/platform/config-oidc";
import type { Actor } from "@/server/platform/http/operation-context";
import { type ClaimProblem, readClaims } from "./claims";
import { type IssuerKeys, keysOf } from "./issuer-keys";

/** Signatures by a key pair alone: a shared secret or none at all is never a provider's signature. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** Clocks of issuer and verifier may differ this much. */
const CLOCK_TOLERANCE_SECONDS = 30;
const TOKEN_TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/**
 * Where access tokens name the client as their audience, as every ID token does, one has to show what it is: by its type, or by a
 * claim that says what it gives access to (RFC 9068) and that no ID token carries.
 */
const ACCESS_MARKS = ["scope", "scp", "client_id"];

/** Why a token doesn't count: for a log line and the sign-in page, never for the caller of an operation. */
export type TokenProblem =
  | ClaimProblem
  | "NOT_A_JWT"
  | "SIGNATURE"
  | "ISSUER"
  | "AUDIENCE"
  | "EXPIRED"
  | "NOT_YET"
  | "INCOMPLETE";

export type TokenVerdict =
  /** `expiresAt` in seconds since 1970, by the issuer. */
  | { readonly ok: true; readonly actor: Actor; readonly expiresAt: number }
  | { readonly ok: false; readonly problem: TokenProblem };

/**
 * Judges an access token of the identity provider: signature by one of its published keys, issuer, audience, times (30 s
 * tolerance), type, required claims. Throws ProviderUnreachable when the keys can't be had.
 */
export async function verifyProviderToken(
  token: string,
  oidc: OidcConfig,
  keys: IssuerKeys = keysOf(oidc.issuer),
): Promise<TokenVerdict> {
  let type: string;
  try {
    type = decodeProtectedHeader(token).typ?.toLowerCase() ?? "jwt";
  } catch {
    return { ok: false, problem: "NOT_A_JWT" };
  }
  if (!TOKEN_TYPES.has(type)) return { ok: false, problem: "NOT_AN_ACCESS_TOKEN" };
  try {
    const { payload } = await jwtVerify(token, (header, input) => keys.find(header, input), {
      algorithms: ALGORITHMS,
      issuer: oidc.issuer,
      audience: oidc.audience,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ["sub", "exp", "iat"],
    });
    if (
      oidc.audience === oidc.clientId &&
      type === "jwt" &&
      !ACCESS_MARKS.some((name) => Object.hasOwn(payload, name))
    ) {
      return { ok: false, problem: "NOT_AN_ACCESS_TOKEN" };
    }
    const read = readClaims(payload, oidc);
    return read.ok ? { ...read, expiresAt: payload.exp as number } : read;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      return { ok: false, problem: problemOf(error) };
    throw error;
  }
}

function problemOf(error: Error): TokenProblem {
  if (error instanceof errors.JWTExpired) return "EXPIRED";
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return "NOT_A_JWT";
  if (!(error instanceof errors.JWTClaimValidationFailed)) return "SIGNATURE";
  if (error.reason === "missing") return "INCOMPLETE";
  const problems: Readonly<Record<string, TokenProblem>> = { iss: "ISSUER", aud: "AUDIENCE", nbf: "NOT_YET" };
  return problems[error.claim] ?? "INCOMPLETE";
}
