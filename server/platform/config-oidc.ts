import { ConfigError } from "./config-error";

/** The organisation's identity provider, and what its tokens call things. */
export type OidcConfig = {
  /** Exactly as the tokens' `iss` says it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the `aud` of an access token must name. */
  readonly audience: string;
  readonly scope: string;
  /** Further parameters of the authorization request, such as `audience=…` or `resource=…`. */
  readonly authorizationParameters: Readonly<Record<string, string>>;
  readonly idTokenAlgorithm: string;
  /** Claims of the access token; a name that isn't there is read as a path (`realm_access.roles`). */
  readonly hostClaim: string;
  readonly roleClaim: string;
  /** Present only in a person's token. */
  readonly userClaim: string;
};

type Env = Readonly<Record<string, string | undefined>>;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const ID_TOKEN_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** The provider of OIDC_ISSUER, or null without one. Throws ConfigError when a setting is missing or can't be right. */
export function readOidc(env: Env): OidcConfig | null {
  const issuer = env.OIDC_ISSUER;
  if (!issuer) return null;
  requireIssuer(issuer);
  const clientId = required(env, "OIDC_CLIENT_ID", "the id under which the provider knows Event Admin");
  const idTokenAlgorithm = env.OIDC_ID_TOKEN_ALG || "RS256";
  if (!ID_TOKEN_ALGORITHMS.includes(idTokenAlgorithm)) {
    throw new ConfigError("OIDC_ID_TOKEN_ALG", `OIDC_ID_TOKEN_ALG is one of ${ID_TOKEN_ALGORITHMS.join(", ")}.`);
  }
  return {
    issuer,
    clientId,
    clientSecret: required(env, "OIDC_CLIENT_SECRET", "the secret that the provider gave for OIDC_CLIENT_ID"),
    audience: env.OIDC_AUDIENCE || clientId,
    scope: readScope(env),
    authorizationParameters: Object.fromEntries(new URLSearchParams(env.OIDC_AUTHORIZE_PARAMS ?? "")),
    idTokenAlgorithm,
    hostClaim: env.OIDC_HOST_CLAIM || "host",
    roleClaim: env.OIDC_ROLE_CLAIM || "role",
    userClaim: env.OIDC_USER_CLAIM || "uid",
  };
}

/** Tokens and keys travel over the issuer's addresses: https, or http on this machine. A `|` would blur issuer and subject. */
function requireIssuer(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  const safe = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.has(url.hostname));
  if (!url || !safe || url.search !== "" || url.hash !== "" || url.username !== "" || issuer.includes("|")) {
    throw new ConfigError("OIDC_ISSUER", "OIDC_ISSUER is the provider's issuer: an https address without query.");
  }
}

function readScope(env: Env): string {
  const scope = env.OIDC_SCOPE || "openid profile";
  if (!scope.split(" ").includes("openid")) throw new ConfigError("OIDC_SCOPE", "OIDC_SCOPE must contain openid.");
  return scope;
}

function required(env: Env, setting: string, what: string): string {
  const value = env[setting];
  if (!value) throw new ConfigError(setting, `${setting} is not set, though OIDC_ISSUER is: give ${what}.`);
  return value;
}
