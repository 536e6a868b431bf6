import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { runTool } from "./run-tool.mjs";

/**
 * The migrations are consistent, and the TypeScript schema says nothing that they don't: generating in a copy of the folder
 * finds no change. Resolves to the complaints.
 */
export async function checkDrizzleDrift(root) {
  const kit = path.join(root, "node_modules/drizzle-kit/bin.cjs");
  const consistent = await runTool(root, [kit, "check", "--config", "drizzle/drizzle.config.ts"]);
  if (consistent.code !== 0) return [`drizzle-kit check: ${consistent.output.trim()}`];
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-drift-"));
  try {
    fs.cpSync(path.join(root, "drizzle"), path.join(copy, "drizzle"), { recursive: true });
    for (const name of ["package.json", "tsconfig.json"]) fs.copyFileSync(path.join(root, name), path.join(copy, name));
    fs.symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
    fs.symlinkSync(path.join(root, "server"), path.join(copy, "server"));
    const before = listing(path.join(copy, "drizzle/migrations"));
    const generated = await runTool(copy, [
      kit,
      "generate",
      "--config",
      "drizzle/drizzle.config.ts",
      "--name",
      "drift",
    ]);
    if (generated.code !== 0) return [`drizzle-kit generate: ${generated.output.trim()}`];
    if (listing(path.join(copy, "drizzle/migrations")) !== before || !/no schema changes/i.test(generated.output)) {
      return [`the schema in drizzle/schema has changes without a migration:\n${generated.output.trim()}`];
    }
    return [];
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

function listing(folder) {
  return fs.readdirSync(folder, { recursive: true }).sort().join("\n");
}
