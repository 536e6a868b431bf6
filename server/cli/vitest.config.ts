import path from "node:path";
import { defineConfig } from "vitest/config";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * One configuration for every level; the suffix of a file names its level (`.test`, `.int.test`, `.fault.test`,
 * `.contract.test`), and the scripts of package.json choose by it. The global setup starts one throw-away database server.
 */
export default defineConfig({
  root,
  resolve: { alias: { "@": root } },
  test: {
    include: ["{server,drizzle,components,app,forms}/**/*.test.{ts,tsx}"],
    exclude: ["**/node_modules/**", ".next/**", ".data/**"],
    globalSetup: ["server/testing/global-setup.ts"],
    environment: "node",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    restoreMocks: true,
  },
});
