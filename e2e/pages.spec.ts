import { randomUUID } from "node:crypto";
import { expect, type Page, test } from "@playwright/test";
import { breakProjection, expectAccessible, HOST_ID, open, person, ready, script, signIn } from "./console";

/** Answers every read of one operation with a failure of ours, as an outage would. */
const outage = (page: Page, operation: string) =>
  page.route(`**/api/event-replay/${operation}`, (route) => route.abort("connectionrefused"));

/** Keeps every read of one operation waiting. */
const silence = (page: Page, operation: string) => page.route(`**/api/event-replay/${operation}`, () => {});

const PAGES = [
  { name: "overview", address: "/", read: "getEventReplayOverview" },
  { name: "failures", address: "/event-replay/failures", read: "listEventReplayCause" },
  { name: "notifications", address: "/notifications", read: "getNotification" },
] as const;

test("ER-UI-02 an empty list says that only failures captured whole appear, and that notifications cannot be replayed", async ({
  page,
}) => {
  await signIn(page, "dave");
  await open(page, "/event-replay/failures");
  const empty = page.locator('[data-state="empty"]');
  await expect(empty).toContainText("Everything projected");
  await expect(empty).toContainText("Only failures captured whole appear here");
  await expect(empty).toContainText("cannot be replayed");
  await expect(empty.getByRole("link", { name: "Notifications" })).toHaveAttribute("href", "/notifications");
});

for (const { name, address, read } of PAGES) {
  test(`${name}: empty, failed and waiting, axe finds nothing in both themes at both widths`, async ({ page }) => {
    test.setTimeout(180_000);
    await signIn(page, "dave");
    await open(page, address);
    await expect(page.locator('[data-state="empty"]').first()).toBeVisible();
    await expectAccessible(page, `${name}, empty`);

    await outage(page, read);
    await open(page, address);
    await expect(page.locator('[data-state="error"]')).toContainText("Nothing was changed", { timeout: 20_000 });
    await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
    await expectAccessible(page, `${name}, failed`);

    await page.unroute(`**/api/event-replay/${read}`);
    await silence(page, read);
    await open(page, address);
    await expect(page.locator('[data-state="loading"]').first()).toBeAttached();
    await expectAccessible(page, `${name}, waiting`);
  });
}

test("sign-in: axe finds nothing, also with a refused password", async ({ page }) => {
  await open(page, "/sign-in");
  await expectAccessible(page, "sign-in");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: /^Sign in/ }).click();
  await expect(page.locator("#password-problem")).toBeVisible();
  await expectAccessible(page, "sign-in, refused");
});

test("ER-UI-01 the list shows each open failure with member count, event type, scope and version, error and time", async ({
  page,
}) => {
  await signIn(page, "alice");
  await breakProjection(page);
  await open(page, "/event-replay/failures?view=flat");
  await expect(page.locator("tr[data-row]").first()).toBeVisible();
  const row = page.locator("tr[data-row]").first();
  const id = await row.getAttribute("data-row");
  const answer = await page.request.post("/api/event-replay/getEventReplayFailure", {
    data: { hostId: HOST_ID, failureId: id },
    headers: { origin: new URL(page.url()).origin },
  });
  expect(answer.status()).toBe(200);
  const failure = await answer.json();
  expect(failure.status).toBe("OPEN");
  await expect(row).toContainText(failure.eventTypes.first);
  await expect(row.locator('[data-l="Members"]')).toHaveText(String(failure.eventCount));
  await expect(row.locator('[data-l="Scope"]')).toContainText(`v${failure.primaryScope.version}`);
  await expect(row).toContainText(failure.cause.sentence);
  await expect(row).toContainText(failure.errorCode);
  await expect(row.locator('[data-l="Last failed"] time')).toHaveAttribute("datetime", failure.lastFailedTs);

  await page.getByRole("button", { name: "By cause" }).click();
  await expect(page.locator("tr.grp").first()).toContainText(/\d/);
});

test("ER-UI-02 notifications are for reading: nothing selects or replays them, a captured one leads to its failure", async ({
  page,
}) => {
  await signIn(page, "alice");
  await open(page, "/notifications");
  const table = page.getByRole("table", { name: "Notifications, for reading only" });
  await expect(table.locator("tbody tr").first()).toBeVisible();
  await expect(page.getByText("None of them can be replayed")).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
  await expect(page.getByRole("main").getByRole("button", { name: /replay|retry/i })).toHaveCount(0);
  await table
    .getByRole("link", { name: /^Replay happens at failure/ })
    .first()
    .click();
  await expect(page).toHaveURL(/\/event-replay\/failures\/[0-9a-f-]{36}$/);
  await expect(page.getByText("That row is for reading only; replay happens here.")).toBeVisible();
});

/** Names that no member of an answer may have: they would carry what the archive guards. */
const FORBIDDEN =
  /^(payload|payloadPlain|payloadCiphertext|payloadPlaintext|eventBytes|event_bytes|data|body|value|recordKey|messageKey|headers|header|storageReference|payloadReference|objectKey)$/i;

function forbiddenMembers(value: unknown, at = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((v, i) => forbiddenMembers(v, `${at}/${i}`));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(FORBIDDEN.test(name) || (name === "eventJson" && inner !== null) ? [`${at}/${name}`] : []),
    ...forbiddenMembers(inner, `${at}/${name}`),
  ]);
}

test("ER-UI-27 no answer that reaches the browser holds a payload, key, header or storage reference", async ({
  page,
}) => {
  const canary = `CANARY-${randomUUID()}`;
  const userId = randomUUID();
  const token = script("token", "alice").split(/\s/).at(-1);
  const event = {
    specversion: "1.0",
    id: randomUUID(),
    source: "https://example.org/portal",
    type: "RoleUserCreatedEvent",
    subject: `no-such-role|${userId}`,
    aggregatetype: "RoleUser",
    aggregateversion: 1,
    host: HOST_ID,
    user: randomUUID(),
    nonce: 1,
    time: new Date().toISOString(),
    datacontenttype: "application/json",
    data: { hostId: HOST_ID, roleId: "no-such-role", userId, endTs: "2031-01-01T00:00:00Z", note: canary },
  };
  await signIn(page, "alice");
  const appended = await page.request.post("/api/events", {
    data: [event],
    headers: { authorization: `Bearer ${token}` },
  });
  expect(appended.status(), await appended.text()).toBe(200);

  const bodies: { url: string; text: string }[] = [];
  page.on("response", async (response) => {
    const type = response.headers()["content-type"] ?? "";
    if (!/json|html|x-component/.test(type)) return;
    // An answer that a navigation cut off reached nobody.
    const text = await response.text().catch(() => "");
    if (text !== "") bodies.push({ url: response.url(), text });
  });
  const scope = encodeURIComponent(`RoleUser:no-such-role|${userId}`);
  await open(page, `/event-replay/failures?view=flat&scopeType=AGGREGATE&scopeKey=${scope}`);
  const link = page.locator("tr[data-row] a").first();
  await expect(async () => {
    await page.reload();
    await expect(link).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 30_000 });
  await link.click();
  await expect(page.getByRole("heading", { name: "Members" })).toBeVisible();
  await expect(page.getByText("payloads are never shown")).toBeVisible();
  expect(await page.content()).not.toContain(canary);
  for (const address of ["/", "/event-replay/failures", "/notifications"]) {
    await open(page, address);
    await page.waitForLoadState("networkidle");
    expect(await page.content()).not.toContain(canary);
  }

  const operations = bodies.filter((b) => b.url.includes("/api/event-replay/"));
  expect(operations.length).toBeGreaterThan(5);
  for (const { url, text } of bodies) expect(text.includes(canary), url).toBe(false);
  for (const { url, text } of operations) expect(forbiddenMembers(JSON.parse(text)), url).toEqual([]);
});

test("a frozen selection keeps its ids over paging, filters and reload, and is nothing to another person", async ({
  page,
  browser,
}) => {
  test.setTimeout(180_000);
  await signIn(page, "alice");
  await breakProjection(page, 30);
  await open(page, "/event-replay/failures?view=flat");
  const rows = page.locator("tr[data-row]");
  await expect(rows.first()).toBeVisible();
  const ids = [await rows.nth(1).getAttribute("data-row"), await rows.nth(3).getAttribute("data-row")];
  await rows.nth(1).getByRole("checkbox").check();
  await rows.nth(3).getByRole("checkbox").check();
  await expect(page.getByText("2 selected, frozen")).toBeVisible();

  await page.getByRole("button", { name: "Older" }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(page.getByText("2 selected, frozen")).toBeVisible();
  await page.reload();
  await ready(page);
  await expect(page.getByText("2 selected, frozen")).toBeVisible();
  await open(page, "/event-replay/failures?view=flat&code=REPLAY_GAP");
  await expect(page.getByText("2 selected, frozen")).toBeVisible();
  await page.getByRole("button", { name: "Review selection" }).click();
  const dialog = page.getByRole("dialog", { name: "Selection of 2" });
  for (const id of ids) await expect(dialog.locator(`a[href$="${id}"]`)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();

  const bob = await person(browser, "bob");
  await open(bob.page, "/event-replay/failures?view=flat");
  await expect(bob.page.locator("tr[data-row]").first()).toBeVisible();
  await expect(bob.page.getByText(/selected, frozen/)).toHaveCount(0);
  await bob.context.close();

  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect(page.getByText(/selected, frozen/)).toHaveCount(0);
});

test("the keyboard alone finds, selects and opens a failure, and goes anywhere", async ({ page }) => {
  await signIn(page, "alice");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await expect(page).toHaveURL(/\/event-replay\/failures/);
  await expect(page.locator("tr[data-row]").first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const current = page.locator("tr.cur");
  await expect(current).toHaveCount(1);
  const id = await current.getAttribute("data-row");
  await page.keyboard.press("x");
  await expect(page.getByText("1 selected, frozen")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText(/selected, frozen/)).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`${id}$`));
  await page.keyboard.press("/");
  const goTo = page.getByRole("combobox", { name: "Go to id, scope, page" });
  await expect(goTo).toBeFocused();
  await goTo.fill("notif");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/notifications$/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("filters that match nothing name the filter to remove and what it would show", async ({ page }) => {
  await signIn(page, "alice");
  await open(page, "/event-replay/failures?code=NO_SUCH_CODE");
  const none = page.locator('[data-state="no-match"]');
  await expect(none).toContainText("No open failure matches this filter");
  await expect(none).toContainText(/Removing Error code would show \d+/);
  await expectAccessible(page, "failures, no match");
  await none.getByRole("button", { name: "Remove that filter" }).click();
  await expect(page.locator("tr.grp").first()).toBeVisible();
});

test("ER-UI-06 both ways out stand on the failure's page, apart: one leads to a plan, the other says why it is not open", async ({
  page,
}) => {
  await signIn(page, "alice");
  await open(page, "/event-replay/failures?view=flat");
  await page.locator("tr[data-row] a").first().click();
  const aside = page.getByRole("complementary", { name: "What you can do" });
  await expect(aside.getByRole("heading", { name: "Replay original" })).toBeVisible();
  await expect(aside.getByRole("link", { name: /^Plan replay of (at least )?\d+$/ })).toHaveAttribute(
    "href",
    /\/event-replay\/plan\?failureId=[0-9a-f-]{36}$/,
  );
  await expect(aside.getByRole("heading", { name: "Repair" })).toBeVisible();
  await expect(aside.getByText(/the whole transaction of \d+ members?/)).toBeVisible();
  const control = aside.getByRole("button", { name: "Propose repair" });
  await expect(control).toHaveAttribute("aria-disabled", "true");
  const why = await control.getAttribute("aria-describedby");
  await expect(page.locator(`[id="${why}"]`)).not.toBeEmpty();
  await control.focus();
  await expect(control).toBeFocused();
});

for (const { name, address } of [...PAGES, { name: "failures, flat", address: "/event-replay/failures?view=flat" }]) {
  test(`${name}: full, axe finds nothing in both themes at both widths`, async ({ page }) => {
    test.setTimeout(120_000);
    await signIn(page, "alice");
    await open(page, address);
    await expect(page.locator("main tbody tr").first()).toBeVisible();
    await expectAccessible(page, `${name}, full`);
  });
}

test("one failure: axe finds nothing, also with dialogs and menus open", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page, "alice");
  await open(page, "/event-replay/failures?view=flat&code=REPLAY_GAP");
  await page.locator("tr[data-row] a").first().click();
  await expect(page.getByRole("heading", { name: "What must run first" })).toBeVisible();
  await expectAccessible(page, "failure, full");
  await page.keyboard.press("?");
  await expectAccessible(page, "keys dialog");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await expectAccessible(page, "go-to dialog");
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Menu" }).click();
  await expect(page.getByRole("dialog", { name: "Menu" })).toBeVisible();
  await expectAccessible(page, "phone menu");
  await open(page, "/event-replay/failures/01a22cbd-1170-76db-9af9-3ad1fc37e98e");
  await expect(page.getByRole("heading", { name: "There is no such failure on this host" })).toBeVisible();
  await expectAccessible(page, "failure, absent");
});

test("the overview's demo buttons break the projection and fix the handler, and say what became of it", async ({
  page,
}) => {
  await signIn(page, "alice");
  await page.getByRole("button", { name: /^Break (a projection|again)$/ }).click();
  await expect(page.getByText(/The defect is on\. \d+ transactions appended/)).toBeVisible();
  await expect(page.getByText(/Defect on since/)).toBeVisible();
  await page.getByRole("button", { name: "Fix the handler" }).click();
  await expect(page.getByText(/The defect is off\. .*stay open until someone replays them/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Break a projection" })).toBeVisible();
});

test("theme and time zone are remembered and stand in the first answer of the server", async ({ page }) => {
  await signIn(page, "alice");
  await page.getByRole("button", { name: "Switch theme" }).click();
  const theme = await page.locator("html").getAttribute("data-theme");
  await page
    .getByRole("banner")
    .getByRole("button", { name: /^Times are shown in/ })
    .click();
  const answer = await page.request.get("/");
  expect(await answer.text()).toContain(`data-theme="${theme}"`);
  await page.reload();
  await ready(page);
  await expect(page.locator("html")).toHaveAttribute("data-theme", theme ?? "");
});

test("no page logs an error or breaks its content security policy", async ({ page }) => {
  const said: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") said.push(message.text());
  });
  page.on("pageerror", (error) => said.push(String(error)));
  await signIn(page, "alice");
  for (const address of ["/", "/event-replay/failures", "/event-replay/failures?view=flat", "/notifications"]) {
    await open(page, address);
    await page.waitForLoadState("networkidle");
  }
  expect(said).toEqual([]);
});
