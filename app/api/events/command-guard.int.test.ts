import { expect, test } from "vitest";
import { bearer, call, legacy, rpc, testSite } from "@/app/testing/test-client";
import { encodeAggregateScopeKey } from "@/server/event-replay/registry/domain/scopes";
import { newId } from "@/server/platform/ids";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { footprint } from "@/server/testing/append";
import { insertFailure, insertRepair } from "@/server/testing/replay-rows";

const db = testSite();
const role = (roleId: string, hostId = DEMO_HOST_ID) => ({ hostId, roleId, roleDesc: "d" });
const block = (roleId: string) =>
  insertFailure(db.pool, DEMO_HOST_ID, {
    policy: "AGGREGATE_VERSION",
    scopes: [["AGGREGATE", encodeAggregateScopeKey("Role", roleId)]],
  });
const event = (fields: object) => ({
  ...{ specversion: "1.0", id: newId(), source: "urn:test", time: "2026-01-02T03:04:05Z", host: DEMO_HOST_ID },
  ...{ user: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a01", ...fields },
});
const created = (roleId: string, hostId = DEMO_HOST_ID) =>
  event({
    ...{ type: "RoleCreatedEvent", subject: roleId, host: hostId, aggregatetype: "Role", aggregateversion: 1 },
    data: role(roleId, hostId),
  });
const cloned = (rootinstanceid: string) =>
  event({
    type: "InstanceGraphClonedEvent",
    rootinstanceid,
    instancegraphrevision: 1,
    data: { instanceId: rootinstanceid },
  });
const refusal = (code: string, failureId: string) => ({ code, retryable: true, details: { failureIds: [failureId] } });

test("ER-CAP-29 a command on a blocked aggregate answers 409 AGGREGATE_PROJECTION_BLOCKED on every surface, with the failure's id, and appends nothing", async () => {
  const headers = await bearer("alice");
  const failureId = await block("blocked");
  const before = await footprint(db.pool);
  const expected = refusal("AGGREGATE_PROJECTION_BLOCKED", failureId);
  const rest = await call.rest("createRole", role("blocked"), headers);
  expect(rest).toMatchObject({ status: 409, body: { ...expected, status: 409 } });
  const bare = await call.command(legacy("createRole", role("blocked")), headers);
  expect(bare).toMatchObject({ status: 409, body: { ...expected, statusCode: 409 } });
  const json = await call.command(rpc("createRole", role("blocked")), headers);
  const { code: data, ...others } = expected;
  expect(json).toMatchObject({ status: 409, body: { error: { data, ...others } } });
  expect(await call.events([created("blocked")], headers)).toMatchObject({ status: 409, body: expected });
  // One held member scope refuses its whole transaction.
  expect(await call.events([created("free"), created("blocked")], headers)).toMatchObject({
    status: 409,
    body: expected,
  });
  for (const { text } of [rest, bare, json]) expect(text).not.toMatch(/"n":|SQLSTATE|payload/);
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-30 a proposed repair turns the same command's answer into 409 AGGREGATE_REPAIR_REQUIRED, retryable, and appends nothing", async () => {
  const headers = await bearer("alice");
  const failureId = await block("repaired");
  await insertRepair(db.pool, DEMO_HOST_ID, failureId);
  const before = await footprint(db.pool);
  const expected = { status: 409, body: refusal("AGGREGATE_REPAIR_REQUIRED", failureId) };
  expect(await call.rest("createRole", role("repaired"), headers)).toMatchObject(expected);
  expect(await call.events([created("repaired")], headers)).toMatchObject(expected);
  expect(await footprint(db.pool)).toEqual(before);
});

test("ER-CAP-31 the same key on another host, another aggregate and another root are appended while one is blocked", async () => {
  const [alice, dave] = [await bearer("alice"), await bearer("dave")];
  const root = newId();
  await block("here-only");
  await insertFailure(db.pool, DEMO_HOST_ID, { policy: "GRAPH_ROOT", scopes: [["GRAPH_ROOT", root]] });
  expect((await call.rest("createRole", role("here-only"), alice)).status).toBe(409);
  expect(await call.rest("createRole", role("here-only", OTHER_DEMO_HOST_ID), dave)).toMatchObject({ status: 200 });
  expect(await call.rest("createRole", role("here-only-2"), alice)).toMatchObject({ status: 200 });
  expect(await call.events([cloned(newId())], alice)).toMatchObject({ status: 200 });
});

test("ER-CAP-32 a blocked graph root answers 409 AGGREGATE_PROJECTION_BLOCKED over HTTP as a blocked aggregate does", async () => {
  const headers = await bearer("alice");
  const root = newId();
  const failureId = await insertFailure(db.pool, DEMO_HOST_ID, {
    policy: "GRAPH_ROOT",
    scopes: [["GRAPH_ROOT", root]],
  });
  const before = await footprint(db.pool);
  const expected = refusal("AGGREGATE_PROJECTION_BLOCKED", failureId);
  expect(await call.events([cloned(root)], headers)).toMatchObject({ status: 409, body: expected });
  expect(await footprint(db.pool)).toEqual(before);
});
