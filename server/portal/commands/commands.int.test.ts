import { expect, test } from "vitest";
import type { ErrorCode } from "@/server/contracts/errors";
import { createRoleUser, updateUserById } from "@/server/contracts/portal";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { withDemoDefect } from "@/server/portal/demo/defect";
import { writeDefect } from "@/server/portal/demo/repository";
import { portalProjection } from "@/server/portal/portal-projection";
import { footprint } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { COMMANDS } from "./commands";
import { runCommand } from "./run-command";

const db = testDatabase();
const projection = withDemoDefect(portalProjection());
const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const actor = { hostId: HOST, userId: "01964b05-5532-7c79-8cde-191dcbd421b8" };

function run(name: string, request: Record<string, unknown>) {
  const definition = COMMANDS.find(({ contract }) => contract.name === name);
  if (!definition) throw new Error(`no command ${name}`);
  const parsed = definition.contract.request.parse({ hostId: HOST, ...request }) as Record<string, unknown>;
  return runCommand({ pool: db.pool, projection }, actor, definition, parsed);
}

async function refusal(work: Promise<unknown>): Promise<{ code: ErrorCode; rules: string[] }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error("the command was not refused");
  return { code: error.code, rules: (error.details.errors ?? []).map(({ field, rule }) => `${field} ${rule}`) };
}

async function project(): Promise<number> {
  await inTransaction(db.pool, "test", (tx) => ensureProgressRows(tx, projection));
  return (await drainLane(db.pool, projection, partitionOfHost(HOST))).captured;
}

const person = { email: "tom@acme.example", entityId: "P-1", userType: "C", language: "en", firstName: "Tom" };

test("ER-APP-40 a command's own rules refuse before an event is made: required members, lengths, enumerations, domain", async () => {
  const requests: Record<string, Record<string, unknown>> = {
    createUser: { ...person, userType: "V" },
    updateUserById: { ...person, language: "fr", userId: "u" },
    createRole: { roleId: "a|b" },
    updateRole: { roleId: "auditor" },
    createRoleUser: { roleId: "r", userId: "u", startTs: "2027-01-01T00:00:00Z", endTs: "2026-01-01T00:00:00Z" },
    createConfig: { configName: "", configPhase: "R", configType: "Handler" },
    updateConfigProperty: { configId: newId(), propertyId: newId() },
    createRefTable: { tableName: "x".repeat(81) },
    createRefValue: { tableId: "not a uuid", valueCode: "A" },
    createRefLocale: { valueId: newId(), language: "en" },
  };
  for (const [name, request] of Object.entries(requests)) {
    const contract = COMMANDS.find((command) => command.contract.name === name)?.contract;
    expect([name, contract?.request.safeParse({ hostId: HOST, ...request }).success]).toEqual([name, false]);
  }
  const late = createRoleUser.request.safeParse({ hostId: HOST, ...requests.createRoleUser });
  expect(late.error?.issues[0]).toMatchObject({ params: { rule: "ENDS_BEFORE_START" } });
});

test("ER-APP-40 what must not exist is refused as ALREADY_EXISTS, what must exist as NOT_FOUND, and nothing is appended", async () => {
  await run("createRole", { roleId: "auditor", roleDesc: "Reads everything" });
  const before = await footprint(db.pool);
  expect(await refusal(run("createRole", { roleId: "auditor" }))).toEqual({
    code: "INVALID_REQUEST",
    rules: ["/roleId ALREADY_EXISTS"],
  });
  for (const [name, request] of [
    ["updateRole", { roleId: "nobody", roleDesc: "x" }],
    ["deleteRole", { roleId: "nobody" }],
  ] as const) {
    expect(await refusal(run(name, request))).toEqual({ code: "INVALID_REQUEST", rules: ["/roleId NOT_FOUND"] });
  }
  expect(await footprint(db.pool)).toEqual(before);
  expect(await run("deleteRole", { roleId: "auditor" })).toMatchObject({ aggregateVersion: 2 });
  expect(await refusal(run("updateRole", { roleId: "auditor", roleDesc: "x" }))).toMatchObject({
    rules: ["/roleId NOT_FOUND"],
  });
  expect(await run("createRole", { roleId: "auditor", roleDesc: "Back again" })).toMatchObject({ aggregateVersion: 3 });
});

test("ER-APP-40 a version the caller has seen must be the stored one; without it concurrent changes line up", async () => {
  const { aggregateId } = await run("createConfig", { configName: "gateway", configPhase: "R", configType: "Handler" });
  const config = { configId: aggregateId, configName: "gateway", configPhase: "R", configType: "Handler" };
  expect(await run("updateConfig", { ...config, aggregateVersion: 1 })).toMatchObject({ aggregateVersion: 2 });
  expect((await refusal(run("updateConfig", { ...config, aggregateVersion: 1 }))).rules).toEqual([
    "/aggregateVersion VERSION_CONFLICT",
  ]);
  const both = await Promise.all([run("updateConfig", config), run("updateConfig", config)]);
  expect(both.map((result) => result.aggregateVersion).sort()).toEqual([3, 4]);
});

test("ER-APP-18 each command appends its event through the boundary and the projection shows it", async () => {
  const user = await run("createUser", person);
  await run("updateUserById", { ...person, userId: user.aggregateId, city: "Bergen", extra: "dropped" });
  const table = await run("createRefTable", { tableName: "coverage" });
  const value = await run("createRefValue", { tableId: table.aggregateId, valueCode: "CAR" });
  await run("createRefLocale", { valueId: value.aggregateId, language: "en", valueLabel: "Car" });
  await run("updateRefTable", { tableId: table.aggregateId, tableName: "coverage", editable: false });
  await run("createRoleUser", { roleId: "auditor", userId: user.aggregateId });
  await run("deleteRoleUser", { roleId: "auditor", userId: user.aggregateId });
  expect(await project()).toBe(0);
  const users = await db.pool.query("SELECT city, first_name, aggregate_version, update_user FROM user_t");
  expect(users.rows).toEqual([{ city: "Bergen", first_name: "Tom", aggregate_version: 2, update_user: actor.userId }]);
  const labels = await db.pool.query(
    `SELECT t.editable, v.value_code, l.value_label FROM ref_table_t t
     JOIN ref_value_t v USING (host_id, table_id) JOIN ref_locale_t l USING (host_id, value_id)`,
  );
  expect(labels.rows).toEqual([{ editable: false, value_code: "CAR", value_label: "Car" }]);
  expect((await db.pool.query("SELECT 1 FROM role_user_t")).rowCount).toBe(0);
});

test("ER-APP-42 an update the published command accepts is appended and, when the projection can't hold it, captured whole", async () => {
  const user = await run("createUser", { ...person, email: "visitor@acme.example" });
  const request = { ...person, userId: user.aggregateId, email: "visitor@acme.example", userType: "V" };
  expect(updateUserById.request.safeParse({ hostId: HOST, ...request }).success).toBe(true);
  await run("updateUserById", request);
  expect(await project()).toBe(1);
  const { rows } = await db.pool.query(
    `SELECT error_type, error_constraint, event_type FROM event_failure_transaction_t
     JOIN event_failure_event_t USING (host_id, failure_id)`,
  );
  const userType = { error_type: "23514", error_constraint: "user_t_user_type_check" };
  expect(rows).toEqual([{ ...userType, event_type: "UserUpdatedEvent" }]);
});

test("ER-CAP-29 a command on a blocked aggregate answers AGGREGATE_PROJECTION_BLOCKED before any rule of its own", async () => {
  await inTransaction(db.pool, "test", (tx) => writeDefect(tx, true));
  await run("createRoleUser", { roleId: "auditor", userId: "deputy" });
  expect(await project()).toBe(1);
  const before = await footprint(db.pool);
  for (const [name, request] of [
    ["createRoleUser", {}],
    ["deleteRoleUser", {}],
    ["updateRoleUser", { endTs: "2031-01-01T00:00:00Z", aggregateVersion: 7 }],
  ] as const) {
    const refused = await refusal(run(name, { roleId: "auditor", userId: "deputy", ...request }));
    expect([name, refused.code]).toEqual([name, "AGGREGATE_PROJECTION_BLOCKED"]);
  }
  expect(await footprint(db.pool)).toEqual(before);
});
