import { expect, type Page, test } from "@playwright/test";
import { breakProjection, expectAccessible, HOST_ID, open, person, ready, signIn } from "./console";

type Plan = { replayRequestId: string; planHash: string; transactionCount: number; failureId: string; reason: string };
type ListAnswer = {
  counts: { waitingForMe: number; mineWaiting: number; notMine: number };
  items: { replayRequestId: string; approve: { allowed: boolean; reason: string | null } }[];
};

/** Calls an operation as whoever is signed in on the page. */
async function ask<T>(page: Page, operation: string, request: object): Promise<T> {
  const answer = await page.request.post(`/api/event-replay/${operation}`, {
    data: { hostId: HOST_ID, ...request },
    headers: { origin: new URL(page.url()).origin },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return await answer.json();
}

/** Plans the replay of `count` open failures as whoever is signed in on the page. */
async function plan(page: Page, count: number, reason: string): Promise<Plan> {
  const open = await ask<{ items: { failureId: string; executable: boolean }[] }>(page, "listEventReplayCandidate", {
    pageSize: 200,
  });
  const failureIds = open.items.filter((f) => f.executable).map((f) => f.failureId);
  const selected = failureIds.slice(0, count);
  const created = await ask<Plan>(page, "createEventReplayPlan", {
    projectionName: "portal-query",
    consumerGroup: "user-query-group",
    failureIds: selected,
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    reason,
  });
  return { ...created, failureId: String(selected[0]), reason };
}

const section = (page: Page, name: string) => page.getByRole("region", { name });
const row = (page: Page, { replayRequestId }: Plan) => page.locator(`tr[data-row="${replayRequestId}"]`);
const unique = (text: string) => `${text} ${Date.now().toString(36)}`;

/** What the server says of one plan to the person of the page. */
async function reasonFor(page: Page, view: string, { replayRequestId }: Plan): Promise<string> {
  const list = await ask<ListAnswer>(page, "listEventReplay", { view, pageSize: 200 });
  const item = list.items.find((i) => i.replayRequestId === replayRequestId);
  expect(item?.approve.allowed).toBe(false);
  return String(item?.approve.reason);
}

test("an inbox and a list without requests say why they are empty and lead on; axe finds nothing", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "dave");
  await open(page, "/approvals");
  const empty = page.locator('[data-state="empty"]');
  await expect(empty).toContainText("Nothing waits for a decision");
  await expect(empty.getByRole("link", { name: "Failures" })).toBeVisible();
  await expectAccessible(page, "inbox, empty");
  await open(page, "/event-replay/requests");
  await expect(empty).toContainText("Nothing was planned yet");
  await expectAccessible(page, "requests, empty");
});

test("ER-UI-17 a plan waits for who may decide; the others see whose it is and, in the server's words, why not they", async ({
  page,
  browser,
}) => {
  test.setTimeout(300_000);
  await signIn(page, "alice");
  await breakProjection(page, 3);
  const [bob, carol] = [await person(browser, "bob"), await person(browser, "carol")];
  const made = await plan(page, 2, unique("Rows were loaded late"));

  await open(bob.page, "/approvals");
  const forBob = section(bob.page, "Waiting for you").locator(`tr[data-row="${made.replayRequestId}"]`);
  await expect(forBob).toContainText(`Replay ${made.transactionCount} transaction`);
  await expect(forBob).toContainText("2 selected");
  await expect(forBob).toContainText("Alice");
  await expect(forBob).toContainText(made.reason);
  await expect(forBob.locator(`[title="${made.planHash}"]`)).toBeVisible();
  await expect(forBob.locator('[data-l="Expires in"] time')).toHaveAttribute("datetime", /Z$/);
  const { counts } = await ask<ListAnswer>(bob.page, "listEventReplay", { view: "WAITING_FOR_ME", pageSize: 1 });
  const nav = bob.page.getByRole("navigation", { name: "Main" });
  await expect(nav.getByRole("link", { name: /^Approvals/ })).toContainText(`${counts.waitingForMe} waiting for you`);
  await forBob.getByRole("link", { name: /^Review/ }).click();
  await expect(bob.page).toHaveURL(new RegExp(`/event-replay/requests/${made.replayRequestId}$`));

  await open(page, "/approvals");
  const forAlice = section(page, "Yours, waiting for others").locator(`tr[data-row="${made.replayRequestId}"]`);
  await expect(forAlice).toContainText(await reasonFor(page, "MINE_WAITING", made));
  await expect(forAlice).toContainText("Bob");
  await expect(forAlice.getByRole("link", { name: /^Review/ })).toHaveCount(0);

  await open(carol.page, "/approvals");
  const forCarol = section(carol.page, "Not yours to decide").locator(`tr[data-row="${made.replayRequestId}"]`);
  await expect(forCarol).toContainText(await reasonFor(carol.page, "NOT_MINE", made));
  await expect(section(carol.page, "Waiting for you")).toContainText("Nothing waits for your decision");
  await bob.context.close();
  await carol.context.close();
});

for (const [name, state] of [
  ["bob", "something to decide"],
  ["carol", "nothing to decide"],
] as const) {
  test(`an inbox with ${state}: axe finds nothing in both themes at both widths`, async ({ page, browser }) => {
    test.setTimeout(180_000);
    const alice = await person(browser, "alice");
    await breakProjection(alice.page, 1);
    const made = await plan(alice.page, 1, unique("To be looked at"));
    await alice.context.close();
    await signIn(page, name);
    await open(page, "/approvals");
    await expect(row(page, made)).toBeVisible();
    await expectAccessible(page, `inbox, ${state}`);
  });
}

test("ER-UI-04 the list of requests shows status, deadline, requester, approver and progress; filters stand in the address", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page, "alice");
  await breakProjection(page, 3);
  const made = await plan(page, 1, unique("To be listed"));
  await open(page, "/event-replay/requests");
  await expect(row(page, made)).toContainText("Awaiting approval");
  await expect(row(page, made)).toContainText("expires in");
  await expect(row(page, made).locator('[data-l="Asked by"]')).toContainText(`You${made.reason}`);
  await expect(row(page, made).locator('[data-l="Approved by"]')).toHaveText("nobody yet");
  await expect(row(page, made).locator('[data-l="Progress"]')).toContainText(`0 of ${made.transactionCount}`);
  await expectAccessible(page, "requests, full");

  await page.getByRole("button", { name: "Status: all. Change" }).click();
  await page.getByRole("button", { name: "awaiting approval", exact: true }).click();
  await expect(page).toHaveURL(/\?status=waiting$/);
  await expect(row(page, made)).toBeVisible();
  await page.reload();
  await ready(page);
  await expect(page.getByRole("button", { name: "Status: awaiting approval. Change" })).toBeVisible();

  await open(page, `/event-replay/requests?failureId=${made.failureId}`);
  await expect(row(page, made)).toBeVisible();
  await open(page, "/event-replay/requests?failureId=01a22cbd-1170-76db-9af9-3ad1fc37e98e");
  await expect(page.locator('[data-state="no-match"]')).toContainText("would show");
  await page.getByRole("button", { name: "Remove that filter" }).click();
  await expect(row(page, made)).toBeVisible();
});

test("a request made while the list is open is counted and moves no row until it is asked for", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "alice");
  await breakProjection(page, 3);
  const first = await plan(page, 1, unique("Before"));
  await open(page, "/event-replay/requests");
  await expect(row(page, first)).toBeVisible();
  const second = await plan(page, 1, unique("While open"));
  const show = page.getByRole("button", { name: "1 new since you opened the page, show" });
  await expect(show).toBeVisible({ timeout: 30_000 });
  await expect(row(page, second)).toHaveCount(0);
  await expect(page.locator("tr[data-row]").first()).toHaveAttribute("data-row", first.replayRequestId);
  await show.click();
  await expect(page.locator("tr[data-row]").first()).toHaveAttribute("data-row", second.replayRequestId);
});

test("the keyboard and an address alone lead to the inbox and to a request", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "alice");
  await breakProjection(page, 1);
  const made = await plan(page, 1, unique("To be found"));
  const address = new RegExp(`/event-replay/requests/${made.replayRequestId}$`);
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await expect(page).toHaveURL(/\/approvals$/);
  await expect(row(page, made)).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.locator("tr.cur")).toHaveCount(1);
  const id = await page.locator("tr.cur").getAttribute("data-row");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${id}$`));
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Go to id, scope, page" }).fill(` ${made.replayRequestId.toUpperCase()} `);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(address);
  for (const from of ["/event-replay/requests", "/"]) {
    await page.goto(`${from}?replayRequestId=${made.replayRequestId}`);
    await expect(page).toHaveURL(address);
  }
});

test("an inbox and a list that cannot be read say what was not changed, and try again", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "dave");
  const reads = "**/api/event-replay/listEventReplay";
  await page.route(reads, (route) => route.abort("connectionrefused"));
  for (const address of ["/approvals", "/event-replay/requests"]) {
    await open(page, address);
    await expect(page.locator('[data-state="error"]')).toContainText("Nothing was changed", { timeout: 20_000 });
    await expectAccessible(page, `${address}, failed`);
  }
  await page.unroute(reads);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator('[data-state="empty"]')).toBeVisible();
});

test("the overview shows what waits for approval, and how the latest recoveries ended", async ({ page, browser }) => {
  test.setTimeout(120_000);
  await signIn(page, "alice");
  await breakProjection(page, 2);
  await plan(page, 1, unique("For the overview"));
  const cancelled = await plan(page, 1, unique("To be cancelled"));
  await ask(page, "cancelEventReplay", {
    replayRequestId: cancelled.replayRequestId,
    planHash: cancelled.planHash,
    reason: "Asked for by mistake.",
  });
  await open(page, "/");
  await expect(page.getByRole("heading", { name: "Waiting for approval" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Recent replays" })).toBeVisible();
  const ended = page.locator(`main li:has(a[href$="${cancelled.replayRequestId}"])`);
  await expect(ended).toContainText("Cancelled");
  await expect(ended).toContainText("nothing ran");
  await expect(page.getByText("Yours, for another").first()).toBeVisible();
  const bob = await person(browser, "bob");
  await expect(bob.page.getByText("For you").first()).toBeVisible();
  await bob.context.close();
});
