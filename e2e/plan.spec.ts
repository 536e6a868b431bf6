import { expect, type Page, test } from "@playwright/test";
import { breakProjection, expectAccessible, HOST_ID, open, ready, signIn } from "./console";

type Candidate = {
  failureId: string;
  errorCode: string;
  primaryScope: { scopeType: string; scopeKey: string; version: number };
};
type Item = { failureId: string; addedDependency: boolean; dependencyReason: string };

const ask = async (page: Page, operation: string, data: object) => {
  const headers = { origin: new URL(page.url()).origin };
  const answer = await page.request.post(`/api/event-replay/${operation}`, {
    data: { hostId: HOST_ID, ...data },
    headers,
  });
  return { status: answer.status(), body: await answer.json() };
};

/** Open failures that wait for an earlier version of their scope. */
const cascades = async (page: Page): Promise<Candidate[]> => {
  const { body } = await ask(page, "listEventReplayCandidate", { errorCode: "REPLAY_GAP", pageSize: 200 });
  return body.items;
};

/** Until the preview stands there; returns the plan it was read from. */
async function preview(page: Page, act: () => Promise<unknown>): Promise<{ items: Item[]; transactionCount: number }> {
  const read = page.waitForResponse((r) => r.url().endsWith("/getEventReplay") && r.ok(), { timeout: 30_000 });
  await act();
  const plan = await (await read).json();
  expect(plan.validationMode).toBe("VALIDATE_ONLY");
  const n = plan.transactionCount as number;
  await expect(
    page.getByRole("heading", { name: new RegExp(`^Replay ${n} transactions? in`), level: 1 }),
  ).toBeVisible();
  return plan;
}

const createButton = (page: Page) => page.getByRole("button", { name: /^Create plan of \d+$/ });

test("ER-UI-03 ER-PLN-06 a selection of two pages survives refresh, and its preview tells selected from added with the reason", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page, "alice");
  await breakProjection(page, 30);
  // One from the first page, one from the second; the second one waits for a predecessor where the list has one.
  await open(page, "/event-replay/failures?view=flat");
  const rows = page.locator("tr[data-row]");
  await expect(rows.first()).toBeVisible();
  const gaps = new Set((await cascades(page)).map((c) => c.failureId));
  const pick = async (): Promise<string> => {
    const shown = await rows.evaluateAll((all) => all.map((row) => (row as HTMLElement).dataset.row as string));
    const id = shown.find((s) => gaps.has(s)) ?? (shown[0] as string);
    await page.locator(`tr[data-row="${id}"]`).getByRole("checkbox").check();
    return id;
  };
  const first = await pick();
  await page.getByRole("button", { name: "Older" }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(page.locator(`tr[data-row="${first}"]`)).toHaveCount(0);
  const second = await pick();
  await page.reload();
  await ready(page);
  await expect(page.getByText("2 selected, frozen")).toBeVisible();

  const plan = await preview(page, () => page.getByRole("link", { name: "Plan replay of 2" }).click());
  await expect(page).toHaveURL(/\/event-replay\/plan\?selection=\d+$/);
  const selected = plan.items.filter((i) => !i.addedDependency).map((i) => i.failureId);
  expect(new Set(selected)).toEqual(new Set([first, second]));
  const added = plan.items.filter((i) => i.addedDependency);
  expect(added.length).toBeGreaterThan(0);
  await expect(page.getByText(`2 selected, ${added.length} added`)).toBeVisible();
  const table = page.getByRole("table", { name: "Items of the plan" });
  await expect(table.locator("tbody tr")).toHaveCount(plan.items.length);
  await expect(table).toContainText(added[0]?.dependencyReason as string);
  await page.getByRole("button", { name: `Only added, ${added.length}` }).click();
  await expect(table.locator("tbody tr")).toHaveCount(added.length);
  await expect(page.getByRole("img", { name: /projected|nothing projected yet/ })).toBeVisible();
  await expectAccessible(page, "plan, preview");

  await preview(page, async () => {
    await page.reload();
    await ready(page);
  });
  await expect(page.getByText("2 selected, frozen")).toBeVisible();
});

test("ER-PLN-07 EXACT is refused with exactly the missing versions, each failure that holds one, and the way on", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page, "alice");
  await breakProjection(page);
  const [gap] = await cascades(page);
  const failureId = gap?.failureId as string;
  await preview(page, () => open(page, `/event-replay/plan?failureId=${failureId}`));
  const said = page.waitForResponse((r) => r.url().endsWith("/createEventReplayPlan"));
  await page.getByRole("radio", { name: /Only the selected/ }).check();
  const refusal = await (await said).json();
  expect(refusal.code).toBe("REPLAY_GAP");

  const refused = page.locator('[data-state="refused"]');
  await expect(refused).toContainText("REPLAY_GAP");
  await expect(refused).toContainText("Nothing was changed.");
  const missing: { version: number }[] = refusal.details.missing;
  const versions = missing.map((m) => m.version).sort((a, b) => a - b);
  const cell = page.getByRole("table", { name: "Missing versions" }).locator('[data-l="Missing"]').first();
  for (const end of [versions[0], versions.at(-1)]) await expect(cell).toHaveText(new RegExp(`\\b${end}\\b`));
  for (const id of refusal.details.failureIds) await expect(refused.locator(`a[href$="${id}"]`)).toBeVisible();
  await expect(createButton(page)).toHaveAttribute("aria-disabled", "true");
  await expectAccessible(page, "plan, refused");

  const plan = await preview(page, () => page.getByRole("button", { name: "Add what must run first" }).click());
  expect(plan.items.map((i) => i.failureId)).toEqual(expect.arrayContaining(refusal.details.failureIds));
  await expect(createButton(page)).not.toHaveAttribute("aria-disabled", "true");
});

test("ER-PLN-17 one plan comes of a double click and of a lost answer; it is the preview's, and its page opens", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page, "alice");
  await breakProjection(page);
  const [gap] = await cascades(page);
  await open(page, `/event-replay/failures/${gap?.failureId}`);
  await expect(page.getByRole("heading", { name: "Replay original" })).toBeVisible();
  const seen = await preview(page, () => page.keyboard.press("p"));

  await createButton(page).click();
  await expect(page.getByText("Give a reason.")).toBeVisible();
  await page.getByRole("textbox", { name: "Reason" }).fill("  The column is wide enough now  ");
  const sent: { idempotencyKey: string; reason: string; validationMode: string }[] = [];
  await page.route("**/api/event-replay/createEventReplayPlan", async (route) => {
    sent.push(route.request().postDataJSON());
    if (sent.length > 1) return await route.continue();
    // The server has it; its answer is lost on the way back.
    await route.fetch();
    await route.abort("connectionreset");
  });
  await createButton(page).dblclick();
  await expect(page.getByText("It is not known whether the plan was created")).toBeVisible();
  expect(sent).toHaveLength(1);
  await expectAccessible(page, "plan, answer lost");
  await page.getByRole("button", { name: "Ask for the plan again" }).click();
  await expect(page).toHaveURL(/\/event-replay\/requests\/[0-9a-f-]{36}$/);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
  expect(sent[0]).toMatchObject({ validationMode: "EXECUTE", reason: "The column is wide enough now" });

  const replayRequestId = page.url().split("/").at(-1) as string;
  const { body: plan } = await ask(page, "getEventReplay", { replayRequestId });
  expect(plan.status).toBe("AWAITING_APPROVAL");
  expect(plan.items.map((i: Item) => i.failureId)).toEqual(seen.items.map((i) => i.failureId));
  const { body: list } = await ask(page, "listEventReplay", { failureId: gap?.failureId });
  expect(list.items.filter((r: { replayRequestId: string }) => r.replayRequestId === replayRequestId)).toHaveLength(1);

  await open(page, `/event-replay/failures/${gap?.failureId}`);
  await expect(page.locator(`a[href="/event-replay/requests/${replayRequestId}"]`)).toBeVisible();
  // It holds failures that other tests plan too.
  const { status } = await ask(page, "cancelEventReplay", {
    replayRequestId,
    planHash: plan.planHash,
    reason: "Only looked at",
  });
  expect(status).toBe(200);
});

test("what a plan holds stays marked in the frozen selection; the rest is planned from the same one", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page, "alice");
  await breakProjection(page, 5);
  await open(page, "/event-replay/failures?view=flat&code=PROJECTION_FAILED");
  const boxes = page.locator("tr[data-row]").getByRole("checkbox");
  for (const at of [0, 1, 2]) await boxes.nth(at).check();
  await preview(page, () => page.getByRole("link", { name: "Plan replay of 3" }).click());
  await preview(page, () => page.getByLabel("How many at first").selectOption({ label: "First 1, then the rest" }));
  await page.getByRole("textbox", { name: "Reason" }).fill("One first");
  await createButton(page).click();
  await expect(page).toHaveURL(/\/event-replay\/requests\/[0-9a-f-]{36}$/);
  const replayRequestId = page.url().split("/").at(-1) as string;
  await open(page, "/event-replay/failures?view=flat");
  await expect(page.getByText("3 selected, frozen")).toBeVisible();
  const { body: plan } = await ask(page, "getEventReplay", { replayRequestId });
  await expect(page.getByText(/^\d planned$/)).toBeVisible();
  await expect(page.getByRole("link", { name: /^Plan the other [12]$/ })).toBeVisible();
  // A plan that came to nothing gives its failures back without being asked.
  await ask(page, "cancelEventReplay", { replayRequestId, planHash: plan.planHash, reason: "Only looked at" });
  await expect(page.getByRole("link", { name: "Plan replay of 3" })).toBeVisible({ timeout: 30_000 });
});

test("who may only read sees why nothing can be planned; an empty tab says where a selection is made", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page, "carol");
  await open(page, "/event-replay/plan");
  await expect(page.getByText("Nothing is selected in this tab")).toBeVisible();
  await expectAccessible(page, "plan, nothing selected");
  await open(page, "/event-replay/failures?view=flat");
  const row = page.locator("tr[data-row]").first();
  await row.getByRole("checkbox").check();
  const button = page.getByRole("button", { name: "Plan replay of 1" });
  await expect(button).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Your role may read failures, not plan a replay.")).toBeVisible();
  await open(page, `/event-replay/plan?failureId=${await row.getAttribute("data-row")}`);
  await expect(createButton(page)).toHaveAttribute("aria-disabled", "true");
  await expectAccessible(page, "plan, not allowed");
});
