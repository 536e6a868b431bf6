import { randomUUID } from "node:crypto";
import { expect, type Page, test } from "@playwright/test";
import { breakProjection, HOST_ID, open, person, ready, rebuilt, script, signIn } from "./console";

type Answer = { status: number; body: Record<string, never> & { code?: string } };
type Replay = {
  status: string;
  planHash: string;
  stale: boolean;
  transactionCount: number;
  projectionCommitted: boolean;
  totals: { succeeded: number; pending: number; running: number; failed: number };
  lanes: { verdict: string }[];
  history: { event: string }[];
};

/** Calls an operation as whoever is signed in on the page, as a forged request would. */
async function call(page: Page, operation: string, request: object): Promise<Answer> {
  const answer = await page.request.post(`/api/event-replay/${operation}`, {
    data: { hostId: HOST_ID, ...request },
    headers: { origin: new URL(page.url()).origin },
  });
  return { status: answer.status(), body: await answer.json() };
}

async function read<T>(page: Page, operation: string, request: object): Promise<T> {
  const { status, body } = await call(page, operation, request);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as unknown as T;
}

const getReplay = (page: Page, replayRequestId: string) => read<Replay>(page, "getEventReplay", { replayRequestId });

type Failure = { failureId: string; errorCode: string; originalTransactionId: string };
const openFailures = async (page: Page, filter: object = {}): Promise<Failure[]> =>
  (await read<{ items: Failure[] }>(page, "listEventReplayCandidate", { pageSize: 200, ...filter })).items;

/** Open failures whose data is wrong, with or without the defect (other tests leave some too): they need a repair, not a replay. */
const badData = (): ReadonlySet<string> => new Set(rebuilt().failing);

/** Open failures that a replay recovers once the defect is gone. */
async function recoverable(page: Page): Promise<string[]> {
  const bad = badData();
  return (await openFailures(page)).filter((f) => !bad.has(f.originalTransactionId)).map((f) => f.failureId);
}

const requestIdOf = (page: Page): string => String(new URL(page.url()).pathname.split("/").at(-1));

/** Plans by the API what the page would plan; for what a test needs but is not about. */
async function planned(page: Page, failureIds: readonly string[], reason: string) {
  return await read<{ replayRequestId: string; planHash: string }>(page, "createEventReplayPlan", {
    projectionName: "portal-query",
    consumerGroup: "user-query-group",
    failureIds,
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    reason,
  });
}

/** Appends transactions of a new role each until it is stopped; returns how many were taken. */
function keepAppending(page: Page): () => Promise<number> {
  const token = script("token", "alice").split(/\s/).at(-1);
  let [going, taken] = [true, 0];
  const loop = (async () => {
    while (going) {
      const roleId = `live-${randomUUID().slice(0, 8)}`;
      const answer = await page.request.post("/portal/command", {
        headers: { authorization: `Bearer ${token}` },
        data: {
          jsonrpc: "2.0",
          id: roleId,
          method: "lightapi.net/user/createRole/0.1.0",
          params: { hostId: HOST_ID, roleId, roleDesc: "Appended while a replay ran" },
        },
      });
      if ((await answer.json()).result) taken += 1;
    }
  })();
  return async () => {
    going = false;
    await loop;
    return taken;
  };
}

/** Lets everything that is appended be projected, captured or parked. */
const atRest = () =>
  expect(() => expect(script("verify")).toContain("Every appended transaction is accounted for")).toPass({
    timeout: 60_000,
  });

test("ER-UI-28 break, select late failures over two pages, plan with closure, a second person approves, run under live load: all resolved, row for row", async ({
  page,
  browser,
}) => {
  test.setTimeout(300_000);
  await signIn(page, "alice");
  const bob = await person(browser, "bob");
  await breakProjection(page, 45);

  // The late ones, over pages: they failed because an earlier version is missing.
  await open(page, "/event-replay/failures?view=flat");
  const rows = page.locator("tr[data-row]");
  const all = await openFailures(page);
  const late = all.filter((failure) => failure.errorCode === "REPLAY_GAP").length;
  let [seen, selected] = [0, 0];
  for (let pages = 1; seen < all.length; pages++) {
    await expect(rows.first()).toBeVisible();
    for (const row of await rows.filter({ hasText: "REPLAY_GAP" }).all()) {
      await row.getByRole("checkbox").check();
      selected += 1;
    }
    seen += await rows.count();
    await expect(page.getByText(`${selected} selected, frozen`)).toBeVisible();
    if (seen === all.length) expect(pages).toBeGreaterThan(1);
    else {
      const first = await rows.first().getAttribute("data-row");
      await page.getByRole("button", { name: "Older" }).click();
      await expect(rows.first()).not.toHaveAttribute("data-row", String(first));
    }
  }
  expect(selected).toBe(late);
  script("demo", "fix");
  await page.reload();
  await ready(page);
  await page.getByRole("link", { name: `Plan replay of ${late}` }).click();

  // The preview adds what must run first, and creates nothing.
  await expect(page.getByRole("heading", { level: 1, name: /^Replay \d+ transactions in \d+ scopes$/ })).toBeVisible();
  await expect(page.getByText(/\d+ added because a projection never skips a version/)).toBeVisible();
  await page.getByLabel("Reason").fill("The handlers were corrected in release 2.3.6");
  await page.getByRole("button", { name: /^Create plan of \d+$/ }).click();
  await page.waitForURL(/\/event-replay\/requests\/[0-9a-f-]{36}$/);
  await ready(page);
  const requestId = requestIdOf(page);
  const plan = await getReplay(page, requestId);
  expect(plan.transactionCount).toBeGreaterThan(late);

  // The requester can't approve; the second person finds it in the inbox.
  await expect(page.getByRole("button", { name: "Approve this plan" })).toHaveAttribute("aria-disabled", "true");
  await open(bob.page, "/approvals");
  await bob.page
    .locator(`tr[data-row="${requestId}"]`)
    .getByRole("link", { name: /^Review/ })
    .click();
  await bob.page.waitForURL(new RegExp(requestId));
  await ready(bob.page);
  await bob.page.getByLabel("Reason").fill("The order and the closure are right");
  await bob.page.getByRole("button", { name: "Approve this plan" }).dblclick();
  await expect.poll(async () => (await getReplay(page, requestId)).status).toBe("APPROVED");

  // Run, while new commands arrive; the page says what came of it and tells whoever listens, once.
  const stop = keepAppending(page);
  await page.reload();
  await ready(page);
  await page.evaluate(() => {
    const heard: unknown[] = [];
    Object.assign(window, { heard });
    window.addEventListener("portal:event-replay-applied", (event) => heard.push((event as CustomEvent).detail));
  });
  await page.getByLabel("Reason").fill("Now");
  await page.getByRole("button", { name: `Run ${plan.transactionCount} now` }).dblclick();
  await expect(
    page.getByText(`${plan.transactionCount} of ${plan.transactionCount} transactions recovered`),
  ).toBeVisible({ timeout: 60_000 });
  expect(await stop()).toBeGreaterThan(0);
  const heard = await page.evaluate(() => (window as unknown as { heard: unknown[] }).heard);
  expect(heard).toEqual([{ hostId: HOST_ID, replayRequestId: requestId }]);
  const done = await getReplay(page, requestId);
  expect(done).toMatchObject({ status: "SUCCEEDED", projectionCommitted: true });
  expect(done.totals).toEqual({ pending: 0, running: 0, succeeded: plan.transactionCount, failed: 0 });
  expect(done.lanes.every((lane) => lane.verdict === "AS_PLANNED" || lane.verdict === "MOVED_ON")).toBe(true);
  const once = (event: string) => done.history.filter((entry) => entry.event === event).length;
  expect([once("EVENT_REPLAY_PLAN_APPROVED"), once("EVENT_REPLAY_EXECUTION_REQUESTED")]).toEqual([1, 1]);

  // What nobody was late for: the other person asks, the first one approves, the requester runs it.
  const rest = await recoverable(bob.page);
  if (rest.length > 0) {
    const second = await planned(bob.page, rest, "The rest of the same defect");
    const decision = { ...second, reason: "As before" };
    await read(page, "approveEventReplay", pick(decision));
    const ran = await read<{ status: string }>(bob.page, "executeEventReplay", pick(decision));
    expect(ran.status).toBe("SUCCEEDED");
  }
  await atRest();

  // A second look: everything that was ever appended, projected afresh without the defect, gives the same rows.
  const second = rebuilt();
  expect(second.differences).toEqual([]);
  const left = (await openFailures(page)).map((failure) => failure.originalTransactionId);
  expect(left.sort()).toEqual(second.failing.sort());
  expect(second.rows).toBeGreaterThan(100);
  await bob.context.close();
});

const pick = ({
  replayRequestId,
  planHash,
  reason,
}: {
  replayRequestId: string;
  planHash: string;
  reason: string;
}) => ({
  replayRequestId,
  planHash,
  reason,
});

test("ER-APR-05 ER-APR-18 nobody approves their own plan by any route: page, operation, JSON-RPC, legacy envelope, bearer token", async ({
  page,
}) => {
  await signIn(page, "alice");
  const { replayRequestId, planHash } = await planned(page, [await anyRecoverable(page)], "Mine");
  const data = { hostId: HOST_ID, replayRequestId, planHash, reason: "I find it good" };
  const method = "lightapi.net/user/approveEventReplay/0.1.0";
  const token = script("token", "alice").split(/\s/).at(-1);
  const routes: [string, object, Record<string, string>][] = [
    ["/api/event-replay/approveEventReplay", data, { origin: new URL(page.url()).origin }],
    ["/api/event-replay/approveEventReplay", data, { authorization: `Bearer ${token}` }],
    ["/portal/command", { jsonrpc: "2.0", id: "1", method, params: data }, { authorization: `Bearer ${token}` }],
    [
      "/portal/command",
      { host: "lightapi.net", service: "user", action: "approveEventReplay", version: "0.1.0", data },
      { authorization: `Bearer ${token}` },
    ],
  ];
  for (const [address, body, headers] of routes) {
    const answer = await page.request.post(address, { data: body, headers });
    expect([address, answer.status()]).toEqual([address, 403]);
    expect(await answer.text()).toContain("AUTHORIZATION_DENIED");
  }
  // What the page locks stays locked when the lock is taken off in the browser.
  await open(page, `/event-replay/requests/${replayRequestId}`);
  const approve = page.getByRole("button", { name: "Approve this plan" });
  await expect(approve).toHaveAttribute("aria-disabled", "true");
  await approve.evaluate((button) => button.removeAttribute("aria-disabled"));
  await approve.click();
  expect(await getReplay(page, replayRequestId)).toMatchObject({ status: "AWAITING_APPROVAL" });
});

/** A failure that a replay can recover; the projection is broken again where all of them are recovered. */
async function anyRecoverable(page: Page): Promise<string> {
  if ((await recoverable(page)).length === 0) {
    script("demo", "break");
    await expect.poll(async () => (await recoverable(page)).length, { timeout: 60_000 }).toBeGreaterThan(0);
  }
  return String((await recoverable(page))[0]);
}

test("ER-APR-12 an old tab can't approve what was withdrawn meanwhile: one outcome, and the tab says which", async ({
  page,
  browser,
}) => {
  await signIn(page, "alice");
  const bob = await person(browser, "bob");
  const plan = await planned(page, [await anyRecoverable(page)], "To be withdrawn");
  await open(bob.page, `/event-replay/requests/${plan.replayRequestId}`);
  await bob.page.getByLabel("Reason").fill("Looks right");
  await expect(bob.page.getByRole("button", { name: "Approve this plan" })).toBeEnabled();
  // The old tab learns nothing until it is used.
  await bob.page.route("**/api/event-replay/getEventReplay", (route) => route.abort("connectionrefused"));
  await read(page, "cancelEventReplay", pick({ ...plan, reason: "Planned by mistake" }));
  await bob.page.getByRole("button", { name: "Approve this plan" }).click();
  await bob.page.unroute("**/api/event-replay/getEventReplay");
  await expect(bob.page.getByRole("alert").filter({ hasText: "INVALID_REPLAY_STATE" })).toBeVisible();
  const now = await getReplay(page, plan.replayRequestId);
  expect(now.status).toBe("CANCELLED");
  expect(now.history.map((entry) => entry.event)).not.toContain("EVENT_REPLAY_PLAN_APPROVED");
  await bob.context.close();
});

test("ER-APR-08 a session that ends, or passes to somebody else, loses nothing typed and decides nothing in their name", async ({
  page,
  browser,
}) => {
  await signIn(page, "alice");
  const plan = await planned(page, [await anyRecoverable(page)], "To be decided");
  const bob = await person(browser, "bob");
  await open(bob.page, `/event-replay/requests/${plan.replayRequestId}`);
  const reason = bob.page.getByLabel("Reason");
  await reason.fill("Half a page of thoughts");
  await bob.context.clearCookies();
  await bob.page.getByRole("button", { name: "Approve this plan" }).click();
  await expect(bob.page.getByRole("alert").filter({ hasText: "UNAUTHENTICATED" })).toBeVisible();
  await expect(bob.page.getByRole("alert").filter({ hasText: "Your session has ended" })).toBeVisible({
    timeout: 40_000,
  });
  await expect(reason).toHaveValue("Half a page of thoughts");

  const other = await bob.context.newPage();
  await signIn(other, "carol");
  await bob.page.getByRole("button", { name: "Approve this plan" }).click();
  await expect(bob.page.getByRole("alert").filter({ hasText: "UNAUTHENTICATED" })).toBeVisible();
  expect(await getReplay(page, plan.replayRequestId)).toMatchObject({ status: "AWAITING_APPROVAL" });

  await other.context().clearCookies();
  await signIn(other, "bob");
  await expect(reason).toHaveValue("Half a page of thoughts");
  await bob.page.getByRole("button", { name: "Approve this plan" }).click();
  await expect.poll(async () => (await getReplay(page, plan.replayRequestId)).status).toBe("APPROVED");
  await bob.context.close();
});
