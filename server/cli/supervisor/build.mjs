import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "./start-error.mjs";

const SOURCES = [
  "app",
  "components",
  "server",
  "forms",
  "drizzle/schema",
  "public",
  "next.config.mjs",
  "proxy.ts",
  "postcss.config.mjs",
  "package-lock.json",
];
const SKIPPED = /(\.test\.tsx?$|^server\/(cli|testing)\/|^server\/.*\/testing\/)/;

/**
 * Runs `next build` when the sources differ from those of the build in .next; otherwise only reads them. A failed or
 * interrupted build leaves nothing behind: its cache would make later builds fail too.
 * @param {string} root
 * @param {{ onChild?: (child: import("node:child_process").ChildProcess) => void }} [options]
 */
export async function ensureBuilt(root, options = {}) {
  const release = await takeBuildLock(root);
  try {
    await buildIfChanged(root, options);
  } finally {
    release();
  }
}

/** Two starts of one tree would clear each other's build: the second waits, and then finds it done. */
async function takeBuildLock(root) {
  const lock = path.join(root, "node_modules", ".event-admin-build");
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      return () => fs.rmSync(lock, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!isAlive(Number(read(lock)))) fs.rmSync(lock, { force: true });
      else await delay(200);
    }
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function buildIfChanged(root, options) {
  const next = path.join(root, ".next");
  const marker = path.join(next, "event-admin-build");
  const wanted = sourceDigest(root);
  const found = read(marker);
  if (found === wanted && fs.existsSync(path.join(next, "BUILD_ID"))) return;
  // Without our mark an earlier build failed or was interrupted (Next removes the mark when it begins).
  if (found === null) removeBuild(next);
  process.stdout.write("Building the web application …\n");
  const child = spawn(process.execPath, ["node_modules/next/dist/bin/next", "build"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  options.onChild?.(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => {
      output = (output + text).slice(-20_000);
    });
  }
  const code = await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  if (code !== 0) {
    removeBuild(next);
    throw new StartError(`The build failed:\n${output}`);
  }
  fs.writeFileSync(marker, wanted);
}

/** All but what `next dev` keeps there: it may be running. */
function removeBuild(next) {
  if (!fs.existsSync(next)) return;
  for (const name of fs.readdirSync(next)) {
    if (name !== "dev") fs.rmSync(path.join(next, name), { recursive: true, force: true });
  }
}

/** Digest of everything the build reads: paths and contents, in order. */
export function sourceDigest(root) {
  const hash = createHash("sha256").update(process.versions.node);
  for (const source of SOURCES) {
    for (const file of filesUnder(root, source))
      hash.update(`\0${file}\0`).update(fs.readFileSync(path.join(root, file)));
  }
  return hash.digest("hex");
}

function filesUnder(root, relative) {
  const stat = fs.statSync(path.join(root, relative), { throwIfNoEntry: false });
  if (!stat || SKIPPED.test(relative) || SKIPPED.test(`${relative}/`)) return [];
  if (!stat.isDirectory()) return [relative];
  return fs
    .readdirSync(path.join(root, relative))
    .sort()
    .flatMap((name) => filesUnder(root, `${relative}/${name}`));
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
