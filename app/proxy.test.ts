import { NextRequest } from "next/server";
import { expect, test } from "vitest";
import { config, proxy } from "@/proxy";

const policyOf = (path = "/") =>
  proxy(new NextRequest(`http://admin.invalid${path}`)).headers.get("content-security-policy") ?? "";

test("scripts run by a nonce that is new with every answer; nothing inline, evaluated or from elsewhere", () => {
  const [first, second] = [policyOf(), policyOf()];
  const nonce = /'nonce-([A-Za-z0-9+/]{22}==)'/;
  expect(nonce.exec(first)?.[1]).toBeDefined();
  expect(nonce.exec(first)?.[1]).not.toBe(nonce.exec(second)?.[1]);
  const directives = new Map(first.split("; ").map((text) => [text.split(" ")[0], text]));
  expect(directives.get("script-src")).not.toMatch(/unsafe|https?:|\*/);
  expect(directives.get("style-src")).not.toMatch(/unsafe|https?:|\*/);
  expect(directives.get("style-src-attr")).toBe("style-src-attr 'unsafe-inline'");
  for (const name of ["object-src", "base-uri", "frame-ancestors", "frame-src", "script-src-attr"])
    expect(directives.get(name)).toBe(`${name} 'none'`);
});

test("over https, told by the connection, the front end or the deployment, the browser is held to it", () => {
  const secure = (url: string, headers: Record<string, string> = {}) => {
    const answer = proxy(new NextRequest(url, { headers })).headers;
    const upgrades = answer.get("content-security-policy")?.includes("upgrade-insecure-requests");
    expect(answer.has("strict-transport-security")).toBe(upgrades);
    return upgrades;
  };
  expect(secure("https://admin.invalid/")).toBe(true);
  expect(secure("http://admin.invalid/", { "x-forwarded-proto": "https" })).toBe(true);
  expect(secure("http://admin.invalid/")).toBe(false);
  process.env.NEXTAUTH_URL = "https://admin.invalid";
  expect(secure("http://10.0.0.1:3000/")).toBe(true);
  delete process.env.NEXTAUTH_URL;
});

test("what a session route or document of the API answers is never kept", () => {
  const cached = (path: string) => proxy(new NextRequest(`http://admin.invalid${path}`)).headers.get("cache-control");
  expect(cached("/api/auth/session")).toBe("no-store");
  expect(cached("/")).toBeNull();
});

test("the proxy stays away from routes that read bodies of their own", () => {
  const matches = (path: string) => new RegExp(`^${config.matcher[0]}$`).test(path);
  for (const path of ["/api/events", "/portal/query", "/portal/command", "/api/event-replay/getEventReplayFailure"]) {
    expect(matches(path)).toBe(false);
  }
  for (const path of ["/", "/event-replay/failures", "/sign-in", "/api-docs", "/api/auth/session"])
    expect(matches(path)).toBe(true);
});
