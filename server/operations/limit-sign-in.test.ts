import { expect, test } from "vitest";
import { DEFAULT_LIMITS, RateLimiter } from "@/server/platform/http/rate-limit";
import { limitSignIn } from "./limit-sign-in";

const limits = { ...DEFAULT_LIMITS, signIn: { perSecond: 1, burst: 6 }, signInName: { perSecond: 0.1, burst: 2 } };
const right = "correct horse";

function site() {
  const limiter = new RateLimiter(
    () => limits,
    () => 0,
  );
  let asked = 0;
  const attempt = (username: string, password: string, address = "10.0.0.1") => {
    const request = new Request("http://own.invalid/api/auth/callback/credentials", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": address },
      body: new URLSearchParams({ username, password }),
    });
    return limitSignIn(limiter, request, async () => {
      asked += 1;
      const form = new URLSearchParams(await request.text());
      return new Response("{}", { status: form.get("password") === right ? 200 : 401 });
    });
  };
  return { attempt, limiter, asked: () => asked };
}

test("ER-API-22 a password is not guessed: after a few failures a name waits, from whatever address, and nobody is asked", async () => {
  const { attempt, asked } = site();
  for (let n = 0; n < 2; n++) expect((await attempt("alice", "guess", `10.0.1.${n}`)).status).toBe(401);
  const refused = await attempt(" Alice", right, "10.0.2.1");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("10");
  expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED", retryable: true });
  expect(asked()).toBe(2);
  expect((await attempt("bob", right, "10.0.2.1")).status).toBe(200);
});

test("ER-API-22 sign-in that succeeds costs a name nothing; one address has a pace of its own, reads have none", async () => {
  const { attempt, limiter } = site();
  for (let n = 0; n < 6; n++) expect((await attempt("alice", right)).status).toBe(200);
  expect((await attempt("bob", right)).status).toBe(429);
  expect((await attempt("bob", right, "10.0.0.2")).status).toBe(200);
  const read = new Request("http://own.invalid/api/auth/session", { headers: { "x-forwarded-for": "10.0.0.1" } });
  expect((await limitSignIn(limiter, read, async () => new Response("{}"))).status).toBe(200);
});

test("ER-API-21 a sign-in form beyond its size is refused before anybody is asked", async () => {
  const { attempt, asked } = site();
  expect((await attempt("alice", "x".repeat(20_000))).status).toBe(413);
  expect(asked()).toBe(0);
});

test("ER-API-22 a name's failures count however the attempt is written: JSON, twice the name, another spelling of the address, no script", async () => {
  const base = "http://own.invalid/api/auth/callback";
  const form = "application/x-www-form-urlencoded";
  const ways: [string, string, string, Response][] = [
    [
      `${base}/credentials`,
      "application/json",
      '{"username":"alice","password":"x"}',
      new Response("", { status: 401 }),
    ],
    [`${base}/credentials`, form, "username=zoe&username=alice&password=x", new Response("", { status: 401 })],
    [`${base}/%63redentials`, form, "username=alice", new Response("", { status: 401 })],
    [`${base}/credentials/more`, form, "username=alice", new Response("", { status: 401 })],
    [
      `${base}/credentials`,
      form,
      "username=alice",
      new Response(null, { status: 302, headers: { location: "/sign-in?error=CredentialsSignin" } }),
    ],
  ];
  for (const [url, type, body, answer] of ways) {
    const { limiter, attempt } = site();
    const send = () =>
      limitSignIn(
        limiter,
        new Request(url, { method: "POST", headers: { "content-type": type }, body }),
        async () => answer,
      );
    for (let n = 0; n < 2; n++) await send();
    expect((await attempt("alice", right, "10.0.3.1")).status, `${url} ${body}`).toBe(429);
  }
});
