import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, vi } from "vitest";
import { freePort } from "@/server/cli/supervisor/ports.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** The first start of a tree may build. */
export const START_LIMIT_MS = 400_000;

export type Launch = { readonly launcher: ChildProcess; readonly output: () => string };
export type Part = "web" | "projector" | "postgres";

/** The real launcher on a data folder and port of its own, for tests that start, kill and restart the whole product. */
export class LaunchedProduct {
  private readonly started: ChildProcess[] = [];

  private constructor(
    readonly dataDir: string,
    readonly port: number,
  ) {}

  static async create(): Promise<LaunchedProduct> {
    return new LaunchedProduct(fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-start-test-")), await freePort());
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Environment of a script that talks to this instance, or of the launcher itself: nothing of the test runner's. */
  environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
    const { DATABASE_URL: _, npm_lifecycle_event: __, NODE_ENV: ___, VITEST: ____, ...inherited } = process.env;
    const own = { ...inherited, PORT: String(this.port), EVENT_ADMIN_DATA: this.dataDir, ...extra };
    return own as unknown as NodeJS.ProcessEnv;
  }

  launch(env: Record<string, string> = {}): Launch {
    const launcher = spawn(process.execPath, ["server/cli/start.mjs"], {
      cwd: ROOT,
      env: this.environment(env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.started.push(launcher);
    let text = "";
    for (const stream of [launcher.stdout, launcher.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
    }
    return { launcher, output: () => text };
  }

  async launchReady(): Promise<Launch> {
    const launched = this.launch();
    const ready = vi.waitFor(() => expect(launched.output()).toContain("Event Admin is ready"), {
      timeout: START_LIMIT_MS,
      interval: 100,
    });
    const ended = once(launched.launcher, "exit").then(() => {
      throw new Error(`the launcher ended: ${launched.output()}`);
    });
    // Whichever loses the race must not count as unhandled.
    ended.catch(() => undefined);
    ready.catch(() => undefined);
    await Promise.race([ready, ended]);
    return launched;
  }

  /** Runs a script of the repository against this instance; resolves with its output, rejects with it when it fails. */
  async script(file: string, ...args: string[]): Promise<string> {
    const child = spawn(process.execPath, ["--import", "tsx", file, ...args], { cwd: ROOT, env: this.environment() });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
    }
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`${file} ended with ${code}: ${text}`);
    return text;
  }

  /** Processes the newest launcher started, by what they are. */
  children(): Map<Part, number> {
    const launcher = this.started.at(-1);
    const listing = execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
    const found = new Map<Part, number>();
    for (const line of listing.split("\n")) {
      const [, pid, parent, state, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      if (Number(parent) !== launcher?.pid || state?.startsWith("Z") || args === undefined) continue;
      if (/next-server|next start|bin\/next/.test(args)) found.set("web", Number(pid));
      else if (args.includes("projector.ts")) found.set("projector", Number(pid));
      else if (args.includes("bin/postgres")) found.set("postgres", Number(pid));
    }
    return found;
  }

  async assertReady(): Promise<void> {
    const answer = await fetch(`${this.baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    expect(answer.status).toBe(200);
  }

  async stop(): Promise<void> {
    for (const launcher of this.started.splice(0)) {
      if (launcher.exitCode !== null || launcher.signalCode !== null) continue;
      launcher.kill("SIGTERM");
      await once(launcher, "exit");
    }
  }

  remove(): void {
    fs.rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
