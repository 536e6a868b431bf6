import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import type { GROUP_ROLES } from "@/server/platform/db/catalog";
import { createPool, type PoolOptions } from "@/server/platform/db/pool";
import { withDatabase } from "@/server/testing/template";

export type GroupRole = (typeof GROUP_ROLES)[number];

export type TestDatabase = {
  /** Ready from the file's first beforeAll on. */
  readonly pool: pg.Pool;
  readonly url: string;
  readonly name: string;
  /** The same database with no more rights than that role's, for whoever connects by it. */
  urlAs(role: GroupRole): string;
  /** A pool with no more rights than that role's; ended with the file. */
  poolAs(role: GroupRole): pg.Pool;
  /** Another pool on the same database (a second process, a small pool); ended with the file. */
  createPool(options?: PoolOptions): pg.Pool;
};

/**
 * Call once at the top of a test file: it gets its own database, cloned from the migrated template before the first test and
 * dropped after the last. With KEEP_TEST_DB=1 (and TEST_DATABASE_URL) the database of a file with a failed test is kept and named.
 */
export function testDatabase(): TestDatabase {
  const name = `event_admin_test_${process.pid}_${randomBytes(5).toString("hex")}`;
  const pools: pg.Pool[] = [];
  let url: string | null = null;

  beforeAll(async () => {
    const server = inject("databaseServer");
    if (server === null) throw new Error("this file needs a database: run it without TEST_DATABASE_URL=none");
    await asAdmin(server.adminUrl, (admin) => admin.query(`CREATE DATABASE ${name} TEMPLATE ${server.template}`));
    url = withDatabase(server.adminUrl, name);
  });

  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern before it hands over the suite
  afterAll(async ({}, suite) => {
    await Promise.all(pools.map((pool) => pool.end().catch(() => undefined)));
    const server = inject("databaseServer");
    if (server === null || url === null) return;
    if (process.env.KEEP_TEST_DB === "1" && hasFailure(suite)) {
      process.stderr.write(`kept database ${name}\n`);
      return;
    }
    await asAdmin(server.adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  });

  const existing = () => {
    if (url === null) throw new Error("the test database exists only inside tests and hooks");
    return url;
  };
  const urlAs = (role: GroupRole) => {
    const limited = new URL(existing());
    limited.searchParams.set("options", `-c role=${role}`);
    return limited.toString();
  };
  const make = (options: PoolOptions = {}, as: string = existing()) => {
    const pool = createPool(as, { name: "test", ...options });
    pools.push(pool);
    return pool;
  };
  let main: pg.Pool | null = null;
  const limited = new Map<GroupRole, pg.Pool>();
  return {
    name,
    get url() {
      return existing();
    },
    urlAs,
    poolAs(role) {
      const made = limited.get(role) ?? make({}, urlAs(role));
      limited.set(role, made);
      return made;
    },
    get pool() {
      main ??= make();
      return main;
    },
    createPool: (options) => make(options),
  };
}

type TaskLike = { readonly result?: { readonly state?: string }; readonly tasks?: readonly TaskLike[] };

function hasFailure(task: unknown): boolean {
  const { result, tasks } = task as TaskLike;
  return result?.state === "fail" || (tasks ?? []).some(hasFailure);
}

async function asAdmin(url: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: url, application_name: "event-admin:test-admin" });
  admin.on("error", () => undefined);
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
