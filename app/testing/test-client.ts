import { afterAll, beforeAll } from "vitest";
import { POST as postRest } from "@/app/api/event-replay/[operation]/route";
import { POST as postEvents } from "@/app/api/events/route";
import { POST as postCommand } from "@/app/portal/command/route";
import { GET as getQuery, POST as postQuery } from "@/app/portal/query/route";
import { closeRuntime } from "@/server/operations/runtime";
import { type DemoIdentity, issueDemoToken } from "@/server/platform/auth/demo/demo-token";
import { DEMO_IDENTITIES } from "@/server/portal/demo/identities";
import { type TestDatabase, testDatabase } from "@/server/testing/database";

export const SECRET = "test-secret-test-secret-test-secret";
const BASE = "http://127.0.0.1:3000";

type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
};
type HeaderMap = Readonly<Record<string, string>>;

/**
 * A database of the file's own, and the process's runtime on it: tests call the very functions the framework calls. The
 * runtime connects with the rights of a web process and no more; the test itself is the owner.
 */
export function testSite(): TestDatabase {
  const db = testDatabase();
  beforeAll(() => {
    process.env.DATABASE_URL = db.urlAs("event_admin_web");
    process.env.EVENT_ADMIN_DEMO = "1";
    process.env.NEXTAUTH_SECRET = SECRET;
    delete process.env.NEXTAUTH_URL;
    delete process.env.ENDPOINT_RULES_FILE;
  });
  afterAll(closeRuntime);
  return db;
}

export function identity(name: string, overrides: Partial<DemoIdentity> = {}): DemoIdentity {
  const found = DEMO_IDENTITIES.find((candidate) => candidate.name === name);
  if (!found) throw new Error("no such demo identity");
  return { ...found, ...overrides };
}

export async function bearer(who: string | DemoIdentity): Promise<HeaderMap> {
  const token = await issueDemoToken(typeof who === "string" ? identity(who) : who, SECRET);
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

/** One function per surface; `body` is sent as it is when it's text or bytes. */
export const call = {
  query: (body: unknown, headers: HeaderMap = {}) => send(postQuery, "/portal/query", body, headers),
  command: (body: unknown, headers: HeaderMap = {}) => send(postCommand, "/portal/command", body, headers),
  events: (body: unknown, headers: HeaderMap = {}) => send(postEvents, "/api/events", body, headers),
  rest: (operation: string, body: unknown, headers: HeaderMap = {}) =>
    send(
      (request) => postRest(request, { params: Promise.resolve({ operation }) }),
      `/api/event-replay/${encodeURIComponent(operation)}`,
      body,
      headers,
    ),
  async get(cmd: string, headers: HeaderMap = {}): Promise<Answer> {
    return read(await getQuery(new Request(`${BASE}/portal/query?cmd=${encodeURIComponent(cmd)}`, { headers })));
  },
};

export const rpc = (operation: string, params: unknown, id = "1") => ({
  jsonrpc: "2.0",
  method: `lightapi.net/user/${operation}/0.1.0`,
  params,
  id,
});

export const legacy = (action: string, data: unknown) => ({
  host: "lightapi.net",
  service: "user",
  action,
  version: "0.1.0",
  data,
});

async function send(
  route: (request: Request) => Promise<Response>,
  path: string,
  body: unknown,
  headers: HeaderMap,
): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return read(await route(new Request(`${BASE}${path}`, { method: "POST", headers, body: raw as BodyInit })));
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text) as Record<string, unknown>,
  };
}
