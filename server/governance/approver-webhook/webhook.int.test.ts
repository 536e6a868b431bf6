import { createHmac } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { as, call, planRequest } from "@/server/testing/planning";
import { failedUpdates } from "@/server/testing/replay-plans";
import { sendNotices } from "./send-notices";
import { readWebhookSettings } from "./settings";

const db = testDatabase();
const SECRET = "a secret of thirty-two characters";
const servers: http.Server[] = [];

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type Received = { readonly body: string; readonly headers: http.IncomingHttpHeaders };

/** A receiver that answers with these statuses, then 200. */
async function receiver(...statuses: number[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ body: Buffer.concat(chunks).toString(), headers: request.headers });
    response.writeHead(statuses.shift() ?? 200).end("an answer nobody reads");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

async function plan(validationMode = "EXECUTE") {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  const request = planRequest(failureIds, { validationMode, reason: "a reason that stays here" });
  const made = await call<{ replayRequestId: string; planHash: string }>(
    as(db.pool, { hostId, name: "alice" }),
    "createEventReplayPlan",
    request,
  );
  return { hostId, ...made };
}
const settings = (url: string) => ({ url, secret: SECRET, publicUrl: "https://events.example.org" });
const deliveryOf = async (replayRequestId: string) =>
  (await db.pool.query("SELECT * FROM webhook_delivery_t WHERE replay_request_id = $1", [replayRequestId])).rows[0];

test("approvers' webhook: one signed notice for a plan that awaits approval, without reason or payload, none for a preview", async () => {
  const { url, received } = await receiver();
  const made = await plan();
  const preview = await plan("VALIDATE_ONLY");
  await sendNotices(db.pool, settings(url));
  await sendNotices(db.pool, settings(url));
  expect(received).toHaveLength(1);
  const [{ body, headers }] = received as [Received];
  expect(JSON.parse(body)).toMatchObject({
    event: "event-replay.approval-requested",
    replayRequestId: made.replayRequestId,
    planHash: made.planHash,
    url: `https://events.example.org/event-replay/requests/${made.replayRequestId}`,
  });
  expect(body).not.toContain("a reason that stays here");
  const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
    headers["x-event-admin-signature"] as string,
  ) as unknown as string[];
  expect(signature).toBe(createHmac("sha256", SECRET).update(`${seconds}.${body}`).digest("hex"));
  expect(await deliveryOf(made.replayRequestId)).toMatchObject({
    status: "DELIVERED",
    attempt_count: 1,
    last_http_status: 200,
  });
  expect(await deliveryOf(preview.replayRequestId)).toBeUndefined();
});

test("approvers' webhook: a refused notice is tried again later under the same delivery id, and not once the plan is decided", async () => {
  const { url, received } = await receiver(503);
  const made = await plan();
  await sendNotices(db.pool, settings(url));
  expect(await deliveryOf(made.replayRequestId)).toMatchObject({
    status: "PENDING",
    attempt_count: 1,
    last_http_status: 503,
  });
  await sendNotices(db.pool, settings(url));
  expect(received).toHaveLength(1);
  await db.pool.query("UPDATE webhook_delivery_t SET next_attempt_ts = now()");
  await sendNotices(db.pool, settings(url));
  expect(received).toHaveLength(2);
  expect(received[1]?.headers["x-event-admin-delivery"]).toBe(received[0]?.headers["x-event-admin-delivery"]);
  const decided = await plan();
  const failing = await receiver(500);
  await sendNotices(db.pool, settings(failing.url));
  const decision = { replayRequestId: decided.replayRequestId, planHash: decided.planHash, reason: "no" };
  await call(as(db.pool, { hostId: decided.hostId, name: "alice" }), "cancelEventReplay", decision);
  await db.pool.query("UPDATE webhook_delivery_t SET next_attempt_ts = now() WHERE status = 'PENDING'");
  await sendNotices(db.pool, settings(failing.url));
  expect(failing.received).toHaveLength(1);
  expect((await deliveryOf(decided.replayRequestId)).status).toBe("GIVEN_UP");
});

test("approvers' webhook: off without an address; plain http elsewhere, credentials in it and short secrets are refused", () => {
  expect(readWebhookSettings({})).toBeNull();
  expect(readWebhookSettings({ WEBHOOK_URL: "https://hooks.example.org/x", WEBHOOK_SECRET: SECRET })).toMatchObject({
    secret: SECRET,
  });
  const refused = [
    "http://hooks.example.org/x",
    "https://user:pass@hooks.example.org/x",
    "ftp://127.0.0.1/x",
    "nonsense",
  ];
  for (const url of refused) {
    expect(() => readWebhookSettings({ WEBHOOK_URL: url, WEBHOOK_SECRET: SECRET })).toThrow("WEBHOOK_URL");
  }
  expect(() => readWebhookSettings({ WEBHOOK_URL: "https://hooks.example.org/x", WEBHOOK_SECRET: "short" })).toThrow(
    "WEBHOOK_SECRET",
  );
});
