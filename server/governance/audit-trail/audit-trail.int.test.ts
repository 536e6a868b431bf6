import { beforeEach, expect, test } from "vitest";
import type { ExportAuditResponse, ListAuditResponse } from "@/server/contracts/audit";
import { type AuditRecord, audit } from "@/server/governance/audit";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { callOperation, readContext } from "@/server/testing/read-context";
import { auditOperations } from "./operations";

const db = testDatabase();
let hostId: string;

beforeEach(() => {
  hostId = newId();
});

const write = (record: Partial<AuditRecord> = {}) =>
  inTransaction(db.pool, "test", (tx) =>
    audit(tx, { hostId, event: "EVENT_REPLAY_PLAN_CREATED", actor: { type: "USER", personId: "i|a" }, ...record }),
  );

const list = (request: object = {}, host = hostId) =>
  callOperation<ListAuditResponse>(auditOperations, "listAuditEvent", readContext(db.pool, host), request);
const exported = (format: "CSV" | "JSON", request: object = {}) =>
  callOperation<ExportAuditResponse>(auditOperations, "exportAuditEvent", readContext(db.pool, hostId), {
    format,
    ...request,
  });

test("ER-APR-17 the trail is read page by page, newest first, none twice and none left out, this host's alone", async () => {
  for (let n = 0; n < 23; n++) await write({ reason: `r${n}` });
  const reasons: (string | null)[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ pageSize: 5, ...(cursor ? { cursor } : {}) });
    reasons.push(...page.items.map((item) => item.reason));
    cursor = page.nextCursor ?? undefined;
    if (reasons.length === 5) await write({ reason: "written meanwhile" });
  } while (cursor !== undefined);
  expect(reasons).toEqual(Array.from({ length: 23 }, (_, n) => `r${22 - n}`));
  expect((await list({}, newId())).items).toEqual([]);
});

test("ER-APR-17 filters by time, person, event, request and failure, also one of many failures of a plan", async () => {
  const [request, failure, other] = [newId(), newId(), newId()];
  await write({ replayRequestId: request, details: { failureIds: [failure, other] } });
  await write({ failureId: failure, actor: { type: "WORKER", workerId: "w-1" }, event: "EVENT_REPLAY_ATTEMPT_FAILED" });
  await write({ event: "CALL_REFUSED", details: { code: "AUTHORIZATION_DENIED", operation: "x", calls: 3 } });
  const count = async (filter: object) => (await list(filter)).items.length;
  expect(await count({ replayRequestId: request })).toBe(1);
  expect(await count({ failureId: failure })).toBe(2);
  expect(await count({ failureId: other })).toBe(1);
  expect(await count({ subjectId: failure })).toBe(2);
  expect(await count({ subjectId: request })).toBe(1);
  expect(await count({ subjectId: newId() })).toBe(0);
  expect(await count({ actorId: "w-1" })).toBe(1);
  expect(await count({ events: ["CALL_REFUSED"] })).toBe(1);
  const { items } = await list();
  const middle = items[1]!.at;
  expect(await count({ from: middle })).toBe(2);
  expect(await count({ to: middle })).toBe(1);
  expect(items[0]!.facts).toEqual([
    { name: "code", text: "AUTHORIZATION_DENIED" },
    { name: "calls", text: "3" },
    { name: "operation", text: "x" },
  ]);
  expect(items.map((item) => item.chainNo)).toEqual([3, 2, 1]);
});

test("ER-APR-17 a cursor of another filter or host is refused", async () => {
  for (let n = 0; n < 3; n++) await write();
  const { nextCursor } = await list({ pageSize: 1 });
  await expect(list({ pageSize: 1, cursor: nextCursor, actorId: "i|a" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  await expect(list({ cursor: nextCursor }, newId())).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("ER-PAY-10 of a record's details only listed names leave, never a nested or unknown one", async () => {
  await write({ details: { planHash: "sha256:ab", payload: "cnry-1", code: { deep: "cnry-1" }, scopes: ["cnry-1"] } });
  const answer = JSON.stringify([await list(), await exported("CSV"), await exported("JSON")]);
  expect(answer).toContain("sha256:ab");
  expect(answer).not.toContain("cnry");
});

test("ER-APR-17 O22 an export neutralises formulas in reasons, names and codes, keeps quoting right and is itself recorded", async () => {
  await db.pool.query(
    `INSERT INTO person_t (host_id, person_id, issuer, subject, display_name) VALUES ($1, 'i|a', 'i', 'a', '@SUM(1+1)')`,
    [hostId],
  );
  for (const reason of ['=HYPERLINK("https://x","y")', "+1", "-1", "@x", "\t=1", "\r=1", 'two\nlines, "quoted"'])
    await write({ reason });
  const csv = await exported("CSV");
  expect(csv.records).toBe(7);
  expect(csv.file).not.toMatch(/(^|,)"[=+\-@\t\r\n]/m);
  expect(csv.file).toContain(`"'=HYPERLINK(""https://x"",""y"")"`);
  expect(csv.file).toContain(`"'@SUM(1+1)"`);
  expect(csv.file).toContain('"two\nlines, ""quoted"""');
  const json = JSON.parse((await exported("JSON")).file) as { event: string; facts: unknown }[];
  expect(json.length).toBe(8);
  expect(json.at(-1)).toMatchObject({
    event: "AUDIT_EXPORTED",
    facts: expect.arrayContaining([{ name: "records", text: "7" }]),
  });
});
