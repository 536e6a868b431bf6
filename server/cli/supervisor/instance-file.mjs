import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const NAME = "instance.json";

/** Tells the other scripts where the running instance is. It holds the database's password and the secret: mode 0600. */
export function writeInstance(dataDir, instance) {
  const aside = path.join(dataDir, `${NAME}.${process.pid}`);
  fs.writeFileSync(aside, JSON.stringify({ ...instance, pid: process.pid }), { mode: 0o600 });
  fs.renameSync(aside, path.join(dataDir, NAME));
}

/** The instance of that data folder while its supervisor lives, else null. */
export function readInstance(dataDir) {
  try {
    const instance = JSON.parse(fs.readFileSync(path.join(dataDir, NAME), "utf8"));
    return isSupervisor(instance.pid) ? instance : null;
  } catch {
    return null;
  }
}

const GUARD = "guard.pid";

/** Remembers who ends our processes should we be killed; see `guardGone`. */
export function writeGuard(dataDir, pid) {
  fs.writeFileSync(path.join(dataDir, GUARD), String(pid));
}

/**
 * Waits until the guard of a killed supervisor has ended that one's processes: until then the port is taken and the database
 * is going down. At most twelve seconds; the guard itself needs at most eight.
 */
export async function guardGone(dataDir) {
  const deadline = Date.now() + 12_000;
  while (Date.now() < deadline) {
    try {
      const pid = Number(fs.readFileSync(path.join(dataDir, GUARD), "utf8"));
      if (!fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("event-admin-watcher")) return;
    } catch {
      return;
    }
    await delay(100);
  }
}

export function removeInstance(dataDir) {
  const file = path.join(dataDir, NAME);
  try {
    if (JSON.parse(fs.readFileSync(file, "utf8")).pid === process.pid) fs.rmSync(file);
  } catch {
    // nothing of ours there
  }
}

function isSupervisor(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== "EPERM") return false;
  }
  try {
    return /start\.mjs|replica\.mjs/.test(fs.readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return !fs.existsSync("/proc/self/cmdline"); // a pid that means something else by now, or no procfs to ask
  }
}
