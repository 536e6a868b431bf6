import { expect, test } from "vitest";
import { z } from "zod";
import type { GetFailureResponse, ListCandidateResponse } from "@/server/contracts/failures";
import { notificationOperations } from "@/server/notifications/operations";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { insertFailures } from "@/server/testing/failures";
import { callOperation, readContext } from "@/server/testing/read-context";
import { failureOperations } from "./operations";

const db = testDatabase();
const READS = [...failureOperations, ...notificationOperations];
const CANARY = "canary-7f3e9a41";

test("ER-PAY-10 bytes, keys and event JSON of failures appear in no answer of any read", async () => {
  const hostId = newId();
  const userId = newId();
  const member = (version: number) => ({
    eventType: "UserUpdatedEvent",
    aggregateType: "User",
    aggregateId: "u",
    version,
    userId,
    payload: `{"secret":"${CANARY}","version":${version}}`,
  });
  const [first] = await insertFailures(
    db.pool,
    { hostId, members: [member(1)], sourceKey: CANARY },
    {
      hostId,
      members: [member(2)],
      errorCode: "REPLAY_GAP",
      sourceKey: CANARY,
      gap: { scopeType: "AGGREGATE", scopeKey: "User:u", expected: 1, got: 2 },
    },
  );
  const stored = await db.pool.query(
    "SELECT count(*)::int AS n FROM event_failure_event_t WHERE position($1::bytea IN payload_plain) > 0",
    [Buffer.from(CANARY)],
  );
  expect(stored.rows[0].n).toBe(2);
  await db.pool.query(
    `INSERT INTO notification_t (host_id, id, user_id, event_class, process_ts, status, error, transaction_id)
      VALUES ($1, $2, $3, 'UserUpdatedEvent', now(), 'DLQ', 'PROJECTION_FAILED', $4)`,
    [hostId, newId(), userId, first?.transactionId],
  );
  const ctx = readContext(db.pool, hostId, { userId });
  const requests: Record<string, object> = {
    getEventReplayFailure: { failureId: first?.failureId },
    checkEventReplaySelection: { failureIds: [first?.failureId] },
    listEventReplayCandidate: { includeDiagnostic: true },
  };
  for (const { contract } of READS) {
    const answer = JSON.stringify(
      await callOperation<object>(READS, contract.name, ctx, requests[contract.name] ?? {}),
    );
    expect(answer.length, contract.name).toBeGreaterThan(2);
    expect(answer, contract.name).not.toContain(CANARY);
    expect(answer, contract.name).not.toContain(Buffer.from(CANARY).toString("hex"));
    expect(answer, contract.name).not.toContain(Buffer.from(CANARY).toString("base64").slice(0, 12));
  }
  // The sweep looked at answers that tell of the very failure.
  const list = await callOperation<ListCandidateResponse>(READS, "listEventReplayCandidate", ctx, {});
  const detail = await callOperation<GetFailureResponse>(READS, "getEventReplayFailure", ctx, {
    failureId: first?.failureId,
  });
  expect([list.items.length, detail.events.length]).toEqual([2, 1]);
});

test("ER-PAY-10 no answer schema of a read has a member that could hold payload, key, header or storage reference", () => {
  const allowed = new Set([
    "payloadDigest",
    "payloadAvailable",
    "payloadStorage",
    "encryptedPayloadBytes",
    "decryptedPayloadBytes",
    "sensitivePayload",
    "eventJson",
  ]);
  for (const { contract } of READS) {
    for (const { name, open, schema } of membersOf(
      z.toJSONSchema(contract.response, { unrepresentable: "any", io: "output" }),
    )) {
      expect(open, `${contract.name} leaves ${name} open`).toBe(false);
      if (
        /payload|ciphertext|plain|bytea|header|sourceKey|objectUri|cipher|wrappedKey|eventJson|changedValue/i.test(name)
      ) {
        expect(allowed, `${contract.name}.${name}`).toContain(name);
      }
      if (name === "eventJson") expect(schema).toMatchObject({ type: "null" });
      if (name === "payloadStorage") expect(schema).toHaveProperty("enum");
    }
  }
});

type Found = { name: string; open: boolean; schema: object };

/** Every property of a JSON schema at any depth; `open` when an object admits undeclared members. */
function membersOf(node: unknown, name = "answer"): Found[] {
  if (node === null || typeof node !== "object") return [];
  if (Array.isArray(node)) return node.flatMap((item) => membersOf(item, name));
  const schema = node as Record<string, unknown>;
  const found: Found[] = [{ name, open: schema.type === "object" && schema.additionalProperties !== false, schema }];
  for (const [key, value] of Object.entries((schema.properties as object | undefined) ?? {}))
    found.push(...membersOf(value, key));
  for (const key of ["items", "anyOf", "allOf", "oneOf", "prefixItems", "$defs"]) {
    const value = schema[key];
    if (key === "$defs" && value) found.push(...Object.values(value).flatMap((def) => membersOf(def, name)));
    else found.push(...membersOf(value, name));
  }
  return found;
}
