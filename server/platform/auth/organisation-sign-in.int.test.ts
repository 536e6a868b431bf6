import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordSignIn, recordSignOut } from "@/server/operations/record-sign-in";
import { loadConfig, type Secrets } from "@/server/platform/config";
import { BrowserClient } from "@/server/testing/browser-client";
import { testDatabase } from "@/server/testing/database";
import { AUDIENCE, CLIENT_ID, type IdentityProvider, startIdentityProvider } from "@/server/testing/identity-provider";
import { type SignInReplica, type SignInServer, startSignInServer } from "@/server/testing/sign-in-server";
import { authOptions } from "./auth-options";
import { accessTokenOf, actorOfCookies, actorOfToken, identifyRequest } from "./identify";
import { readSessionToken } from "./session-cookie";

const db = testDatabase();
const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const OLD = "old-secret-old-secret-old-secret-old-secret";
const NEW = "new-secret-new-secret-new-secret-new-secret";
const ADA = { uid: "0193f2d0-0000-7000-8000-0000000000aa", host: HOST, role: "r-one r-two", name: "Ada" };

let site: SignInServer;
let idp: IdentityProvider;
let opaque: IdentityProvider;

beforeAll(async () => {
  site = await startSignInServer();
  const redirectUris = [`${site.url}/api/auth/callback/oidc`];
  const claims = {
    ada: ADA,
    hostless: { ...ADA, host: "acme" },
    robot: { ...ADA, gty: "client-credentials" },
    [CLIENT_ID]: ADA,
  };
  idp = await startIdentityProvider({ redirectUris, claims });
  opaque = await startIdentityProvider({ redirectUris, claims, accessTokenFormat: "opaque" });
});
afterAll(async () => {
  await Promise.all([site.close(), idp.close(), opaque.close()]);
});

const configOf = (provider: IdentityProvider, secrets: Secrets) =>
  loadConfig({ DATABASE_URL: db.url, NEXTAUTH_SECRET: secrets.join(" "), ...provider.env });

/** One replica of its own: nothing is shared with another but the settings. */
function replica(provider: IdentityProvider, secrets: Secrets): SignInReplica {
  const config = configOf(provider, secrets);
  const options = authOptions({
    secrets,
    demoIdentities: [],
    oidc: config.oidc,
    onSignIn: (actor) => recordSignIn(db.pool, actor),
    onSignOut: async (token) => recordSignOut(db.pool, await actorOfToken(token, config)),
  });
  return { options, secrets };
}

/** "Continue with your organisation" until the provider's sign-in form. */
async function begin(browser: BrowserClient): Promise<URL> {
  const { csrfToken } = (await (await browser.send(`${site.url}/api/auth/csrf`)).json()) as { csrfToken: string };
  const form = { csrfToken, callbackUrl: `${site.url}/overview`, json: "true" };
  const { url } = (await (await browser.send(`${site.url}/api/auth/signin/oidc`, form)).json()) as { url: string };
  return (await browser.follow(url)).url;
}

/** The provider's form, and all redirects until a page of ours; returns its address. */
async function finish(browser: BrowserClient, form: URL, login: string): Promise<URL> {
  const entered = await browser.send(form.href, { prompt: "login", login, password: "any" });
  const next = new URL(entered.headers.get("location") ?? "", form);
  const ours = (url: URL) => url.origin === site.url && !url.pathname.startsWith("/api/auth/");
  return (await browser.follow(next.href, ours)).url;
}

async function signIn(login: string): Promise<{ readonly browser: BrowserClient; readonly landed: URL }> {
  const browser = new BrowserClient();
  const landed = await finish(browser, await begin(browser), login);
  return { browser, landed };
}

async function audited(): Promise<string[]> {
  const { rows } = await db.pool.query<{ text: string }>(
    "SELECT event_name || ' ' || actor_type || ' ' || actor_id AS text FROM event_replay_audit_t ORDER BY created_ts, audit_id",
  );
  return rows.map((row) => row.text);
}

test("ER-APR-08 sign-in at the organisation's provider: the session keeps the provider's own token, and host, person and roles come from it", async () => {
  site.replicas = [replica(idp, [OLD])];
  const { browser, landed } = await signIn("ada");
  expect(landed.href).toBe(`${site.url}/overview`);
  const cookie = browser.cookieHeader(site.url);
  const actor = {
    personId: `${idp.issuer}|ada`,
    userId: ADA.uid,
    hostId: HOST,
    roles: ["r-one", "r-two"],
    name: "Ada",
  };
  expect(await actorOfCookies(cookie, configOf(idp, [OLD]))).toEqual({ ...actor, human: true });
  const token = (await readSessionToken(cookie, [OLD])) ?? "";
  expect(cookie).not.toContain(token);
  expect(await actorOfToken(token, configOf(idp, [OLD]))).toMatchObject(actor);
  const shown = (await (await browser.send(`${site.url}/api/auth/session`)).json()) as Record<string, unknown>;
  expect(Object.keys(shown).sort()).toEqual(["expires", "user"]);
  expect(shown.user).toEqual({ name: "ada by id" });
  // The session ends with the token, which lives ten minutes here, not with the cookie.
  expect(Date.parse(String(shown.expires)) - Date.now()).toBeLessThanOrEqual(600_000);
  const { rows } = await db.pool.query("SELECT person_id, issuer, subject, display_name, roles FROM person_t");
  expect(rows).toEqual([
    {
      person_id: `${idp.issuer}|ada`,
      issuer: idp.issuer,
      subject: "ada",
      display_name: "Ada",
      roles: ["r-one", "r-two"],
    },
  ]);
});

test("ER-APR-17 signing in and out leave an audit record each", async () => {
  site.replicas = [replica(idp, [OLD])];
  const before = (await audited()).length;
  const { browser } = await signIn("ada");
  const { csrfToken } = (await (await browser.send(`${site.url}/api/auth/csrf`)).json()) as { csrfToken: string };
  await browser.send(`${site.url}/api/auth/signout`, { csrfToken, json: "true" });
  expect((await audited()).slice(before)).toEqual([
    `PERSON_SIGNED_IN USER ${idp.issuer}|ada`,
    `PERSON_SIGNED_OUT USER ${idp.issuer}|ada`,
  ]);
  expect(await actorOfCookies(browser.cookieHeader(site.url), configOf(idp, [OLD]))).toBeNull();
});

test("ER-APR-08 an opaque access token, a token without a host and a machine's account sign nobody in, and the page is told why", async () => {
  const persons = async () => (await db.pool.query("SELECT 1 FROM person_t")).rowCount;
  const before = [await persons(), (await audited()).length];
  for (const [provider, login, problem] of [
    [opaque, "ada", "TOKEN_NOT_A_JWT"],
    [idp, "hostless", "TOKEN_HOST"],
    [idp, "robot", "TOKEN_MACHINE"],
  ] as const) {
    site.replicas = [replica(provider, [OLD])];
    const { browser, landed } = await signIn(login);
    expect(`${landed.pathname}${landed.search}`).toBe(`/sign-in?error=${problem}`);
    expect(await readSessionToken(browser.cookieHeader(site.url), [OLD])).toBeNull();
  }
  expect([await persons(), (await audited()).length]).toEqual(before);
});

test("ER-APR-15 what is passed on to another replica is the person's own token as the provider gave it, never a token of ours", async () => {
  site.replicas = [replica(idp, [OLD])];
  const { browser } = await signIn("ada");
  const config = configOf(idp, [OLD]);
  const request = new Request(site.url, { headers: { cookie: browser.cookieHeader(site.url) } });
  const forwarded = (await accessTokenOf(request, config)) ?? "";
  expect(decodeJwt(forwarded)).toMatchObject({ iss: idp.issuer, sub: "ada", aud: AUDIENCE, client_id: CLIENT_ID });
  // It is judged again where it arrives, by the provider's keys; nothing of the session goes along.
  const arrived = new Request(site.url, { headers: { authorization: `Bearer ${forwarded}` } });
  expect((await identifyRequest(arrived, config)).personId).toBe(`${idp.issuer}|ada`);
  expect(await accessTokenOf(new Request(site.url), config)).toBeNull();
});

test("replicas of one secret need no sticky sessions: every request of a sign-in may reach another one", async () => {
  site.replicas = [replica(idp, [OLD]), replica(idp, [OLD]), replica(idp, [OLD])];
  const { browser, landed } = await signIn("ada");
  expect(landed.pathname).toBe("/overview");
  for (let i = 0; i < 3; i++) {
    const shown = (await (await browser.send(`${site.url}/api/auth/session`)).json()) as { user?: unknown };
    expect(shown.user).toEqual({ name: "ada by id" });
  }
});

test("secrets rotate without a logout, also of a sign-in under way; a withdrawn secret opens nothing", async () => {
  site.replicas = [replica(idp, [OLD])];
  const { browser } = await signIn("ada");
  const underWay = new BrowserClient();
  const form = await begin(underWay);
  site.replicas = [replica(idp, [NEW, OLD])];
  expect((await finish(underWay, form, "ada")).pathname).toBe("/overview");
  const cookie = browser.cookieHeader(site.url);
  expect((await actorOfCookies(cookie, configOf(idp, [NEW, OLD])))?.name).toBe("Ada");
  expect(await actorOfCookies(cookie, configOf(idp, [NEW]))).toBeNull();
  // What is sealed now is sealed by the first: the old one may go once sessions have ended.
  expect((await actorOfCookies(underWay.cookieHeader(site.url), configOf(idp, [NEW])))?.name).toBe("Ada");
});

test("ER-APR-09 a token that the provider gave to a client alone is a machine's, whatever claims and roles it carries", async () => {
  const actor = await actorOfToken(await idp.clientToken(), configOf(idp, [OLD]));
  expect(actor).toMatchObject({ hostId: HOST, userId: ADA.uid, roles: ["r-one", "r-two"], human: false });
});

test("ER-APR-18 the provider's ID token is no access token, even for the same audience", async () => {
  const config = configOf(idp, [OLD]);
  const sub = { ...ADA, sub: "ada", iss: idp.issuer, aud: AUDIENCE, iat: Math.floor(Date.now() / 1000) };
  const exp = Math.floor(Date.now() / 1000) + 60;
  expect(await actorOfToken(await idp.sign({ ...sub, exp }), config)).not.toBeNull();
  expect(await actorOfToken(await idp.sign({ ...sub, exp, at_hash: "x" }), config)).toBeNull();
});
