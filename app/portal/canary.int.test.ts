import { beforeAll, expect, test } from "vitest";
import { GET as getMetrics } from "@/app/metrics/route";
import { GET as getReady } from "@/app/readyz/route";
import { CANARY, canaryEvent, seedCanary, storedCanaries } from "@/app/testing/canary-events";
import { bearer, call, rpc, testSite } from "@/app/testing/test-client";
import { operations } from "@/server/operations/registry";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";

const db = testSite();
let failures: string[] = [];

beforeAll(async () => {
  failures = await seedCanary(db);
});

test("ER-PAY-10 failures made from canary payloads are listed, grouped and shown without it on every read", async () => {
  const headers = await bearer("alice");
  const { rows: held } = await db.pool.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM event_failure_event_t WHERE convert_from(payload_plain, 'UTF8') LIKE $1",
    [`%${CANARY}%`],
  );
  expect(held[0]?.n).toBeGreaterThanOrEqual(2);
  const ids = failures;
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
    exportAuditEvent: [{ format: "CSV" }, { format: "JSON" }],
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
  expect(await storedCanaries(db.pool)).toEqual([]);
});

test("ER-PAY-17 a database error whose text holds the row reaches no answer: a refusal by class, or INTERNAL", async () => {
  const headers = await bearer("alice");
  const append = (n: number) =>
    call.events(
      [canaryEvent(n, "RoleCreatedEvent", "Role", `r${n}`, 1, { roleId: `r${n}`, roleDesc: CANARY })],
      headers,
    );
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
