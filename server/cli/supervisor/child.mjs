import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** A child that lived this long was healthy: its next crash starts with the shortest delay again. */
const HEALTHY_AFTER_MS = 30_000;

/**
 * One supervised Node process: restarted with growing delay whenever it ends by itself, until `stop`.
 * @param {object} options
 * @param {string} options.name
 * @param {string[]} options.args
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string | null} options.logFile null: the terminal
 * @param {import("./end-with-parent.d.mts").Guard} options.guard
 * @param {(text: string) => void} options.say
 */
export function superviseChild(options) {
  let child = null;
  let stopping = false;
  let crashes = 0;
  const loop = run();

  async function run() {
    let wait = FIRST_DELAY_MS;
    while (!stopping) {
      const started = Date.now();
      const reason = await once();
      if (stopping) return;
      crashes += 1;
      wait = Date.now() - started > HEALTHY_AFTER_MS ? FIRST_DELAY_MS : Math.min(wait * 2, LONGEST_DELAY_MS);
      options.say(`${options.name} ended (${reason}); starting it again.`);
      await delay(wait);
    }
  }

  function once() {
    const output = options.logFile === null ? "inherit" : openLog(options.logFile);
    child = spawn(process.execPath, options.args, {
      cwd: options.cwd,
      env: options.env,
      detached: true, // its own session: Ctrl-C reaches the supervisor alone, which stops things in order
      stdio: ["ignore", output, output],
    });
    if (typeof output === "number") fs.closeSync(output);
    options.guard.addChild(child, "TERM");
    return new Promise((resolve) => {
      child.once("error", (error) => resolve(error.code));
      child.once("exit", (code, signal) => {
        child = null;
        resolve(signal ?? `exit ${code}`);
      });
    });
  }

  return {
    get pid() {
      return child?.pid ?? null;
    },
    get crashes() {
      return crashes;
    },
    /** Asks it to end, and makes it end after `graceMs`. */
    async stop(graceMs) {
      stopping = true;
      const target = child;
      target?.kill("SIGTERM");
      const timer = setTimeout(() => target?.kill("SIGKILL"), graceMs);
      await Promise.race([loop, delay(graceMs + 2_000, undefined, { ref: false })]);
      clearTimeout(timer);
    },
  };
}

const LOG_LIMIT_BYTES = 20_000_000;

/** Appends; a log past its limit makes room by becoming the one previous log. */
function openLog(file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) fs.renameSync(file, `${file}.1`);
  return fs.openSync(file, "a", 0o600);
}

/** The end of a log, for a person who asks why. */
export function logTail(file, lines = 15) {
  try {
    return fs.readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}
