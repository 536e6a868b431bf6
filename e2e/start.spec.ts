import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

async function signIn(page: Page, name: string, password = name): Promise<void> {
  await page.goto("/sign-in");
  await expect(page.locator("html")).toHaveAttribute("data-ready", "true");
  await page.getByLabel("User").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: /^Sign in/ }).click();
}

test("an operator signs in with the demo password and lands on the overview", async ({ page }) => {
  await signIn(page, "alice");
  await expect(page).toHaveURL("/");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("a wrong password is refused with a sentence, and no page opens", async ({ page }) => {
  await signIn(page, "alice", "not-alice");
  await expect(page.getByRole("alert").filter({ hasText: /./ })).toBeVisible();
  await page.goto("/event-replay/failures");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("two people are signed in at once, each as themselves", async ({ browser }) => {
  for (const name of ["alice", "bob"]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, name);
    await expect(page).toHaveURL("/");
    await expect(page.getByRole("banner")).toContainText(new RegExp(name, "i"));
    await context.close();
  }
});

for (const [name, path] of [
  ["overview", "/"],
  ["failures", "/event-replay/failures"],
  ["notifications", "/notifications"],
] as const) {
  for (const scheme of ["light", "dark"] as const) {
    test(`${name} has nothing serious for axe in ${scheme}, and fits 390 px`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await signIn(page, "alice");
      await expect(page).toHaveURL("/");
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await page.setViewportSize({ width: 390, height: 844 });
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
      expect(serious.map((v) => `${v.id}: ${v.nodes[0]?.target.join(" ")}`)).toEqual([]);
    });
  }
}
