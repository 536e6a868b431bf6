import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";

const homes: string[] = [];
const servers: EmbeddedPostgres[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const home of homes.splice(0)) fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function newHome(): string {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-pg-test-"));
  homes.push(home);
  return home;
}

async function start(home: string, throwaway = true): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ home, throwaway });
  servers.push(server);
  return server;
}

async function query(server: EmbeddedPostgres, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url("postgres") });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("a second start on the same folder uses the server that already runs there", async () => {
  const home = newHome();
  const first = await start(home);
  const second = await start(home);
  expect(second.reused).toBe(true);
  expect(second.pid).toBe(first.pid);
  expect(await query(second, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("after kill -9 of the server the next start has every committed row", async () => {
  const home = newHome();
  const first = await start(home, false);
  await query(first, "create table kept as select 42 as n");
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  const second = await startWhenFreed(home);
  expect(second.reused).toBe(false);
  expect(await query(second, "select n from kept")).toEqual([{ n: 42 }]);
});

/** The killed server's last processes hold its shared memory for a moment; the supervisor tries again as this does. */
async function startWhenFreed(home: string): Promise<EmbeddedPostgres> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(home, false);
    } catch (error) {
      if (attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

test("a lock file whose process is somebody else's by now doesn't hinder the start", async () => {
  const home = newHome();
  await (await start(home)).stop();
  const stranger = spawn("sleep", ["60"]);
  try {
    const lines = [stranger.pid, path.join(home, "data"), 1, 5999, "", "127.0.0.1", "", "ready"];
    fs.writeFileSync(path.join(home, "data/postmaster.pid"), lines.join("\n"));
    const server = await start(home);
    expect(server.reused).toBe(false);
    expect(await query(server, "select 1 as n")).toEqual([{ n: 1 }]);
  } finally {
    stranger.kill("SIGKILL");
    await once(stranger, "exit");
  }
});

test("the password is only for the owner to read, and a wrong one is refused", async () => {
  const home = newHome();
  const server = await start(home);
  expect(fs.statSync(path.join(server.home, "password")).mode & 0o777).toBe(0o600);
  const client = new pg.Client({ connectionString: server.url("postgres").replace(/:[0-9a-f]{48}@/, ":wrong@") });
  await expect(client.connect()).rejects.toMatchObject({ code: "28P01" });
});

test("row values stay out of the server's log", async () => {
  const home = newHome();
  const server = await start(home);
  await query(server, "create table secret (v text unique check (length(v) < 99))");
  await query(server, "insert into secret values ('canary-7c1f')");
  await expect(query(server, "insert into secret values ('canary-7c1f')")).rejects.toMatchObject({ code: "23505" });
  const [row] = (await query(
    server,
    "select current_setting('log_error_verbosity') as v, current_setting('log_min_error_statement') as s",
  )) as [{ v: string; s: string }];
  expect(row).toEqual({ v: "terse", s: "panic" });
});
