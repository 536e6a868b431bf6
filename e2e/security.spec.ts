import { expect, type Page, test } from "@playwright/test";
import { breakProjection, HOST_ID, open, signIn } from "./console";

async function call(page: Page, operation: string, request: object, origin = new URL(page.url()).origin) {
  const answer = await page.request.post(`/api/event-replay/${operation}`, {
    data: { hostId: HOST_ID, ...request },
    headers: { origin },
  });
  return { status: answer.status(), headers: answer.headers(), body: await answer.json() };
}

const planOf = (failureId: string) => ({
  projectionName: "portal-query",
  consumerGroup: "user-query-group",
  failureIds: [failureId],
  strategy: "DEPENDENCY_CLOSURE",
  validationMode: "EXECUTE",
  reason: "The handler was corrected",
});

test("ER-APR-18 every page has a policy with its own nonce, breaks it nowhere, and runs no script put into it; another origin's call changes nothing", async ({
  page,
}) => {
  test.setTimeout(120_000);
  const broken: string[] = [];
  await page.exposeFunction("reportBroken", (what: string) => void broken.push(what));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      const report = (window as unknown as { reportBroken: (what: string) => void }).reportBroken;
      report(`${location.pathname}: ${event.effectiveDirective} ${event.blockedURI}`);
    });
  });
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) broken.push(message.text());
  });

  await signIn(page, "alice");
  await breakProjection(page);
  const list = await call(page, "listEventReplayCandidate", { pageSize: 1 });
  expect(list.headers["cache-control"]).toContain("no-store");
  expect(list.headers["x-content-type-options"]).toBe("nosniff");
  const failureId: string = list.body.items[0].failureId;
  const { body: plan } = await call(page, "createEventReplayPlan", planOf(failureId));

  const nonces = new Set<string>();
  const addresses = [
    "/",
    "/event-replay/failures",
    `/event-replay/failures/${failureId}`,
    `/event-replay/plan?failureId=${failureId}`,
    "/event-replay/requests",
    `/event-replay/requests/${plan.replayRequestId}`,
    "/approvals",
    "/notifications",
    "/audit",
    "/api-docs",
    "/sign-in",
    "/no-such-page",
  ];
  for (const address of addresses) {
    const answer = await page.goto(address);
    await page.waitForLoadState("networkidle");
    const headers = answer?.headers() ?? {};
    const policy = headers["content-security-policy"] ?? "";
    expect(policy, address).toContain("frame-ancestors 'none'");
    expect(policy, address).not.toMatch(/script-src [^;]*'unsafe-/);
    nonces.add(/'nonce-([^']+)'/.exec(policy)?.[1] ?? "");
    expect(headers["x-content-type-options"], address).toBe("nosniff");
  }
  expect(nonces.size).toBe(addresses.length);
  expect(nonces.has("")).toBe(false);
  expect(broken).toEqual([]);

  await open(page, "/");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
  });
  expect(await page.evaluate(() => "injected" in window)).toBe(false);
  await expect.poll(() => broken.length).toBeGreaterThan(0);

  const cancel = { replayRequestId: plan.replayRequestId, planHash: plan.planHash, reason: "From elsewhere" };
  const refused = await call(page, "cancelEventReplay", cancel, "https://evil.example");
  expect(refused.status).toBe(403);
  const { body: after } = await call(page, "getEventReplay", { replayRequestId: plan.replayRequestId });
  expect(after.status).toBe("AWAITING_APPROVAL");
  // The same call from the console's own origin is what the person may do.
  expect((await call(page, "cancelEventReplay", cancel)).status).toBe(200);
});
