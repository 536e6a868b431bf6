import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { endWithParent } from "./end-with-parent.mjs";

const SUPERVISOR = import.meta.dirname;
let folder: string;

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-supervisor-test-"));
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function runModule(name: string, text: string): ChildProcess {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
}

async function nextLine(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.includes("\n")) return text.trim();
  }
  throw new Error("the process ended without a word");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

test("processes end when their launcher is killed with SIGKILL, and its throw-away folder goes", async () => {
  const throwAway = fs.mkdtempSync(path.join(folder, "throw-away-"));
  const launcher = runModule(
    "launcher.mjs",
    `import { spawn } from "node:child_process";
     import { endWithParent } from ${JSON.stringify(path.join(SUPERVISOR, "end-with-parent.mjs"))};
     const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
     endWithParent({ removeFolder: ${JSON.stringify(throwAway)} }).addChild(child, "TERM");
     console.log(child.pid);
     setInterval(() => {}, 1000);`,
  );
  const pid = Number(await nextLine(launcher));
  expect(isAlive(pid)).toBe(true);
  launcher.kill("SIGKILL");
  await until(() => expect(isAlive(pid)).toBe(false));
  await until(() => expect(fs.existsSync(throwAway)).toBe(false));
});

test("a process that crashes is started again, and stop ends even one that ignores SIGTERM", async () => {
  const marker = path.join(folder, "starts");
  fs.writeFileSync(
    path.join(folder, "stubborn.mjs"),
    `import fs from "node:fs";
     process.on("SIGTERM", () => {});
     fs.appendFileSync(${JSON.stringify(marker)}, process.pid + "\\n");
     setInterval(() => {}, 1000);`,
  );
  const { superviseChild } = await import("./child.mjs");
  const child = superviseChild({
    name: "stubborn",
    args: [path.join(folder, "stubborn.mjs")],
    cwd: folder,
    env: process.env,
    logFile: path.join(folder, "stubborn.log"),
    guard: endWithParent(),
    say: () => undefined,
  });
  const starts = () => (fs.existsSync(marker) ? fs.readFileSync(marker, "utf8").trim().split("\n").map(Number) : []);
  await until(() => expect(starts()).toHaveLength(1));
  process.kill(starts()[0] as number, "SIGKILL");
  await until(() => expect(starts()).toHaveLength(2));
  await child.stop(300);
  expect(child.pid).toBeNull();
  expect(isAlive(starts()[1] as number)).toBe(false);
});

test("only the living supervisor's own file names the running instance, and only its owner may read it", async () => {
  const data = fs.mkdtempSync(path.join(folder, "data-"));
  const { readInstance } = await import("./instance-file.mjs");
  const holder = runModule(
    "start.mjs",
    `import { writeInstance } from ${JSON.stringify(path.join(SUPERVISOR, "instance-file.mjs"))};
     writeInstance(${JSON.stringify(data)}, { baseUrl: "http://127.0.0.1:1", databaseUrl: "postgres://x", demo: true, secret: "s" });
     console.log("written");
     setInterval(() => {}, 1000);`,
  );
  await nextLine(holder);
  expect(readInstance(data)).toMatchObject({ pid: holder.pid, demo: true });
  expect(fs.statSync(path.join(data, "instance.json")).mode & 0o777).toBe(0o600);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(readInstance(data)).toBeNull();
});
