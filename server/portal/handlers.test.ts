import { expect, test } from "vitest";
import type { ProjectedEvent } from "@/server/event-replay/projection/domain/types";
import { decodeJson } from "@/server/platform/json/decode-data";
import { portalProjection } from "./portal-projection";

const projection = portalProjection();
const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const ID = "0196f0c2-0000-7000-8000-00000000000a";

/** Changes of one event by its registered handler. */
function changesOf(eventType: string, data: unknown, rest: Partial<ProjectedEvent> = {}) {
  const { current } = projection.registries;
  const entry = current.find(eventType, "1");
  const handler = entry && projection.handlerFor(entry, current.version);
  if (handler?.kind !== "rows") throw new Error(`${eventType} has no rows handler`);
  return handler.project({
    hostId: HOST,
    eventId: "0196f0c2-0000-7000-8000-000000000001",
    eventType,
    schemaVersion: "1",
    userId: null,
    aggregateType: null,
    aggregateId: null,
    aggregateVersion: 4,
    rootInstanceId: null,
    graphRevision: null,
    time: "2026-01-02T03:04:05.123456789Z",
    data: data as ProjectedEvent["data"],
    ...rest,
  });
}

test("an update sets only the columns its data knows, a created row every column", () => {
  const role = { hostId: HOST, roleId: "auditor" };
  expect(changesOf("RoleUpdatedEvent", role)).toEqual([
    {
      table: "role_t",
      key: [HOST, HOST, "auditor"],
      set: { aggregate_version: 4, update_user: null, update_ts: "2026-01-02T03:04:05.123456789Z" },
    },
  ]);
  const [created] = changesOf("RefTableCreatedEvent", { tableId: ID, tableName: "claims" });
  expect(created).toMatchObject({ set: { data_host_id: null, table_name: "claims", table_desc: null, active: true } });
});

test("secrets are projected by no handler, at no depth", () => {
  const secrets = { password: "hunter2", token: "hunter2", clientSecret: "hunter2", clientSecretEncrypted: "hunter2" };
  const nested = { settings: [{ privateKey: "hunter2", refToken: "hunter2", label: "kept" }] };
  const identity = { hostId: HOST, toolId: "hammer", userId: "u", clientId: ID, email: "e", ...secrets, ...nested };
  for (const type of ["ToolCreatedEvent", "UserOnboardedEvent", "ClientCreatedEvent", "UserSignedInEvent"]) {
    expect(JSON.stringify(changesOf(type, identity))).not.toContain("hunter2");
  }
  expect(JSON.stringify(changesOf("ToolCreatedEvent", identity))).toContain("kept");
});

test("a number no JavaScript number can hold reaches documents and columns with its digits unchanged", () => {
  const data = decodeJson(Buffer.from('{"hostId":"h","toolId":12345678901234567890,"price":0.10000000000000000001}'));
  const [change] = changesOf("ToolCreatedEvent", data);
  expect(change).toMatchObject({ key: [HOST, "Tool", "h|12345678901234567890"] });
  expect(JSON.stringify(change)).toContain("0.10000000000000000001");
});

test("a separator inside an identity member never makes two entities one", () => {
  const keyOf = (a: string, b: string) =>
    changesOf("AgentSkillCreatedEvent", { hostId: "h", agentDefId: a, skillId: b })[0]?.key[2];
  expect(keyOf("a|b", "c")).not.toBe(keyOf("a", "b|c"));
  expect(keyOf("a\\", "b")).not.toBe(keyOf("a\\|b", ""));
});

test("ER-EXE-11 a date or time that a clock or a session setting would decide is refused, also where the database reads it", () => {
  const user = (birthday: unknown) => changesOf("UserUpdatedEvent", { userId: "u", birthday });
  const role = { hostId: HOST, roleId: "r", userId: "u" };
  const start = (startTs: unknown) => changesOf("RoleUserUpdatedEvent", { ...role, startTs });
  const nowhere = [
    "now",
    "today",
    "yesterday",
    "epoch",
    "infinity",
    "-infinity",
    "01/02/2026",
    "2 Jan 2026",
    "20260102",
    5,
  ];
  for (const text of [...nowhere, "2026-02-30", "0000-01-01", "2026-1-2", "2026-01-02T00:00:00Z"]) {
    expect(() => user(text), String(text)).toThrow();
  }
  for (const text of [
    ...nowhere,
    "2026-01-02",
    "2026-01-02T03:04:05",
    "2026-01-02 03:04:05+00",
    "2026-01-02T03:04:05 PST",
  ]) {
    expect(() => start(text), String(text)).toThrow();
  }
  expect(user("2024-02-29")[0]).toMatchObject({ set: { birthday: "2024-02-29" } });
  expect(start("2026-01-02T03:04:05.5+05:30")[0]).toMatchObject({ set: { start_ts: "2026-01-02T03:04:05.5+05:30" } });
  expect([user("")[0], start(null)[0]]).toMatchObject([{ set: { birthday: null } }, { set: { start_ts: null } }]);
});

test("a uuid column takes one spelling: upper case becomes lower case, every other form is refused", () => {
  const config = (configId: unknown) => changesOf("ConfigUpdatedEvent", { configId });
  expect(config(ID.toUpperCase())[0]?.key).toEqual([HOST, ID]);
  for (const text of [`{${ID}}`, ID.replaceAll("-", ""), `${ID} `, ID.replace("-", ""), "not-a-uuid", 7]) {
    expect(() => config(text), String(text)).toThrow();
  }
});
