import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

export type TestOutcome = { readonly title: string; readonly passed: boolean };

/** A run that hangs is ended after this; a test that hangs is red by its own time limit long before. */
const RUN_LIMIT_MS = 180_000;

/**
 * Runs the tests of one file whose title contains `title`, in a tree. Resolves to the outcome of each; none when the file
 * doesn't load or no title matches.
 */
export async function runTest(root: string, file: string, title: string, databaseUrl: string): Promise<TestOutcome[]> {
  const report = path.join(root, `.mutant-report-${process.pid}.json`);
  fs.rmSync(report, { force: true });
  const child = spawn(
    process.execPath,
    [
      "node_modules/vitest/vitest.mjs",
      "run",
      file,
      ...["--config", "server/cli/vitest.config.ts", "--testNamePattern", escapePattern(title)],
      ...["--reporter=json", `--outputFile.json=${report}`, "--maxWorkers=1"],
    ],
    { cwd: root, env: { ...process.env, TEST_DATABASE_URL: databaseUrl, NODE_ENV: "test" }, stdio: "ignore" },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_LIMIT_MS);
  await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  clearTimeout(timer);
  if (!fs.existsSync(report)) return [];
  const result = JSON.parse(fs.readFileSync(report, "utf8")) as Report;
  return result.testResults
    .flatMap((f) => f.assertionResults)
    .filter((t) => t.status === "passed" || t.status === "failed")
    .map((t) => ({ title: t.fullName, passed: t.status === "passed" }));
}

type Report = {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
