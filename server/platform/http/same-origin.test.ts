import { expect, test } from "vitest";
import type { Actor } from "./operation-context";
import { RefusedCaller } from "./refused-caller";
import { requireSameOrigin } from "./same-origin";

const actor = { personId: "i|a" } as Actor;
const JSON_TYPE = { "content-type": "application/json" };

function passes(headers: Record<string, string>, method = "POST", publicUrl: string | null = null): boolean {
  const request = new Request("http://admin.invalid:3000/portal/query", {
    method,
    headers: { host: "admin.invalid:3000", ...headers },
  });
  try {
    requireSameOrigin(request, actor, publicUrl);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedCaller);
    expect((error as RefusedCaller).actor).toBe(actor);
    return false;
  }
}

test("ER-APR-18 a change by cookie needs Origin of our site, or Sec-Fetch-Site that says the same", () => {
  const own = "http://admin.invalid:3000";
  expect(passes({ ...JSON_TYPE, origin: own })).toBe(true);
  expect(passes({ ...JSON_TYPE, "sec-fetch-site": "same-origin" })).toBe(true);
  for (const headers of [
    {},
    { origin: "null" },
    { origin: "http://admin.invalid" },
    { origin: "http://sub.admin.invalid:3000" },
    { origin: "ftp://admin.invalid:3000" },
    { origin: "http://evil.invalid", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "none" },
    { referer: `${own}/` },
  ] as Record<string, string>[]) {
    expect(passes({ ...JSON_TYPE, ...headers }), JSON.stringify(headers)).toBe(false);
  }
  expect(passes({ origin: own })).toBe(false);
  expect(passes({ origin: own, "content-type": "text/plain" })).toBe(false);
});

test("ER-APR-18 a read by cookie and GET needs a page of ours too, or the address bar", () => {
  expect(passes({ "sec-fetch-site": "same-origin" }, "GET")).toBe(true);
  expect(passes({ "sec-fetch-site": "none" }, "GET")).toBe(true);
  expect(passes({ referer: "http://admin.invalid:3000/notifications" }, "GET")).toBe(true);
  for (const headers of [
    {},
    { referer: "http://evil.invalid/" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", referer: "http://admin.invalid:3000/" },
  ] as Record<string, string>[]) {
    expect(passes(headers, "GET"), JSON.stringify(headers)).toBe(false);
  }
});

test("ER-APR-18 where a deployment names its URL, no other origin is ours, not even the one a request was sent to", () => {
  const publicUrl = "https://console.example.org";
  expect(passes({ ...JSON_TYPE, origin: publicUrl }, "POST", publicUrl)).toBe(true);
  expect(passes({ ...JSON_TYPE, origin: "http://console.example.org" }, "POST", publicUrl)).toBe(false);
  expect(passes({ ...JSON_TYPE, origin: "http://admin.invalid:3000" }, "POST", publicUrl)).toBe(false);
});
