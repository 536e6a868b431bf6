import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** Our own source files that a process with this entry point loads, found by the bundler's module graph. */
async function loadedBy(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    packages: "external",
    tsconfig: "tsconfig.json",
    logLevel: "silent",
  });
  return Object.keys(metafile.inputs).filter((file) => /\.m?tsx?$/.test(file));
}

const THREAD = /\bsetInterval\b|worker_threads|child_process|\bnew Worker\b/;

test("ER-DEP-04 the projector starts capture and loads no module that executes replays", async () => {
  const loaded = await loadedBy("server/processors/projector.ts");
  expect(loaded).toContain("server/event-replay/capture/capture-failure.ts");
  expect(loaded.filter((file) => /event-replay\/(planning|execution|waiver|repair)\//.test(file))).toEqual([]);
});

// The live processor has its heartbeat and wake-up; replay is a synchronous call chain on the request that asked for it.
test("ER-DEP-04 outside the live processor nothing of the replay context keeps a timer, thread or process of its own", () => {
  const files = fs
    .readdirSync(path.join(root, "server/event-replay"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$/.test(file) && !file.startsWith("live/"));
  expect(files.length).toBeGreaterThan(20);
  const withThread = files.filter((file) =>
    THREAD.test(fs.readFileSync(path.join(root, "server/event-replay", file), "utf8")),
  );
  expect(withThread).toEqual([]);
});
