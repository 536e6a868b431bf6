import Ajv from "ajv";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { updateUserByIdRequest } from "@/server/contracts/portal";
import { portalRegistries } from "@/server/portal/registry";
import { userUpdatedRepairForm } from "./form";
import { PUBLISHED_UPDATE_USER_BY_ID } from "./published-request";
import { userUpdatedRepairV1 } from "./repair-schema";
import { validateUserUpdatedV1 } from "./validator";

const ajv = new Ajv({ strict: true });
addFormats.default(ajv);
const publishedAccepts = ajv.compile(PUBLISHED_UPDATE_USER_BY_ID);
const validatorAccepts = (data: unknown) => validateUserUpdatedV1(data).length === 0;
const commandAccepts = (data: unknown) => updateUserByIdRequest.safeParse(data).success;

const VALID = {
  hostId: "host123",
  email: "person3@example.com",
  userId: "user123",
  entityId: "cust123",
  userType: "E",
  language: "en",
};

test("ER-APP-42 the validator accepts whatever the published command accepts: any id, any length, any user type", () => {
  for (const change of [
    { userId: "not a uuid", hostId: "host123", entityId: "" },
    { firstName: "x".repeat(5_000), address: "x".repeat(100_000), email: "not an address" },
    { userType: "V" },
    { userType: "" },
    { birthday: "2024-02-29" },
    { aggregateVersion: 3, somethingElse: { nested: true } },
  ]) {
    const data = { ...VALID, ...change };
    expect({ data, published: publishedAccepts(data) }).toEqual({ data, published: true });
    expect(validateUserUpdatedV1(data)).toEqual([]);
    expect(commandAccepts(data)).toBe(true);
  }
});

test("ER-APP-42 the validator rejects what the published command rejects, by member and rule, never with a value", () => {
  const cases: [unknown, { field: string; rule: string }][] = [
    [
      { ...VALID, email: undefined },
      { field: "/email", rule: "REQUIRED" },
    ],
    [
      { ...VALID, userType: 7 },
      { field: "/userType", rule: "NOT_A_TEXT" },
    ],
    [
      { ...VALID, firstName: null },
      { field: "/firstName", rule: "NOT_A_TEXT" },
    ],
    [
      { ...VALID, language: "fr" },
      { field: "/language", rule: "NOT_IN_ENUMERATION" },
    ],
    [
      { ...VALID, birthday: "2023-02-29" },
      { field: "/birthday", rule: "NOT_A_DATE" },
    ],
    [
      { ...VALID, birthday: "1990-2-3" },
      { field: "/birthday", rule: "NOT_A_DATE" },
    ],
    [[VALID], { field: "", rule: "NOT_AN_OBJECT" }],
    [null, { field: "", rule: "NOT_AN_OBJECT" }],
  ];
  for (const [data, violation] of cases) {
    expect(validateUserUpdatedV1(data)).toEqual([violation]);
    expect(publishedAccepts(data)).toBe(false);
    expect(commandAccepts(data)).toBe(false);
  }
});

test("ER-APP-42 validator, command schema and published schema agree on any data", () => {
  const members = Object.keys(PUBLISHED_UPDATE_USER_BY_ID.properties);
  const value = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom("en", "E", "1990-02-02", "1990-02-30", "", "fr", "2000-02-29", "1900-02-29"),
    },
    fc.string({ unit: "binary" }),
    fc
      .date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") })
      .map((d) => d.toISOString().slice(0, 10)),
    fc.constantFrom(null, 1, true, {}, []),
  );
  const changes = fc.dictionary(fc.constantFrom(...members, "extra"), value, { maxKeys: 6 });
  const dropped = fc.subarray(members, { maxLength: 2 });
  const some = fc
    .tuple(changes, fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, dropped))
    .map(([changed, without]) => {
      const data: Record<string, unknown> = { ...VALID, ...changed };
      for (const member of without) delete data[member];
      return data;
    });
  let accepted = 0;
  fc.assert(
    fc.property(some, (data) => {
      const published = publishedAccepts(data) === true;
      if (published) accepted += 1;
      expect([validatorAccepts(data), commandAccepts(data)]).toEqual([published, published]);
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

test("ER-APP-43 the first typed policy is UserUpdatedEvent 1 with its validator and repair schema", () => {
  const { current } = portalRegistries();
  const entry = current.find("UserUpdatedEvent", "1");
  expect(entry).toMatchObject({
    replayPolicy: "AGGREGATE_VERSION",
    dataValidator: "USER_UPDATED_V1",
    repairDisposition: "SCHEMA_REPAIR",
    repairSchema: "user-updated-repair-v1",
    externalSideEffects: "NONE",
  });
  expect(current.validators.get("USER_UPDATED_V1")?.({})).toContainEqual({ field: "/userId", rule: "REQUIRED" });
  expect(current.repairSchemas.get("user-updated-repair-v1")).toBe(userUpdatedRepairV1);
  expect(current.entries.filter(({ repairDisposition }) => repairDisposition === "SCHEMA_REPAIR")).toEqual([entry]);
});

test("ER-REP-19 the repair schema admits its fourteen fields within their limits and nothing else", () => {
  const accepts = ajv.compile(userUpdatedRepairV1.jsonSchema);
  const limits = {
    referralId: 320,
    managerId: 320,
    firstName: 255,
    lastName: 255,
    phoneNumber: 64,
    gender: 32,
    country: 128,
    province: 128,
    city: 128,
    postCode: 32,
    address: 512,
  };
  for (const [field, max] of Object.entries(limits)) {
    expect([field, accepts({ [field]: "x".repeat(max) }), accepts({ [field]: "x".repeat(max + 1) })]).toEqual([
      field,
      true,
      false,
    ]);
  }
  expect(["C", "E", "V", ""].map((userType) => accepts({ userType }))).toEqual([true, true, false, false]);
  expect(["en", "fr"].map((language) => accepts({ language }))).toEqual([true, false]);
  expect(["1990-02-02", "1990-02-30"].map((birthday) => accepts({ birthday }))).toEqual([true, false]);
  for (const identity of ["email", "entityId", "userId", "hostId"]) expect(accepts({ [identity]: "x" })).toBe(false);
  expect(accepts({})).toBe(false);
});

test("ER-REP-19 the editable fields are fourteen, in the form's order, each with a review rule", () => {
  const fields = [
    ...["userType", "referralId", "managerId", "language", "firstName", "lastName", "phoneNumber", "gender"],
    ...["birthday", "country", "province", "city", "postCode", "address"],
  ];
  expect(userUpdatedRepairV1.editableFields).toEqual(fields);
  expect(userUpdatedRepairForm.form).toEqual(fields);
  expect(Object.keys(userUpdatedRepairV1.review).sort()).toEqual([...fields].sort());
  expect(fields.filter((field) => userUpdatedRepairV1.review[field] === "full")).toEqual(["userType", "language"]);
});
