#!/usr/bin/env node
// `npm run check`: everything about the sources that needs no running product. All steps run; exit 1 when any complains.
import path from "node:path";
import { checkDrizzleDrift } from "./check/drizzle-drift.mjs";
import { checkImportRulesNotice, checkImports } from "./check/imports.mjs";
import { runTool } from "./check/run-tool.mjs";
import { checkSources } from "./check/source-rules.mjs";
import { ensureInstalled } from "./supervisor/install.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const bin = (file) => path.join(ROOT, "node_modules", file);

const tool = async (...args) => {
  const { code, output } = await runTool(ROOT, args);
  return code === 0 ? [] : [output.trim()];
};

const STEPS = {
  "format and lint": () =>
    tool(bin("@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "--max-diagnostics=60", "."),
  types: async () => {
    const routes = await tool(bin("next/dist/bin/next"), "typegen");
    return [...routes, ...(await tool(bin("typescript/bin/tsc"), "--noEmit", "-p", "."))];
  },
  imports: () => checkImports(ROOT),
  "import rules notice": () => checkImportRulesNotice(ROOT),
  "source rules": async () => checkSources(ROOT),
  "unused code": () => tool(bin("knip/bin/knip.js"), "--config", "server/cli/knip.json", "--no-progress"),
  "schema drift": () => checkDrizzleDrift(ROOT),
  "openapi current": () => tool("--import", "tsx", "server/cli/openapi.ts", "--check"),
  "repair forms current": () => tool("--import", "tsx", "server/cli/forms.ts", "--check"),
};

await ensureInstalled(ROOT);
const only = process.argv.slice(2);
let failed = 0;
for (const [name, step] of Object.entries(STEPS)) {
  if (only.length > 0 && !only.some((word) => name.includes(word))) continue;
  const started = Date.now();
  const complaints = await step().catch((error) => [error.message]);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${complaints.length === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)\n`);
  if (complaints.length > 0) {
    failed += 1;
    process.stdout.write(`${complaints.join("\n").replace(/^/gm, "     ")}\n`);
  }
}
process.stdout.write(failed === 0 ? "check passed\n" : `check failed: ${failed} step(s)\n`);
process.exit(failed === 0 ? 0 : 1);
