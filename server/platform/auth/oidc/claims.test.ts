import { expect, test } from "vitest";
import { type ClaimNames, readClaims } from "./claims";

const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const NAMES: ClaimNames = { issuer: "https://id.test", hostClaim: "host", roleClaim: "role", userClaim: "uid" };
const PERSON = { sub: "ada", uid: "u-1", host: HOST, role: "a b", name: "Ada" };

const read = (payload: object, names: object = {}) => readClaims({ ...payload }, { ...NAMES, ...names });
const actor = (payload: object, names: object = {}) => {
  const reading = read(payload, names);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.actor;
};

test("ER-APR-05 a person is issuer and subject, byte for byte: not name, e-mail, case or look-alike", () => {
  const one = actor({ ...PERSON, email: "ada@corp.test" });
  expect(one.personId).toBe("https://id.test|ada");
  // Renamed, married, moved: the same person.
  expect(actor({ ...PERSON, name: "Ada King", email: "king@corp.test", preferred_username: "aking" }).personId).toBe(
    one.personId,
  );
  // Other bytes: somebody else, however alike they look.
  for (const sub of ["Ada", "ADA", "ada ", "аda", "ada\u200b"]) {
    expect(actor({ ...PERSON, sub }).personId).not.toBe(one.personId);
  }
  expect(actor(PERSON, { issuer: "https://id2.test" }).personId).not.toBe(one.personId);
});

test("ER-APR-09 a token is a person's only with the user claim and without a machine's mark", () => {
  expect(actor(PERSON).human).toBe(true);
  expect(actor({ ...PERSON, azp: "console", client_id: "console" }).human).toBe(true);
  const machines: object[] = [
    { ...PERSON, uid: undefined },
    { ...PERSON, uid: "" },
    { ...PERSON, uid: 7 },
    { ...PERSON, client_id: "ada" },
    { ...PERSON, azp: "ada" },
    { ...PERSON, sub: "svc@clients", azp: "svc" },
    { ...PERSON, gty: "client-credentials" },
    { ...PERSON, grant_type: "client_credentials" },
    { ...PERSON, idtyp: "app" },
    { ...PERSON, act: { sub: "robot" } },
  ];
  for (const payload of machines) expect(actor(payload).human, JSON.stringify(payload)).toBe(false);
  // Which claim marks a person is the deployment's to say.
  expect(actor({ ...PERSON, uid: undefined, oid: "o-1" }, { userClaim: "oid" }).human).toBe(true);
});

test("ER-APR-08 the host is a UUID of the configured claim, or nobody is anybody", () => {
  expect(actor(PERSON).hostId).toBe(HOST);
  expect(actor({ ...PERSON, host: HOST.toUpperCase() }).hostId).toBe(HOST);
  expect(
    actor({ ...PERSON, host: undefined, "https://corp.test/host": HOST }, { hostClaim: "https://corp.test/host" })
      .hostId,
  ).toBe(HOST);
  for (const host of [undefined, null, "", "acme", `{${HOST}}`, `${HOST} `, [HOST], { id: HOST }, 7]) {
    expect(read({ ...PERSON, host }), JSON.stringify(host)).toEqual({ ok: false, problem: "HOST" });
  }
  // A member that every object has is no claim.
  expect(read(PERSON, { hostClaim: "constructor" })).toEqual({ ok: false, problem: "HOST" });
});

test("ER-APR-01 roles come as a text of names or a list, also deep inside; anything else grants nothing", () => {
  const table: [unknown, string[]][] = [
    ["a", ["a"]],
    [" a  b a ", ["a", "b"]],
    [
      ["a b", "c", 7, null, ""],
      ["a b", "c"],
    ],
    [undefined, []],
    [{ admin: true }, []],
    [true, []],
  ];
  for (const [role, roles] of table) expect(actor({ ...PERSON, role }).roles).toEqual(roles);
  const nested = { ...PERSON, role: undefined, realm_access: { roles: ["x"] } };
  expect(actor(nested, { roleClaim: "realm_access.roles" }).roles).toEqual(["x"]);
});

test("ER-APR-08 a subject that can't be stored whole is refused, never cut", () => {
  expect(read({ ...PERSON, sub: "s".repeat(255 - "https://id.test|".length) }).ok).toBe(true);
  for (const sub of ["s".repeat(256), " ", "a\u0000b", "a\ud800", 7, ["ada"]]) {
    expect(read({ ...PERSON, sub })).toEqual({ ok: false, problem: "SUBJECT" });
  }
});

test("ER-APR-18 an ID, refresh or logout token of the same issuer is no access token", () => {
  for (const mark of [{ at_hash: "x" }, { c_hash: "x" }, { typ: "ID" }, { typ: "Refresh" }, { events: {} }]) {
    expect(read({ ...PERSON, ...mark })).toEqual({ ok: false, problem: "NOT_AN_ACCESS_TOKEN" });
  }
  expect(read({ ...PERSON, typ: "Bearer" }).ok).toBe(true);
});

test("a display name is plain text of bounded length, whatever the provider sends", () => {
  expect(actor({ ...PERSON, name: "A\u0000da\n" }).name).toBe("A da");
  expect(actor({ ...PERSON, name: "bob\u202egnp\u200b" }).name).toBe("bob gnp");
  expect(actor({ ...PERSON, name: 7, preferred_username: "ada.l" }).name).toBe("ada.l");
  expect(actor({ ...PERSON, name: "x".repeat(300) }).name).toHaveLength(255);
  expect(actor({ ...PERSON, name: undefined }).name).toBe("ada");
});
