import { randomBytes } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";

export const CLIENT_ID = "event-admin";
export const CLIENT_SECRET = randomBytes(24).toString("base64url");
export const AUDIENCE = "https://event-admin.test/api";

export type ProviderOptions = {
  readonly redirectUris: readonly string[];
  /** Claims of the access token by subject. The subject of a client's own token is the client's id. */
  readonly claims?: Readonly<Record<string, JWTPayload>>;
  readonly accessTokenFormat?: "jwt" | "opaque";
  readonly accessTokenSeconds?: number;
};

export type IdentityProvider = {
  readonly issuer: string;
  /** The environment by which a deployment uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests for its keys so far. */
  keyRequests(): number;
  /** New signing key first; `keepOld` leaves the one before published. */
  rotateKeys(options: { keepOld: boolean }): Promise<void>;
  /** A token signed by its current key, whatever the claims. */
  sign(claims: JWTPayload, header?: { alg?: string; typ?: string; kid?: string }): Promise<string>;
  /** Its own token for a client without a person. */
  clientToken(): Promise<string>;
  /** From now on it answers nothing but 503; or it answers again. */
  setDown(down: boolean): void;
  close(): Promise<void>;
};

/** A certified OpenID provider on a port of this machine: discovery, keys, authorization code with PKCE, its own sign-in form. */
export async function startIdentityProvider(options: ProviderOptions): Promise<IdentityProvider> {
  let down = false;
  let keyRequests = 0;
  let keys = [await newKey()];
  const server = http.createServer((request, response) => {
    if (request.url === "/jwks") keyRequests += 1;
    if (down) response.writeHead(503).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const make = () => new Provider(issuer, configuration(options, keys)).callback();
  let answer = make();
  return {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_AUDIENCE: AUDIENCE,
    },
    keyRequests: () => keyRequests,
    async rotateKeys({ keepOld }) {
      keys = [await newKey(), ...(keepOld ? keys : [])];
      answer = make();
    },
    async sign(claims, header = {}) {
      const jwk = keys[0] as JWK;
      return new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: jwk.kid, ...header })
        .sign(await importJWK(jwk, "RS256"));
    },
    async clientToken() {
      const reply = await fetch(`${issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64")}` },
        body: new URLSearchParams({ grant_type: "client_credentials", resource: AUDIENCE }),
      });
      return ((await reply.json()) as { access_token: string }).access_token;
    },
    setDown(now) {
      down = now;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString("hex"), alg: "RS256", use: "sig" };
}

type Token = { readonly accountId?: string; readonly clientId: string };
type Context = {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
};

function configuration(options: ProviderOptions, keys: readonly JWK[]): object {
  const format = options.accessTokenFormat ?? "jwt";
  const seconds = options.accessTokenSeconds ?? 600;
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: options.redirectUris,
        grant_types: ["authorization_code", "refresh_token", "client_credentials"],
        response_types: ["code"],
      },
    ],
    jwks: { keys },
    cookies: { keys: ["provider-cookie-key"] },
    pkce: { required: () => true },
    scopes: ["openid", "profile", "offline_access"],
    claims: { openid: ["sub"], profile: ["name"] },
    ttl: {
      AccessToken: seconds,
      ClientCredentials: seconds,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 600,
      Grant: 600,
      IdToken: 600,
    },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, name: `${accountId} by id` }),
    }),
    extraTokenClaims: (_: unknown, token: Token) => options.claims?.[token.accountId ?? token.clientId],
    loadExistingGrant: grantAll,
    issueRefreshToken: () => true,
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => (format === "jwt" ? AUDIENCE : undefined),
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience: AUDIENCE,
          accessTokenTTL: seconds,
          accessTokenFormat: format,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}

/** Whoever signs in has agreed to what this client asks: there is no page of consent. */
async function grantAll({ oidc }: Context): Promise<object> {
  const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
  grant.addOIDCScope("openid profile offline_access");
  await grant.save();
  return grant;
}
