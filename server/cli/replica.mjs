#!/usr/bin/env node
// `npm run start:web` and `start:projector`: one replica in production mode against DATABASE_URL. Migrating is the
// deployment's own step (npm run db:migrate); a schema that isn't complete is refused by name.
import { spawn } from "node:child_process";
import path from "node:path";
import { ensureBuilt } from "./supervisor/build.mjs";
import { assertReachable } from "./supervisor/database.mjs";
import { endWithParent } from "./supervisor/end-with-parent.mjs";
import { whenLauncherGone } from "./supervisor/launcher-gone.mjs";
import { runScript } from "./supervisor/script.mjs";
import { readSettings } from "./supervisor/settings.mjs";
import { StartError } from "./supervisor/start-error.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const GRACE_MS = 12_000;

try {
  const kind = process.argv[2];
  if (kind !== "web" && kind !== "projector") throw new StartError("Usage: replica.mjs web | projector");
  if (!process.env.DATABASE_URL) throw new StartError("DATABASE_URL is not set: a replica works on a shared database.");
  const settings = readSettings(ROOT, process.env);
  if (kind === "web") {
    await runScript(ROOT, ["server/cli/check-settings.ts"], {
      env: process.env,
      failure: "The settings of this replica can't work.",
    });
    await ensureBuilt(ROOT);
  }
  await assertReachable(process.env.DATABASE_URL);
  const env = { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" };
  await runScript(ROOT, ["server/cli/db-check.ts"], {
    env,
    failure: "The database can't be used (npm run db:migrate?).",
  });
  // A replica never migrates, so it never holds the owner's address.
  delete env.MIGRATION_DATABASE_URL;
  const args =
    kind === "web"
      ? ["node_modules/next/dist/bin/next", "start", "-H", settings.host, "-p", String(settings.port)]
      : ["--import", "tsx", "server/processors/projector.ts"];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: "inherit", detached: true });
  endWithParent().addChild(child, "TERM");
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  whenLauncherGone(stop);
  child.once("exit", (code) => {
    process.exit(stopping ? 0 : (code ?? 1));
  });
} catch (error) {
  process.stderr.write(`${error.forPerson ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
