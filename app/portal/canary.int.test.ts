import { beforeAll, expect, test } from "vitest";
import { GET as getMetrics } from "@/app/metrics/route";
import { GET as getReady } from "@/app/readyz/route";
import { bearer, call, rpc, testSite } from "@/app/testing/test-client";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { operations } from "@/server/operations/registry";
import { inTransaction } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import { withDemoDefect } from "@/server/portal/demo/defect";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { portalProjection } from "@/server/portal/portal-projection";
import { drainLane } from "@/server/testing/drain-lane";

const db = testSite();
/** In every text value of every event; nothing else in the database may hold it. */
const CANARY = "cnry5b7e";
const CONFIG_ID = "0193f2d0-0000-7000-8000-00000000c001";

const event = (n: number, type: string, aggregatetype: string, subject: string, version: number, data: object) => ({
  specversion: "1.0",
  id: `0193f2d0-0000-7000-8000-0000000${String(10_000 + n)}`,
  source: `urn:${CANARY}`,
  type,
  time: "2026-01-02T03:04:05Z",
  subject,
  host: DEMO_HOST_ID,
  user: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a01",
  nonce: n,
  aggregatetype,
  aggregateversion: version,
  data: { hostId: DEMO_HOST_ID, ...data },
});

beforeAll(async () => {
  const headers = await bearer("alice");
  await db.pool.query("INSERT INTO demo_defect_t (id, enabled, since_ts) VALUES (1, true, now())");
  const person = {
    userId: CONFIG_ID,
    email: `${CANARY}@example.org`,
    entityId: CANARY,
    userType: CANARY,
    language: "en",
  };
  const batches = [
    [event(1, "RoleCreatedEvent", "Role", "night-watch", 1, { roleId: "night-watch", roleDesc: CANARY })],
    [
      event(2, "RoleUserCreatedEvent", "RoleUser", "night-watch|u1", 1, {
        roleId: "night-watch",
        userId: "u1",
        note: CANARY,
      }),
    ],
    [event(3, "UserUpdatedEvent", "User", CONFIG_ID, 1, { ...person, firstName: CANARY, address: CANARY })],
    [
      event(4, "ConfigPropertyUpdatedEvent", "ConfigProperty", CONFIG_ID, 1, {
        propertyId: CONFIG_ID,
        propertyName: CANARY,
      }),
    ],
  ];
  for (const events of batches) {
    const answer = await call.events(events, headers);
    expect(answer.status, answer.text).toBe(200);
  }
  const projection = withDemoDefect(portalProjection());
  const projector = db.poolAs("event_admin_projector");
  await inTransaction(projector, "test-lanes", (tx) => ensureProgressRows(tx, projection));
  await drainLane(projector, projection, partitionOfHost(DEMO_HOST_ID));
});

test("ER-PAY-10 failures made from canary payloads are listed, grouped and shown without it on every read", async () => {
  const headers = await bearer("alice");
  const { rows } = await db.pool.query<{ failure_id: string }>("SELECT failure_id FROM event_failure_transaction_t");
  const { rows: held } = await db.pool.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM event_failure_event_t WHERE convert_from(payload_plain, 'UTF8') LIKE $1",
    [`%${CANARY}%`],
  );
  expect(held[0]?.n).toBeGreaterThanOrEqual(2);
  const ids = rows.map((row) => row.failure_id);
  const planned = await call.rest(
    "createEventReplayPlan",
    {
      hostId: DEMO_HOST_ID,
      projectionName: "portal-query",
      consumerGroup: "user-query-group",
      failureIds: ids,
      strategy: "DEPENDENCY_CLOSURE",
      validationMode: "EXECUTE",
      reason: "to read it back",
    },
    headers,
  );
  expect(planned.status, planned.text).toBe(200);
  expect(planned.text).not.toContain(CANARY);
  const { replayRequestId } = JSON.parse(planned.text) as { replayRequestId: string };
  const reads = [...operations(true).values()]
    // processEventReplay is the internal call; a plan nobody approved gives it nothing to answer.
    .filter(({ contract }) => contract.kind === "query" && contract.name !== "processEventReplay")
    .map((o) => o.contract.name);
  const data: Record<string, object[]> = {
    getEventReplayFailure: ids.map((failureId) => ({ failureId })),
    getEventReplay: [{ replayRequestId }],
    checkEventReplaySelection: [{ failureIds: ids }],
    listEventReplayCandidate: [{ pageSize: 200 }, { search: CANARY }, { pageSize: 200, includeDiagnostic: true }],
  };
  let answered = 0;
  for (const name of reads) {
    for (const request of data[name] ?? [{}]) {
      const body = { hostId: DEMO_HOST_ID, ...request };
      for (const answer of [await call.rest(name, body, headers), await call.query(rpc(name, body), headers)]) {
        expect(answer.status, `${name} ${answer.text}`).toBe(200);
        expect(answer.text, name).not.toContain(CANARY);
        for (const [header, value] of answer.headers) expect(`${header}: ${value}`).not.toContain(CANARY);
        answered += 1;
      }
    }
  }
  expect(answered).toBeGreaterThan(2 * ids.length);
});

test("ER-PAY-10 ER-OBS-07 metrics and readiness over canary payloads hold none of it", async () => {
  const metrics = await (await getMetrics()).text();
  expect(metrics).toMatch(/event_admin_failures\{status="OPEN",code="[A-Z_0-9]+"\} [1-9]/);
  expect(metrics).not.toContain(CANARY);
  expect(await (await getReady()).text()).not.toContain(CANARY);
});

test("ER-PAY-10 stored text beside the payload columns and the projection itself holds no canary", async () => {
  const { rows: columns } = await db.pool.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND (table_name LIKE 'event\\_%' OR table_name IN
            ('notification_t', 'dead_letter_queue', 'outbox_message_t', 'projection_scope_t', 'person_t', 'processor_status_t'))
        AND data_type IN ('character varying', 'text', 'jsonb', 'ARRAY')`,
  );
  const mayHold = new Set(["event_store_t.payload", "event_store_t.metadata"]);
  expect(columns.length).toBeGreaterThan(80);
  for (const { table_name, column_name } of columns) {
    const { rows } = await db.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${table_name} WHERE ${column_name}::text LIKE $1`,
      [`%${CANARY}%`],
    );
    const name = `${table_name}.${column_name}`;
    expect(mayHold.has(name) || rows[0]?.n === 0, name).toBe(true);
  }
});

test("ER-PAY-17 a database error whose text holds the row reaches no answer: a refusal by class, or INTERNAL", async () => {
  const headers = await bearer("alice");
  const append = (n: number) =>
    call.events([event(n, "RoleCreatedEvent", "Role", `r${n}`, 1, { roleId: `r${n}`, roleDesc: CANARY })], headers);
  await db.pool.query(
    `ALTER TABLE event_store_t ADD CONSTRAINT own_ck CHECK (payload::text NOT LIKE '%${CANARY}%') NOT VALID`,
  );
  const refused = await append(21);
  expect(refused.status).toBe(400);
  expect(refused.text).not.toContain(CANARY);
  await db.pool.query("ALTER TABLE event_store_t DROP CONSTRAINT own_ck");
  await db.pool.query(
    `CREATE FUNCTION own_raise() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'row %', NEW.payload USING ERRCODE = 'P0001', DETAIL = NEW.payload::text; END $$`,
  );
  await db.pool.query("CREATE TRIGGER own_tr BEFORE INSERT ON event_store_t FOR EACH ROW EXECUTE FUNCTION own_raise()");
  const internal = await append(22);
  expect(internal.body).toMatchObject({ status: 500, code: "INTERNAL", retryable: false, details: {} });
  expect(internal.text).not.toContain(CANARY);
  await db.pool.query("DROP TRIGGER own_tr ON event_store_t");
});
