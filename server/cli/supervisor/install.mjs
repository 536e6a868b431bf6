import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { StartError } from "./start-error.mjs";

/**
 * Runs `npm ci` when node_modules is missing or isn't what the lock file says; otherwise reads two files and returns. Compares
 * with npm's own record of what is installed, so that an install by hand counts too.
 * @param {string} root
 * @param {{ onChild?: (child: import("node:child_process").ChildProcess) => void }} [options]
 */
export async function ensureInstalled(root, options = {}) {
  if (isCurrent(root)) return;
  process.stdout.write("Installing packages (npm ci) …\n");
  const npm = process.env.npm_execpath;
  const [command, args] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  const { NODE_ENV: _, ...env } = process.env; // "production" would leave out what the build needs
  const child = spawn(command, [...args, "ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  options.onChild?.(child);
  const code = await new Promise((resolve) => child.once("close", resolve).once("error", () => resolve(1)));
  if (code !== 0 || !isCurrent(root)) {
    throw new StartError(
      "Installing the packages failed (npm ci, see above). Check the network and the npm registry settings.",
    );
  }
}

function isCurrent(root) {
  const wanted = readPackages(path.join(root, "package-lock.json"));
  const installed = readPackages(path.join(root, "node_modules/.package-lock.json"));
  if (wanted === null) throw new StartError("package-lock.json is missing: this is not a complete clone.");
  if (installed === null) return false;
  return Object.entries(wanted).every(
    ([name, entry]) =>
      name === "" || entry.optional || entry.devOptional || entry.peer || installed[name]?.version === entry.version,
  );
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")).packages ?? null;
  } catch {
    return null;
  }
}
