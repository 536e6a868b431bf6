import { execFileSync } from "node:child_process";
import path from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, expect, type Page } from "@playwright/test";

const ROOT = path.resolve(import.meta.dirname, "..");

export const HOST_ID = "01964b05-552a-7c4b-9184-6857e7f3dc5f";

/** The widths every page is looked at. */
export const WIDTHS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const;

/** Runs one of the product's own scripts against the running instance and returns what it prints. */
export function script(name: string, ...args: string[]): string {
  return node(`server/cli/${name}.ts`, ...args);
}

function node(...args: string[]): string {
  return execFileSync(process.execPath, ["--import", "tsx", ...args], { cwd: ROOT, encoding: "utf8" }).trim();
}

/**
 * Everything the instance ever appended, projected afresh without the defect and compared with its projection row for row:
 * how many rows differ by table, and which transactions fail even so: no replay makes their data valid.
 */
export function rebuilt(): { failing: string[]; rows: number; differences: unknown[] } {
  return JSON.parse(node("server/testing/rebuild-child.ts"));
}

/** Signs a demo user in by the form; the password is the name. */
export async function signIn(page: Page, name: string): Promise<void> {
  await page.goto("/sign-in");
  await ready(page);
  await page.getByLabel("User", { exact: true }).fill(name);
  await page.getByLabel("Password").fill(name);
  await page.getByRole("button", { name: /^Sign in/ }).click();
  await page.waitForURL("/");
  await ready(page);
}

/** Until keys and buttons of the page answer. */
export async function ready(page: Page): Promise<void> {
  await expect(page.locator("html")).toHaveAttribute("data-ready", "true");
}

export async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await ready(page);
}

/** A browser of a second person, with nothing of the first one's. */
export async function person(browser: Browser, name: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, name);
  return { context, page };
}

/** Breaks the demo projection until at least `count` failures of the demo host are open; more than a page where asked. */
export async function breakProjection(page: Page, count = 1): Promise<void> {
  const request = { data: { hostId: HOST_ID, pageSize: 1 }, headers: { origin: new URL(page.url()).origin } };
  const openTotal = async (): Promise<number> => {
    const answer = await page.request.post("/api/event-replay/listEventReplayCandidate", request);
    return (await answer.json()).openTotal;
  };
  for (let bursts = 0; (await openTotal()) < count && bursts < 5; bursts++) {
    const before = await openTotal();
    script("demo", "break");
    await expect.poll(openTotal, { timeout: 30_000 }).toBeGreaterThan(before);
  }
  expect(await openTotal()).toBeGreaterThanOrEqual(count);
}

/** Nothing that axe finds, nothing that scrolls sideways, at both widths and in both themes, in the state shown now. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.evaluate((t) => {
      document.documentElement.dataset.theme = t;
    }, theme);
    for (const size of WIDTHS) {
      await page.setViewportSize(size);
      const where = `${state}, ${theme}, ${size.width} px`;
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(
        violations.map((v) => `${v.id}: ${v.nodes[0]?.target.join(" ")}`),
        where,
      ).toEqual([]);
      const beyond = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(beyond, `${where}: sideways`).toBeLessThanOrEqual(0);
    }
  }
  await page.setViewportSize(WIDTHS[0]);
}
