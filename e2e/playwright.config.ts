import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { defineConfig, devices } from "@playwright/test";
import { findChromium } from "../server/cli/chromium.mjs";
import { freePort } from "../server/cli/supervisor/ports.mjs";

const ROOT = path.resolve(import.meta.dirname, "..");

// The configuration is read again in every worker: what is chosen once travels in the environment. Specs and the scripts they
// run (demo, token, import) find the instance by EVENT_ADMIN_DATA, as everything does.
process.env.PORT = process.env.E2E_PORT ??= String(await freePort());
process.env.EVENT_ADMIN_DATA = process.env.E2E_DATA ??= throwAwayFolder();
delete process.env.DATABASE_URL;

const baseURL = `http://127.0.0.1:${process.env.E2E_PORT}`;

/** Browser tests against the product as `npm start` brings it up, on a port and data folder of their own. */
export default defineConfig({
  testDir: ".",
  testMatch: "**/*.spec.ts",
  outputDir: "./.results",
  fullyParallel: false,
  workers: 1,
  retries: 0,
  forbidOnly: process.env.CI === "true",
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: process.env.E2E_REPORT ? [["list"], ["json", { outputFile: process.env.E2E_REPORT }]] : [["list"]],
  use: {
    ...devices["Desktop Chrome"],
    baseURL,
    viewport: { width: 1440, height: 900 },
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: findChromium() ?? undefined,
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
  },
  webServer: {
    command: "node server/cli/start.mjs",
    cwd: ROOT,
    url: `${baseURL}/readyz`,
    reuseExistingServer: false,
    timeout: 300_000,
    stdout: "pipe",
    gracefulShutdown: { signal: "SIGTERM", timeout: 20_000 },
  },
});

/** Goes with the process that made it: by then the server that used it has stopped. */
function throwAwayFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-e2e-"));
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
