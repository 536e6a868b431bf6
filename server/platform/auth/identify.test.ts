import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { type DemoIdentity, issueDemoToken } from "./demo/demo-token";
import { identifyRequest } from "./identify";
import { sealSession } from "./session-cookie";

const secret = "0123456789abcdef0123456789abcdef";
const config = { secrets: [secret] as const, demo: true, oidc: null, publicUrl: null };
const person: DemoIdentity = {
  name: "ada",
  displayName: "Ada",
  userId: "0193f2d0-0000-7000-8000-0000000000aa",
  hostId: "0193f2d0-0000-7000-8000-000000000001",
  roles: ["x-1", "x-2"],
};
const JSON_TYPE = { "content-type": "application/json" };

const request = (headers: Record<string, string>, method = "POST") =>
  new Request("http://admin.invalid:3000/portal/command", {
    method,
    headers: { host: "admin.invalid:3000", ...headers },
  });
const bearer = async (token = issueDemoToken(person, secret)) => request({ authorization: `Bearer ${await token}` });
const session = async () => ({
  cookie: await sealSession({ accessToken: await issueDemoToken(person, secret) }, secret),
});

test("ER-APR-08 host, person and roles come from the verified token", async () => {
  expect(await identifyRequest(await bearer(), config)).toEqual({
    personId: "event-admin-demo|ada",
    userId: person.userId,
    hostId: person.hostId,
    roles: ["x-1", "x-2"],
    name: "Ada",
    human: true,
  });
});

test("ER-APR-18 a token of another key, algorithm, issuer, audience or time, or none at all, is nobody", async () => {
  const forged = new SignJWT({ uid: person.userId, host: person.hostId, role: "x-1" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ada")
    .setIssuer("event-admin-demo")
    .setAudience("event-admin")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));
  const [head, body, signature] = (await issueDemoToken(person, secret)).split(".");
  const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${body}.`;
  for (const token of [await forged, none, `${head}.${body}.`, `${head}.${body}.${signature}x`, "", "a b"]) {
    await expect(identifyRequest(await bearer(Promise.resolve(token)), config)).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    });
  }
  await expect(identifyRequest(request({}), config)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await expect(identifyRequest(await bearer(), { ...config, demo: false })).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
  });
});

test("ER-APR-18 a bad bearer token is refused even beside a good session", async () => {
  const both = request({
    ...(await session()),
    ...JSON_TYPE,
    authorization: "Bearer forged",
    origin: "http://admin.invalid:3000",
  });
  await expect(identifyRequest(both, config)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("ER-APR-18 a cookie session proves its own origin: other sites, null and absent origins are denied", async () => {
  const headers = { ...(await session()), ...JSON_TYPE };
  const own = request({ ...headers, origin: "http://admin.invalid:3000" });
  expect((await identifyRequest(own, config)).name).toBe("Ada");
  for (const origin of [
    "http://evil.invalid",
    "http://admin.invalid",
    "null",
    "http://admin.invalid:3000.evil.invalid",
  ]) {
    await expect(identifyRequest(request({ ...headers, origin }), config)).rejects.toMatchObject({
      code: "AUTHORIZATION_DENIED",
    });
  }
  await expect(identifyRequest(request(headers), config)).rejects.toMatchObject({ code: "AUTHORIZATION_DENIED" });
});

test("ER-APR-18 a cookie session sends JSON: what a form of another page could send is refused", async () => {
  const headers = { ...(await session()), origin: "http://admin.invalid:3000" };
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    await expect(identifyRequest(request({ ...headers, "content-type": type }), config)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  }
});

test("ER-APR-08 a page made for one person does nothing in the name of another who signed in since", async () => {
  const headers = { ...(await session()), ...JSON_TYPE, origin: "http://admin.invalid:3000" };
  const viewed = (viewer: string) => request({ ...headers, "x-event-admin-viewer": viewer });
  expect((await identifyRequest(viewed(person.userId), config)).name).toBe("Ada");
  await expect(identifyRequest(viewed("0193f2d0-0000-7000-8000-0000000000ab"), config)).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
  });
});

test("ER-APR-18 a GET that another site started does not count as the person's", async () => {
  const cross = request({ ...(await session()), "sec-fetch-site": "cross-site" }, "GET");
  await expect(identifyRequest(cross, config)).rejects.toMatchObject({ code: "AUTHORIZATION_DENIED" });
  const own = request({ ...(await session()), "sec-fetch-site": "same-origin" }, "GET");
  expect((await identifyRequest(own, config)).name).toBe("Ada");
});
