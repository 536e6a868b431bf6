import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { readInstance } from "@/server/cli/supervisor/instance-file.mjs";
import { freePort } from "@/server/cli/supervisor/ports.mjs";

// The real launcher on a data folder and port of its own. The first start may build; the others find the build.
const ROOT = path.resolve(import.meta.dirname, "../..");
const START_LIMIT_MS = 400_000;

let dataDir: string;
let port: number;
const started: ChildProcess[] = [];

beforeAll(async () => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-start-test-"));
  port = await freePort();
});

afterEach(async () => {
  for (const launcher of started.splice(0)) {
    if (launcher.exitCode !== null || launcher.signalCode !== null) continue;
    launcher.kill("SIGTERM");
    await once(launcher, "exit");
  }
});

afterAll(() => fs.rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

type Launch = { readonly launcher: ChildProcess; readonly output: () => string };

function launch(env: Record<string, string> = {}): Launch {
  const { DATABASE_URL: _, npm_lifecycle_event: __, NODE_ENV: ___, VITEST: ____, ...inherited } = process.env;
  const launcher = spawn(process.execPath, ["server/cli/start.mjs"], {
    cwd: ROOT,
    env: { ...inherited, PORT: String(port), EVENT_ADMIN_DATA: dataDir, ...env } as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(launcher);
  let text = "";
  for (const stream of [launcher.stdout, launcher.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  return { launcher, output: () => text };
}

async function launchReady(): Promise<Launch> {
  const launched = launch();
  await vi.waitFor(
    () => {
      if (launched.launcher.exitCode !== null) throw new Error(launched.output());
      expect(launched.output()).toContain("Event Admin is ready");
    },
    { timeout: START_LIMIT_MS, interval: 100 },
  );
  return launched;
}

/** Processes the launcher started, by what they are. */
function childrenOf(launcher: ChildProcess): Map<"web" | "projector" | "postgres", number> {
  const listing = execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  const found = new Map<"web" | "projector" | "postgres", number>();
  for (const line of listing.split("\n")) {
    const [, pid, parent, state, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (Number(parent) !== launcher.pid || state?.startsWith("Z") || args === undefined) continue;
    if (/next-server|next start|bin\/next/.test(args)) found.set("web", Number(pid));
    else if (args.includes("projector.ts")) found.set("projector", Number(pid));
    else if (args.includes("bin/postgres")) found.set("postgres", Number(pid));
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const isReady = async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
  expect(answer.status).toBe(200);
};

const soon = { timeout: 60_000, interval: 100 };

test(
  "ER-DEP-03 a fresh start projects its sample and answers, without a step that enables anything",
  async () => {
    await launchReady();
    await isReady();
    const instance = readInstance(dataDir);
    const client = new pg.Client({ connectionString: instance?.databaseUrl });
    await client.connect();
    try {
      await vi.waitFor(async () => {
        const { rows } = await client.query(
          `SELECT (SELECT count(*)::int FROM event_store_t) AS appended,
                  (SELECT count(*)::int FROM outbox_message_t o
                    WHERE NOT EXISTS (SELECT 1 FROM consumer_offsets c
                                       WHERE c.partition_id = o.partition_id AND c.next_offset > o.c_offset)) AS waiting`,
        );
        expect(rows[0].appended).toBeGreaterThan(0);
        expect(rows[0].waiting).toBe(0);
      }, soon);
    } finally {
      await client.end();
    }
  },
  START_LIMIT_MS,
);

test(
  "web, projector and database come back after kill -9, and SIGTERM then ends all of them within 15 seconds",
  async () => {
    const { launcher } = await launchReady();
    for (const name of ["projector", "web", "postgres"] as const) {
      const before = childrenOf(launcher).get(name);
      expect(before, name).toBeDefined();
      process.kill(before as number, "SIGKILL");
      await vi.waitFor(async () => {
        const now = childrenOf(launcher).get(name);
        expect(now).toBeDefined();
        expect(now).not.toBe(before);
        await isReady();
      }, soon);
    }
    const pids = [...childrenOf(launcher).values()];
    expect(pids).toHaveLength(3);
    const asked = Date.now();
    launcher.kill("SIGTERM");
    const [code] = await once(launcher, "exit");
    expect(code).toBe(0);
    expect(Date.now() - asked).toBeLessThan(15_000);
    expect(pids.filter(isAlive)).toEqual([]);
  },
  START_LIMIT_MS,
);

test(
  "kill -9 of the launcher leaves no process behind, and the next start finds port and data free",
  async () => {
    const { launcher } = await launchReady();
    const pids = [...childrenOf(launcher).values()];
    expect(pids).toHaveLength(3);
    launcher.kill("SIGKILL");
    await once(launcher, "exit");
    await launchReady();
    expect(pids.filter(isAlive)).toEqual([]);
  },
  START_LIMIT_MS,
);

test(
  "a second launcher on the same data, and one whose port is taken, refuse and say so",
  async () => {
    await launchReady();
    const second = launch({ PORT: String(await freePort()) });
    expect((await once(second.launcher, "close"))[0]).toBe(1);
    expect(second.output()).toContain("already runs with the data folder");

    const other = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-start-other-"));
    try {
      const third = launch({ EVENT_ADMIN_DATA: other });
      expect((await once(third.launcher, "close"))[0]).toBe(1);
      expect(third.output()).toContain(`Port ${port} is taken`);
    } finally {
      fs.rmSync(other, { recursive: true, force: true });
    }
  },
  START_LIMIT_MS,
);

test("without demo mode and an identity provider the launcher refuses before it touches anything", async () => {
  const { launcher, output } = launch({ DATABASE_URL: "postgres://db.example.org/x" });
  expect((await once(launcher, "close"))[0]).toBe(1);
  expect(output()).toContain("OIDC_ISSUER");
});
