import { expect, type Page, test } from "@playwright/test";
import { breakProjection, expectAccessible, HOST_ID, open, person, signIn } from "./console";

/** Plans one open failure as the signed-in person of the page, over the API; the id of the request. */
async function plan(page: Page, validationMode: "EXECUTE" | "VALIDATE_ONLY", reason: string): Promise<string> {
  const headers = { origin: new URL(page.url()).origin };
  const call = async (name: string, data: object) =>
    await (
      await page.request.post(`/api/event-replay/${name}`, { data: { hostId: HOST_ID, ...data }, headers })
    ).json();
  const { items } = await call("listEventReplayCandidate", { pageSize: 1 });
  const [failure] = items;
  const { projectionName, consumerGroup, failureId } = failure;
  const answer = await call("createEventReplayPlan", {
    projectionName,
    consumerGroup,
    failureIds: [failureId],
    strategy: "DEPENDENCY_CLOSURE",
    validationMode,
    reason,
  });
  return answer.replayRequestId;
}

test("ER-UI-17 ER-UI-05 the requester and a reader see why they can't act, another host sees nothing", async ({
  page,
  browser,
}) => {
  test.setTimeout(180_000);
  await signIn(page, "alice");
  await breakProjection(page);
  const id = await plan(page, "EXECUTE", "Looked at by four persons.");
  const address = `/event-replay/requests/${id}`;

  await open(page, address);
  const approve = page.getByRole("button", { name: "Approve this plan" });
  await expect(approve).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText(/someone else decides/)).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Replay \d+ transactions?/);
  await expectAccessible(page, "the requester's view");

  const bob = await person(browser, "bob");
  await open(bob.page, address);
  await bob.page.getByRole("button", { name: "Approve this plan" }).click();
  await expect(bob.page.getByText("Give a reason. It is kept with the decision.")).toBeVisible();
  await expect(bob.page.getByLabel("Reason")).toBeFocused();
  await expectAccessible(bob.page, "the approver's view");
  await bob.context.close();

  const carol = await person(browser, "carol");
  await open(carol.page, address);
  await expect(carol.page.getByText(/Your role may read requests, not approve them/)).toBeVisible();
  await expect(carol.page.getByText(/Your role may read requests, not cancel them/)).toBeVisible();
  await expect(carol.page.getByLabel("Reason")).toHaveCount(0);
  await expectAccessible(carol.page, "a reader's view");
  await carol.context.close();

  const dave = await person(browser, "dave");
  await open(dave.page, address);
  await expect(dave.page.getByText("There is no such request on this host")).toBeVisible();
  await expectAccessible(dave.page, "not found");
  await dave.context.close();
});

test("ER-UI-05 a preview offers no approval, and cancelling asks for a reason in its place", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page, "alice");
  await breakProjection(page);
  await open(page, `/event-replay/requests/${await plan(page, "VALIDATE_ONLY", "A look.")}`);
  await expect(page.getByText("This is a preview.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Approve/ })).toHaveCount(0);
  await expectAccessible(page, "a preview");

  await open(page, `/event-replay/requests/${await plan(page, "EXECUTE", "Planned too early.")}`);
  await page.getByRole("button", { name: "Cancel request…" }).click();
  await page.getByLabel("Reason").fill("The fix is not out yet.");
  await page.getByRole("button", { name: "Cancel request", exact: true }).click();
  await expect(page.getByText("Cancelled by you.")).toBeVisible();
  await expect(page.getByText("“The fix is not out yet.”")).toBeVisible();
  await expectAccessible(page, "cancelled");
});
