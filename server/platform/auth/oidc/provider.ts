import type { OAuthConfig } from "next-auth/providers/oauth";
import type { OidcConfig } from "@/server/platform/config-oidc";

export const PROVIDER_ID = "oidc";

type IdTokenClaims = { readonly sub: string; readonly name?: string; readonly preferred_username?: string };

/**
 * The identity provider as next-auth needs it: authorization code with PKCE, state and nonce; all addresses from its discovery
 * document. Who the person is here is read from the access token alone, the same for a session and for a bearer.
 */
export function oidcProvider(oidc: OidcConfig): OAuthConfig<IdTokenClaims> {
  return {
    id: PROVIDER_ID,
    name: "Organisation",
    type: "oauth",
    wellKnown: `${oidc.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    clientId: oidc.clientId,
    clientSecret: oidc.clientSecret,
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    authorization: { params: { ...oidc.authorizationParameters, scope: oidc.scope } },
    client: { id_token_signed_response_alg: oidc.idTokenAlgorithm },
    profile: (claims) => ({ id: claims.sub, name: claims.name ?? claims.preferred_username ?? claims.sub }),
  };
}
