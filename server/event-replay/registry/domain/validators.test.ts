import fc from "fast-check";
import { expect, test } from "vitest";
import { ExactNumber } from "@/server/platform/json/exact-number";
import { RENAMED_SCHEMA } from "../registry-fixture";
import { jsonSchemaValidator, PORTAL_OBJECT_V1 } from "./validators";

test("ER-APP-39 PORTAL_OBJECT_V1 accepts every JSON object and nothing else", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const object = typeof value === "object" && value !== null && !Array.isArray(value);
      expect(PORTAL_OBJECT_V1(value)).toEqual(object ? [] : [{ field: "", rule: "DATA_NOT_AN_OBJECT" }]);
    }),
  );
  expect(PORTAL_OBJECT_V1(new ExactNumber("1e400"))).toHaveLength(1);
  expect(PORTAL_OBJECT_V1('{"a":1}')).toHaveLength(1);
});

test("ER-APP-15 a typed validator names every broken rule by pointer and keyword, never a value", () => {
  const validate = jsonSchemaValidator({ ...RENAMED_SCHEMA, additionalProperties: false });
  expect(validate({ accountId: "a", name: "ok" })).toEqual([]);
  const violations = validate({ accountId: 31337, name: "much-too-long-secret", "x/y": 1 });
  expect(violations).toEqual(
    expect.arrayContaining([
      { field: "/accountId", rule: "TYPE" },
      { field: "/name", rule: "MAX_LENGTH" },
      { field: "/x~1y", rule: "ADDITIONAL_PROPERTIES" },
    ]),
  );
  expect(JSON.stringify(violations)).not.toMatch(/31337|secret/);
  expect(validate({ accountId: "a" })).toEqual([{ field: "/name", rule: "REQUIRED" }]);
});

test("ER-APP-45 a validator with an invalid schema can't be built", () => {
  expect(() => jsonSchemaValidator({ type: "objekt" })).toThrow();
});
