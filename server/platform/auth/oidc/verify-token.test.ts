import { generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "@/server/platform/config";
import type { OidcConfig } from "@/server/platform/config-oidc";
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from "@/server/testing/identity-provider";
import { IssuerKeys, ProviderUnreachable } from "./issuer-keys";
import { verifyProviderToken } from "./verify-token";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const now = () => Math.floor(Date.now() / 1000);
let idp: IdentityProvider;
let oidc: OidcConfig;

beforeAll(async () => {
  idp = await startIdentityProvider({ redirectUris: ["http://127.0.0.1/callback"] });
  const env = { DATABASE_URL: "postgres://u@127.0.0.1/x", NEXTAUTH_SECRET: "x".repeat(32), ...idp.env };
  const config = loadConfig(env).oidc;
  if (config === null) throw new Error("the provider is configured");
  oidc = config;
});
afterAll(() => idp.close());

const claims = (over: object = {}) => ({
  iss: idp.issuer,
  aud: AUDIENCE,
  sub: "ada",
  uid: "0193f2d0-0000-7000-8000-0000000000aa",
  host: HOST,
  role: "r-1",
  iat: now(),
  exp: now() + 300,
  ...over,
});

async function judge(token: string, keys?: IssuerKeys): Promise<string> {
  const verdict = await verifyProviderToken(token, oidc, keys);
  return verdict.ok ? "ok" : verdict.problem;
}

test("ER-APR-18 issuer, audience, times and required claims of a signed token are all judged, with 30 seconds of tolerance", async () => {
  const table: [object, string][] = [
    [{}, "ok"],
    [{ aud: ["https://other.test", AUDIENCE] }, "ok"],
    [{ exp: now() - 20 }, "ok"],
    [{ nbf: now() + 20 }, "ok"],
    [{ exp: now() - 40 }, "EXPIRED"],
    [{ nbf: now() + 50 }, "NOT_YET"],
    [{ aud: "https://other.test" }, "AUDIENCE"],
    [{ aud: `${AUDIENCE}/` }, "AUDIENCE"],
    [{ aud: undefined }, "INCOMPLETE"],
    [{ iss: `${idp.issuer}/` }, "ISSUER"],
    [{ iss: "event-admin-demo" }, "ISSUER"],
    [{ exp: undefined }, "INCOMPLETE"],
    [{ exp: "tomorrow" }, "INCOMPLETE"],
    [{ iat: undefined }, "INCOMPLETE"],
    [{ sub: undefined }, "INCOMPLETE"],
    [{ sub: "" }, "SUBJECT"],
    [{ host: undefined }, "HOST"],
  ];
  for (const [over, verdict] of table) {
    expect(await judge(await idp.sign(claims(over))), JSON.stringify(over)).toBe(verdict);
  }
});

test("ER-APR-18 where the audience is the client itself, as in an ID token, an access token shows what it is", async () => {
  const own = { ...oidc, audience: oidc.clientId };
  const verdict = async (over: object, typ?: string) => {
    const token = await idp.sign(claims({ aud: oidc.clientId, ...over }), typ ? { typ } : {});
    const judged = await verifyProviderToken(token, own);
    return judged.ok ? "ok" : judged.problem;
  };
  expect(await verdict({ nonce: "n", auth_time: now() }, "JWT")).toBe("NOT_AN_ACCESS_TOKEN");
  expect(await verdict({}, "at+jwt")).toBe("ok");
  expect(await verdict({ scope: "openid profile" }, "JWT")).toBe("ok");
  expect(await verdict({ client_id: oidc.clientId }, "JWT")).toBe("ok");
});

test("ER-APR-18 only a signature by a published key of the provider counts: no shared secret, no algorithm none, no key of another", async () => {
  const { privateKey } = await generateKeyPair("RS256");
  const [head = "", body = "", signature = ""] = (await idp.sign(claims())).split(".");
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString()) as { kid: string };
  const bySecret = (secret: Uint8Array) => new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid }).sign(secret);
  const publicKeys = await (await fetch(`${idp.issuer}/jwks`)).text();
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  const tokens = [
    await new SignJWT(claims()).setProtectedHeader({ alg: "RS256", kid }).sign(privateKey),
    await bySecret(new TextEncoder().encode(oidc.clientSecret)),
    await bySecret(new TextEncoder().encode(publicKeys)),
    `${none}.${body}.`,
    `${none}.${body}.${signature}`,
    `${head}.${body}.`,
    `${head}.${Buffer.from(JSON.stringify(claims({ sub: "eve" }))).toString("base64url")}.${signature}`,
    await idp.sign(claims(), { kid: "invented" }),
  ];
  for (const token of tokens) expect(await judge(token)).toMatch(/^(SIGNATURE|NOT_A_JWT)$/);
  for (const token of ["", "opaque-token", "a.b.c", "a.b"]) expect(await judge(token)).toBe("NOT_A_JWT");
});

test("ER-APR-18 a token of another type by the same provider is refused", async () => {
  for (const typ of ["at+jwt", "JWT", "application/at+jwt"])
    expect(await judge(await idp.sign(claims(), { typ }))).toBe("ok");
  for (const typ of ["logout+jwt", "secevent+jwt", "dpop+jwt"]) {
    expect(await judge(await idp.sign(claims(), { typ }))).toBe("NOT_AN_ACCESS_TOKEN");
  }
});

test("rotated keys work at once; a key that the provider withdrew stops counting once the cache is old", async () => {
  let clockMs = 0;
  const keys = new IssuerKeys(idp.issuer, () => clockMs);
  const first = await idp.sign(claims());
  expect(await judge(first, keys)).toBe("ok");
  await idp.rotateKeys({ keepOld: true });
  clockMs += 6_000;
  expect(await judge(await idp.sign(claims()), keys)).toBe("ok");
  expect(await judge(first, keys)).toBe("ok");
  await idp.rotateKeys({ keepOld: false });
  clockMs += 6_000;
  expect(await judge(first, keys)).toBe("ok");
  clockMs += 10 * 60_000 + 1;
  expect(await judge(first, keys)).toBe("SIGNATURE");
  expect(await judge(await idp.sign(claims()), keys)).toBe("ok");
});

test("invented key ids make the provider be asked once in five seconds, not once a token", async () => {
  let clockMs = 0;
  const keys = new IssuerKeys(idp.issuer, () => clockMs);
  const good = await idp.sign(claims());
  expect(await judge(good, keys)).toBe("ok");
  const before = idp.keyRequests();
  for (let i = 0; i < 20; i++) await judge(await idp.sign(claims(), { kid: `invented-${i}` }), keys);
  expect(idp.keyRequests()).toBe(before);
  clockMs += 5_000;
  for (let i = 0; i < 20; i++) await judge(await idp.sign(claims(), { kid: `invented-${i}` }), keys);
  expect(idp.keyRequests()).toBe(before + 1);
  expect(await judge(good, keys)).toBe("ok");
});

test("while the provider is down its last keys serve on for hours; without any, a token is neither good nor bad", async () => {
  let clockMs = 0;
  const keys = new IssuerKeys(idp.issuer, () => clockMs);
  const token = await idp.sign(claims());
  expect(await judge(token, keys)).toBe("ok");
  idp.setDown(true);
  clockMs += 11 * 3_600_000;
  expect(await judge(token, keys)).toBe("ok");
  clockMs += 3_600_000 + 1;
  await expect(judge(token, keys)).rejects.toBeInstanceOf(ProviderUnreachable);
  await expect(judge(token, new IssuerKeys(idp.issuer))).rejects.toBeInstanceOf(ProviderUnreachable);
  idp.setDown(false);
  clockMs += 5_000;
  expect(await judge(token, keys)).toBe("ok");
});
