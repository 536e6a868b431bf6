import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ensureBuilt } from "./build.mjs";
import { logTail, superviseChild } from "./child.mjs";
import { assertReachable, isEventStoreEmpty, superviseDatabase } from "./database.mjs";
import { endWithParent } from "./end-with-parent.mjs";
import { ensureInstalled } from "./install.mjs";
import { guardGone, readInstance, removeInstance, writeGuard, writeInstance } from "./instance-file.mjs";
import { whenLauncherGone } from "./launcher-gone.mjs";
import { isPortFree } from "./ports.mjs";
import { runScript } from "./script.mjs";
import { ensureDataDir, readSecret, readSettings } from "./settings.mjs";
import { StartError } from "./start-error.mjs";

const ROOT = path.resolve(import.meta.dirname, "../../..");
/** The children get this long to finish; with PostgreSQL's own shutdown everything is gone well within 15 seconds. */
const CHILD_GRACE_MS = 6_000;
const READY_WITHIN_MS = 90_000;
const CRASHES_BEFORE_GIVING_UP = 4;

/**
 * Brings up the whole product on this machine and keeps it up until SIGTERM or SIGINT; then stops all of it in order and ends
 * with exit 0. Whatever ends this process, its children end too (end-with-parent). Throws StartError when it can't.
 * @param {{ dev: boolean }} options
 */
export async function supervise({ dev }) {
  const say = (text) => process.stdout.write(`${text}\n`);
  const settings = readSettings(ROOT, process.env);
  ensureDataDir(settings.dataDir);
  await refuseSecond(settings);

  const running = { database: null, children: [], helpers: new Set() };
  const guard = endWithParent();
  writeGuard(settings.dataDir, guard.pid);
  const trackHelper = (child) => {
    guard.addChild(child, "TERM");
    running.helpers.add(child);
    child.once("exit", () => running.helpers.delete(child));
  };
  const stop = makeStop(running, settings, say);
  process.on("SIGTERM", () => stop(0));
  process.on("SIGINT", () => stop(0));
  process.on("SIGHUP", () => stop(0));
  whenLauncherGone(() => stop(0));

  try {
    await ensureInstalled(ROOT, { onChild: trackHelper });
    if (!dev) await ensureBuilt(ROOT, { onChild: trackHelper });
    const secret = readSecret(settings.dataDir, process.env);
    if (settings.databaseUrl === null) {
      running.database = await superviseDatabase({ dataDir: settings.dataDir, guard, say });
    } else {
      await assertReachable(settings.databaseUrl);
    }
    const databaseUrl = running.database?.url ?? settings.databaseUrl;
    const env = childEnvironment(settings, { databaseUrl, secret, dev });

    if (process.env.OIDC_ISSUER) {
      await runScript(ROOT, ["server/cli/check-settings.ts"], {
        env,
        failure: "The settings can't work.",
        onChild: trackHelper,
      });
    }
    await runScript(ROOT, ["server/cli/prepare-database.ts"], {
      env,
      failure: "The database can't be used.",
      onChild: trackHelper,
    });
    if (settings.demo && (await isEventStoreEmpty(databaseUrl))) {
      say("Loading the demo sample …");
      await runScript(ROOT, ["server/cli/demo.ts", "load-sample"], {
        env,
        failure: "The demo sample could not be loaded.",
        onChild: trackHelper,
      });
    }
    if (stop.called) return;

    // Only the migrations work with the owner's rights.
    const { MIGRATION_DATABASE_URL: _owner, ...limited } = env;
    running.children = startChildren(settings, limited, { dev, say, guard });
    writeInstance(settings.dataDir, { baseUrl: settings.baseUrl, databaseUrl, demo: settings.demo, secret });
    await untilReady(settings, running);
    if (!stop.called) say(welcome(settings));
  } catch (error) {
    if (stop.called) return;
    await stop.everything();
    throw error;
  }
}

async function refuseSecond({ dataDir, host, port }) {
  const other = readInstance(dataDir);
  if (other) {
    throw new StartError(
      `Event Admin already runs with the data folder ${dataDir}: ${other.baseUrl} (pid ${other.pid}).`,
    );
  }
  await guardGone(dataDir);
  if (!(await isPortFree(port, host))) {
    throw new StartError(`Port ${port} is taken by another program. Choose another one: PORT=3001 npm start`);
  }
}

function childEnvironment(settings, { databaseUrl, secret, dev }) {
  return {
    ...process.env,
    NODE_ENV: dev ? "development" : "production",
    NEXT_TELEMETRY_DISABLED: "1",
    DATABASE_URL: databaseUrl,
    NEXTAUTH_SECRET: secret,
    EVENT_ADMIN_DATA: settings.dataDir,
    EVENT_ADMIN_DEMO: settings.demo ? "1" : "0",
    PORT: String(settings.port),
    // Without a public URL the request's own host counts; only on this machine, where nobody else can send one.
    ...(settings.demo && !process.env.NEXTAUTH_URL ? { AUTH_TRUST_HOST: "1" } : {}),
  };
}

function startChildren(settings, env, { dev, say, guard }) {
  const log = (name) => (dev ? null : path.join(settings.dataDir, "logs", `${name}.log`));
  const address = ["-H", settings.host, "-p", String(settings.port)];
  const common = { cwd: ROOT, env, guard, say };
  const web = superviseChild({
    ...common,
    name: "web",
    args: ["node_modules/next/dist/bin/next", dev ? "dev" : "start", ...address],
    logFile: log("web"),
  });
  const projector = superviseChild({
    ...common,
    name: "projector",
    args: ["--import", "tsx", ...(dev ? ["--watch"] : []), "server/processors/projector.ts"],
    logFile: log("projector"),
  });
  return [
    { name: "web", process: web, logFile: log("web") },
    { name: "projector", process: projector, logFile: log("projector") },
  ];
}

async function untilReady(settings, running) {
  const deadline = Date.now() + READY_WITHIN_MS;
  const host = settings.host === "0.0.0.0" ? "127.0.0.1" : settings.host;
  for (;;) {
    try {
      const answer = await fetch(`http://${host}:${settings.port}/readyz`, { signal: AbortSignal.timeout(10_000) });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // not listening yet
    }
    const failing = running.children.find((child) => child.process.crashes >= CRASHES_BEFORE_GIVING_UP);
    if (failing) throw new StartError(`The ${failing.name} process keeps ending.\n${tailOf(failing)}`);
    if (Date.now() > deadline) {
      throw new StartError(`The web process did not become ready.\n${running.children.map(tailOf).join("\n")}`);
    }
    await delay(100);
  }
}

function tailOf(child) {
  return child.logFile ? `Last lines of ${child.logFile}:\n${logTail(child.logFile)}` : "";
}

function makeStop(running, settings, say) {
  let done = null;
  const everything = () => {
    done ??= (async () => {
      for (const helper of running.helpers) helper.kill("SIGTERM");
      await Promise.all(running.children.map((child) => child.process.stop(CHILD_GRACE_MS)));
      await running.database?.stop();
      removeInstance(settings.dataDir);
    })();
    return done;
  };
  const stop = (code) => {
    if (stop.called) return;
    stop.called = true;
    say("Stopping …");
    everything().then(() => process.exit(code));
  };
  stop.called = false;
  stop.everything = everything;
  return stop;
}

function welcome(settings) {
  const lines = ["", `Event Admin is ready: ${settings.baseUrl}`];
  if (settings.demo) {
    lines.push(
      "",
      "Demo users (password = name):",
      "  alice, bob   operators of the demo host; each approves what the other asks for",
      "  carol        reads only",
      "  dave         operator of another host",
      "",
      "Break a projection: npm run demo -- break      Stop: Ctrl-C",
    );
  }
  return `${lines.join("\n")}\n`;
}
