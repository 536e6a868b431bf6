import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { GET as getMetrics } from "@/app/metrics/route";
import { GET as getReady } from "@/app/readyz/route";
import { CANARY, canaryEvent, seedCanary, storedCanaries } from "@/app/testing/canary-events";
import { bearer, call, rpc, testSite } from "@/app/testing/test-client";
import { contracts } from "@/server/operations/registry";
import { closeRuntime } from "@/server/operations/runtime";
import { metrics } from "@/server/platform/metrics";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";

const db = testSite();
const home = fs.mkdtempSync(path.join(os.tmpdir(), "canary-faults-"));
let failures: string[] = [];
let headers: Record<string, string> = {};
/** Every byte this process writes to its outputs, however it does. */
let written = "";

/**
 * What the database answers while it fails: an error with the canary in its message, detail and hint, as PostgreSQL itself puts
 * row values there. TERMINATED ends the session's own backend in the middle of the statement.
 */
const STATES = {
  "statement timeout": "57014",
  "lock timeout": "55P03",
  "unique violation": "23505",
  "check violation": "23514",
  "not null violation": "23502",
  "foreign key violation": "23503",
  "serialization failure": "40001",
  "disk full": "53100",
  "undefined column": "42703",
  "permission denied": "42501",
  "invalid text representation": "22P02",
  "terminated backend": "TERMINATED",
} as const;

beforeAll(async () => {
  const rules = path.join(home, "rules.yml");
  const fast = ["query", "command", "append", "execute", "process", "export", "anonymous"]
    .map((name) => `${name}: { perSecond: 100000, burst: 100000 }`)
    .join(", ");
  fs.writeFileSync(
    rules,
    `${fs.readFileSync("server/operations/endpoint-rules.demo.yml", "utf8")}\nlimits: { ${fast} }\n`,
  );
  process.env.ENDPOINT_RULES_FILE = rules;
  failures = await seedCanary(db);
  headers = await bearer("alice");
  // A row policy of every table, asked for each row the web's role touches; off while fault_t is empty.
  await db.pool.query(`
    CREATE TABLE fault_t (state text);
    CREATE FUNCTION fail_now() RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public AS $$
    DECLARE wanted text := (SELECT state FROM fault_t);
    BEGIN
      IF wanted IS NULL THEN RETURN true; END IF;
      IF wanted = 'TERMINATED' THEN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN true; END IF;
      RAISE EXCEPTION 'Failing row contains (${CANARY})' USING ERRCODE = wanted, DETAIL = 'Key (email)=(${CANARY}) exists.',
        HINT = '${CANARY}', CONSTRAINT = 'some ${CANARY} constraint', TABLE = '${CANARY} t', COLUMN = '${CANARY} c';
    END $$;
    DO $$ DECLARE t regclass; BEGIN
      FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'fault_t' LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY failing ON %s USING (fail_now()) WITH CHECK (fail_now())', t);
      END LOOP;
    END $$;`);
});

// Spies end with each test.
beforeEach(() => {
  const keep = (chunk: unknown) => {
    written += typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString();
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(keep);
  vi.spyOn(process.stderr, "write").mockImplementation(keep);
  for (const method of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, method).mockImplementation((...args) => void keep(args.map(String).join(" ")));
  // The very object that the logger's stream calls, not this module's view of it.
  const shared = createRequire(import.meta.url)("node:fs") as typeof fs;
  const { writeSync } = shared;
  vi.spyOn(shared, "writeSync").mockImplementation(((fd: number, data: string | Uint8Array, ...rest: unknown[]) => {
    if (fd > 2) return (writeSync as (...all: unknown[]) => number)(fd, data, ...rest);
    keep(data);
    return Buffer.byteLength(data as string);
  }) as typeof fs.writeSync);
});

afterAll(() => {
  fs.rmSync(home, { recursive: true });
});

type Schema = { [word: string]: unknown };

/** Something that the schema takes, with the canary in every text that isn't an identifier. */
function sample(schema: Schema, name = ""): unknown {
  const { type, anyOf, oneOf, pattern, properties, required, items, minItems } = schema;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const first = (anyOf ?? oneOf) as Schema[] | undefined;
  if (first?.[0]) return sample(first[0], name);
  if (name === "failureIds") return failures;
  if (name === "failureId") return failures[0];
  if (type === "object")
    return Object.fromEntries(
      ((required as string[] | undefined) ?? []).map((n) => [
        n,
        sample((properties as { [n: string]: Schema })[n] ?? {}, n),
      ]),
    );
  if (type === "array") return minItems ? [sample(items as Schema, name)] : [];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (name === "hostId") return DEMO_HOST_ID;
  if (name === "planHash") return `sha256:${"0".repeat(64)}`;
  if (typeof pattern === "string" && pattern.includes("8}-")) return "0193f2d0-0000-7000-8000-00000000c0aa";
  if (name === "projectionName") return "portal-query";
  if (name === "consumerGroup") return "user-query-group";
  if (/Id$|reason|language/.test(name)) return "plain";
  return CANARY;
}

/** What an answer says by itself, plus what can't be a caller's: its own words back in a refusal would be a leak too. */
function requestsOf(contract: (typeof REGISTRY)[number]): object[] {
  const valid = sample(z.toJSONSchema(contract.request, { io: "input", unrepresentable: "any" }) as Schema) as object;
  const invalid = { ...valid, [CANARY]: CANARY, [`/${CANARY}`]: { [CANARY]: [CANARY] } };
  return [{ hostId: DEMO_HOST_ID, ...valid }, invalid];
}
const REGISTRY = contracts();
const seen = new Map<string, number>();

/** Every operation, valid and invalid, on the surface of its kind or REST in turn; the events route; metrics; readiness. */
async function sweep(fault: string): Promise<string[]> {
  const leaks: string[] = [];
  const look = (where: string, answer: { status: number; text: string; headers: Headers }) => {
    seen.set(`${fault} ${answer.status}`, (seen.get(`${fault} ${answer.status}`) ?? 0) + 1);
    const all = `${answer.text}${[...answer.headers].flat().join(" ")}`;
    if (all.includes(CANARY)) leaks.push(`${fault}: ${where}: ${answer.text.slice(0, 300)}`);
  };
  for (const [i, contract] of REGISTRY.entries()) {
    const { name, kind } = contract;
    // The demo's button reads the store's JSON, which the web's role can't.
    if (name === "breakDemoProjection" && fault === "healthy") continue;
    for (const [j, body] of requestsOf(contract).entries()) {
      look(name, (i + j) % 2 === 0 ? await call.rest(name, body, headers) : await call[kind](rpc(name, body), headers));
    }
  }
  const role = canaryEvent(90, "RoleCreatedEvent", "Role", "r-fault", 1, { roleId: "r-fault", roleDesc: CANARY });
  look("events", await call.events([role], headers));
  look("events invalid", await call.events([{ ...role, type: CANARY, [CANARY]: CANARY }], headers));
  look("no JSON", await call.rest("getNotification", `{"${CANARY}": ${CANARY}`, headers));
  look("unknown", await call.query(rpc(CANARY, { [CANARY]: CANARY }, CANARY.slice(0, 3)), headers));
  for (const answer of [await getMetrics(), await getReady()])
    look("probe", { status: answer.status, headers: answer.headers, text: await answer.text() });
  if (written.includes(CANARY))
    leaks.push(
      `${fault}: output: ${written.slice(Math.max(0, written.indexOf(CANARY) - 300), written.indexOf(CANARY) + 80)}`,
    );
  return leaks;
}

const count = (fault: string, status: number) => seen.get(`${fault} ${status}`) ?? 0;

test("ER-PAY-10 ER-PAY-17 ER-OBS-08 no operation lets a value out in an answer, header, log line or metric while the database fails in twelve ways", async () => {
  expect(await sweep("healthy")).toEqual([]);
  expect(count("healthy", 200)).toBeGreaterThan(20);
  expect(count("healthy", 500)).toBe(0);
  for (const [fault, state] of Object.entries(STATES)) {
    await db.pool.query("DELETE FROM fault_t");
    await db.pool.query("INSERT INTO fault_t VALUES ($1)", [state]);
    expect(await sweep(fault)).toEqual([]);
    expect(count(fault, 500) + count(fault, 503) + count(fault, 409), fault).toBeGreaterThan(20);
  }
  await db.pool.query("DELETE FROM fault_t");
  expect(written).toContain("operation failed");
  expect(written).toContain('"sqlState":"23505"');
}, 120_000);

test("ER-PAY-10 ER-OBS-08 nor when no connection can be made, or each is cut in the middle of a query", async () => {
  const url = process.env.DATABASE_URL as string;
  const target = new URL(url);
  const cutting = net.createServer((client) => {
    const server = net.connect(Number(target.port), target.hostname);
    let messages = 0;
    client.on("data", (data) => {
      messages += 1;
      // Start and authentication pass; the first statement after them never arrives whole.
      if (messages > 4) client.destroy();
      else server.write(data);
    });
    server.on("data", (data) => client.write(data));
    client.on("error", () => server.destroy()).on("close", () => server.destroy());
    server.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
  const { port } = cutting.address() as net.AddressInfo;
  for (const [fault, to] of [
    ["refused", 9],
    ["cut", port],
  ] as const) {
    await closeRuntime();
    const through = new URL(url);
    through.port = String(to);
    // A driver may name the database and the user in its text.
    if (fault === "refused") through.pathname = `/${CANARY}`;
    process.env.DATABASE_URL = through.toString();
    expect(await sweep(fault)).toEqual([]);
    expect(count(fault, 200)).toBeLessThan(10);
    expect(count(fault, 500) + count(fault, 503), fault).toBeGreaterThan(20);
  }
  await closeRuntime();
  process.env.DATABASE_URL = url;
  cutting.close();
}, 60_000);

test("ER-PAY-10 after all that no stored text beside the bytes holds a value: audit, notifications, error texts", async () => {
  const { rows } = await db.pool.query("SELECT count(*)::int AS n FROM event_replay_audit_t");
  expect(rows[0].n).toBeGreaterThan(0);
  expect(await storedCanaries(db.pool)).toEqual([]);
});

test("ER-OBS-07 labels of metrics are words of ours: no id, no host, and nothing that a caller or producer made up", async () => {
  const allowed = new Set([
    "surface",
    "operation",
    "code",
    "status",
    "state",
    "transaction",
    "sqlstate",
    "le",
    "class",
  ]);
  const names = new Set<string>();
  const values = new Set<string>();
  for (const metric of await metrics.getMetricsAsJSON()) {
    for (const { labels } of metric.values as { labels: Record<string, string | number> }[]) {
      for (const [name, value] of Object.entries(labels)) {
        names.add(name);
        if (name !== "le") values.add(String(value));
      }
    }
  }
  expect(values.size).toBeGreaterThan(40);
  expect([...names].filter((name) => !allowed.has(name))).toEqual([]);
  expect([...values].filter((value) => !/^[A-Za-z][A-Za-z0-9_.-]{0,63}$|^[0-9A-Z]{5}$/.test(value))).toEqual([]);
  expect([...values].filter((value) => /[0-9a-f]{8}-|^[0-9a-f]{32}/.test(value))).toEqual([]);
});
