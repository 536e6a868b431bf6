import { expect, test } from "vitest";
import { bearer, call, identity, rpc, SECRET, testSite } from "@/app/testing/test-client";
import { runtime } from "@/server/operations/runtime";
import { actorOfCookies } from "@/server/platform/auth/identify";
import { readSessionToken, sealSession } from "@/server/platform/auth/session-cookie";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";

const db = testSite();
const ORIGIN = { origin: "http://127.0.0.1:3000", "content-type": "application/json" };

type Credentials = Record<"username" | "password", string>;
type SignedIn = { readonly name: string; readonly accessToken: string } | null;

/** The credentials provider as next-auth calls it. */
function authorize(credentials: Credentials): Promise<SignedIn> {
  const [provider] = runtime().authOptions.providers;
  const options = provider?.options as { authorize(credentials: Credentials): Promise<SignedIn> } | undefined;
  if (!options) throw new Error("demo mode has a credentials provider");
  return options.authorize(credentials);
}

async function persons(): Promise<Record<string, unknown>[]> {
  const { rows } = await db.pool.query(
    "SELECT host_id, person_id, issuer, subject, display_name, roles FROM person_t ORDER BY person_id",
  );
  return rows;
}

test("sign-in remembers the person under issuer and subject, once a host, with the roles of the token", async () => {
  expect(await authorize({ username: "alice", password: "wrong" })).toBeNull();
  expect(await authorize({ username: "nobody", password: "nobody" })).toBeNull();
  expect(await persons()).toEqual([]);
  await authorize({ username: "alice", password: "alice" });
  await authorize({ username: " Alice ", password: "alice" });
  expect(await persons()).toEqual([
    {
      host_id: DEMO_HOST_ID,
      person_id: "event-admin-demo|alice",
      issuer: "event-admin-demo",
      subject: "alice",
      display_name: "Alice Moreau",
      roles: [...identity("alice").roles],
    },
  ]);
});

test("the session cookie keeps the person's own token, sealed: it shows nothing and works as the bearer does", async () => {
  const signedIn = await authorize({ username: "carol", password: "carol" });
  const cookie = await sealSession({ accessToken: signedIn?.accessToken ?? "" }, SECRET);
  expect(cookie).not.toContain(signedIn?.accessToken);
  expect(await readSessionToken(cookie, [SECRET])).toBe(signedIn?.accessToken);
  expect((await actorOfCookies(cookie, runtime().config))?.personId).toBe("event-admin-demo|carol");
  const data = { hostId: DEMO_HOST_ID };
  const bySession = await call.rest("getDemoState", data, { ...ORIGIN, cookie });
  expect(bySession.body).toEqual((await call.rest("getDemoState", data, await bearer("carol"))).body);
});

test("a session sealed under another secret is no session", async () => {
  const signedIn = await authorize({ username: "carol", password: "carol" });
  const forged = await sealSession(
    { accessToken: signedIn?.accessToken ?? "" },
    "another-secret-another-secret-another",
  );
  expect((await call.rest("getDemoState", { hostId: DEMO_HOST_ID }, { ...ORIGIN, cookie: forged })).status).toBe(401);
});

test("ER-APR-18 a session's command from another site is denied and changes nothing", async () => {
  const signedIn = await authorize({ username: "alice", password: "alice" });
  const cookie = await sealSession({ accessToken: signedIn?.accessToken ?? "" }, SECRET);
  const body = rpc("createRole", { hostId: DEMO_HOST_ID, roleId: "from-elsewhere" });
  const foreign = await call.command(body, { ...ORIGIN, cookie, origin: "https://evil.invalid" });
  expect(foreign.status).toBe(403);
  const form = await call.command(body, { ...ORIGIN, cookie, "content-type": "text/plain" });
  expect(form.status).toBe(400);
  const { rows } = await db.pool.query("SELECT 1 FROM event_store_t");
  expect(rows).toEqual([]);
});

test("sign-in while the database is away fails with a word of ours, not the driver's", async () => {
  await db.pool.query("ALTER TABLE person_t RENAME TO person_gone_t");
  await expect(authorize({ username: "bob", password: "bob" })).rejects.toThrow(/^SIGN_IN_UNAVAILABLE$/);
  await db.pool.query("ALTER TABLE person_gone_t RENAME TO person_t");
});
