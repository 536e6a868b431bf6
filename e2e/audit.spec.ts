import fs from "node:fs";
import { expect, type Page, test } from "@playwright/test";
import { breakProjection, expectAccessible, HOST_ID, open, script, signIn } from "./console";

const FORMULA = '=HYPERLINK("https://evil.example","look")';

async function call(page: Page, operation: string, request: object) {
  const answer = await page.request.post(`/api/event-replay/${operation}`, {
    data: { hostId: HOST_ID, ...request },
    headers: { origin: new URL(page.url()).origin },
  });
  return { status: answer.status(), body: await answer.json() };
}

async function exported(page: Page, format: "CSV" | "JSON"): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Export as ${format}` }).click();
  return fs.readFileSync(await (await download).path(), "utf8");
}

test("ER-APR-17 a plan stands in the audit with its reason, filters, and exports as CSV that runs nothing and as JSON", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page, "alice");
  await breakProjection(page);
  const { body: list } = await call(page, "listEventReplayCandidate", { pageSize: 1 });
  const plan = await call(page, "createEventReplayPlan", {
    projectionName: "portal-query",
    consumerGroup: "user-query-group",
    failureIds: [list.items[0].failureId],
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    reason: FORMULA,
  });
  expect(plan.status, JSON.stringify(plan.body)).toBe(200);

  await open(page, "/audit");
  await expect(page.locator("bdi.reason", { hasText: FORMULA }).first()).toBeVisible();
  await expectAccessible(page, "audit, full");
  await page.getByLabel("Find by id").fill(plan.body.replayRequestId);
  await expect(page).toHaveURL(new RegExp(plan.body.replayRequestId));
  await expect(page.locator("tbody tr").first()).toContainText(FORMULA);

  const csv = await exported(page, "CSV");
  expect(csv).toContain("HYPERLINK");
  expect(csv).not.toMatch(/(^|[,\n;\t])"?=/m);
  expect(JSON.stringify(JSON.parse(await exported(page, "JSON")))).toContain("HYPERLINK");
  expect(script("audit-verify")).toMatch(/complete/i);
});

test("ER-APR-17 who may read the audit but not export it is told so, and the export is refused", async ({ page }) => {
  await signIn(page, "carol");
  await open(page, "/audit");
  await expect(page.locator("tbody tr").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Export as CSV" })).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Your roles may read the audit, not export it.").first()).toBeAttached();
  expect((await call(page, "exportAuditEvent", { format: "CSV" })).status).toBe(403);
});
