import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";
import { ensureTemplate } from "@/server/testing/template";

declare module "vitest" {
  interface ProvidedContext {
    databaseServer: { adminUrl: string; template: string } | null;
  }
}

/**
 * One database server per run: the one of TEST_DATABASE_URL (kept), or a throw-away one that ends with this process however
 * it ends. `none` runs without (unit tests). The template holds all migrations; each test file clones it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL;
  if (given === "none") {
    project.provide("databaseServer", null);
    return async () => undefined;
  }
  if (given) {
    project.provide("databaseServer", { adminUrl: given, template: await ensureTemplate(given) });
    return async () => undefined;
  }
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-test-"));
  const server = await startEmbeddedPostgres({ home, throwaway: true });
  const adminUrl = server.url("postgres");
  project.provide("databaseServer", { adminUrl, template: await ensureTemplate(adminUrl) });
  return async () => {
    await server.stop();
    fs.rmSync(home, { recursive: true, force: true });
  };
}
