#!/usr/bin/env node
// `npm test`: every level against real parts: unit, property, integration, contract and fault tests, then the browser against
// the started product. Last line: "N passed, N failed".
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { findChromium } from "./chromium.mjs";
import { ensureBuilt } from "./supervisor/build.mjs";
import { ensureInstalled } from "./supervisor/install.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const reports = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-reports-"));
const total = { passed: 0, failed: 0 };

process.on("exit", () => fs.rmSync(reports, { recursive: true, force: true }));

try {
  await ensureInstalled(ROOT);
  // Once, before tests that start the product side by side need it.
  await ensureBuilt(ROOT);
  await runVitest();
  await runBrowserTests();
} catch (error) {
  process.stderr.write(`${error.forPerson ? error.message : (error.stack ?? error)}\n`);
  total.failed += 1;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

async function runVitest() {
  const report = path.join(reports, "vitest.json");
  const code = await run([
    "node_modules/vitest/vitest.mjs",
    "run",
    ...["--config", "server/cli/vitest.config.ts"],
    ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
  ]);
  const result = readReport(report);
  // A file that doesn't even load has no test to fail: it counts as one.
  const unloaded = (result?.testResults ?? []).filter(
    (f) => f.status === "failed" && f.assertionResults.every((a) => a.status !== "failed"),
  );
  add(code, result && { passed: result.numPassedTests, failed: result.numFailedTests + unloaded.length });
}

async function runBrowserTests() {
  if (findChromium() === null) {
    const text =
      "NO CHROMIUM ON THIS MACHINE: THE BROWSER TESTS DID NOT RUN (install chromium, or name it in CHROMIUM).";
    process.stdout.write(`\n${"!".repeat(text.length)}\n${text}\n${"!".repeat(text.length)}\n\n`);
    if (process.env.CI === "true") total.failed += 1;
    return;
  }
  const report = path.join(reports, "playwright.json");
  const code = await run(["node_modules/@playwright/test/cli.js", "test", "--config", "e2e/playwright.config.ts"], {
    E2E_REPORT: report,
  });
  const result = readReport(report);
  add(code, result && { passed: result.stats.expected + result.stats.flaky, failed: result.stats.unexpected });
}

/** A runner that ends badly without a counted failure (it crashed, or left an error outside any test) counts as one. */
function add(code, counts) {
  total.passed += counts?.passed ?? 0;
  total.failed += counts?.failed ?? 0;
  if (code !== 0 && !counts?.failed) total.failed += 1;
}

function run(args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env, NEXT_TELEMETRY_DISABLED: "1" },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const forward = (signal) => child.kill(signal);
    process.on("SIGTERM", forward);
    process.on("SIGINT", forward);
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("SIGTERM", forward);
      process.off("SIGINT", forward);
      resolve(code ?? 1);
    });
  });
}

function readReport(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
