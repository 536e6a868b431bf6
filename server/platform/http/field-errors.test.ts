import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { fieldErrors, MAX_FIELD_ERRORS } from "./field-errors";

const schema = z.strictObject({
  hostId: z.uuid(),
  reason: z.string().min(1).max(5),
  page: z.int().min(0).max(9),
  strategy: z.enum(["EXACT", "DEPENDENCY_CLOSURE"]),
  changes: z.record(z.string(), z.string().max(3)),
  ids: z.array(z.string().max(2)),
});

const errorsOf = (input: unknown) => {
  const parsed = schema.safeParse(input);
  if (parsed.success) throw new Error("expected a refusal");
  return fieldErrors(parsed.error, schema, input);
};

test("ER-PAY-17 each refused member is named by pointer and rule of ours", () => {
  const refused = errorsOf({
    hostId: "no",
    reason: "too long",
    page: -1,
    strategy: "ALL",
    changes: { secret: "canary" },
    ids: 7,
  });
  expect(refused).toEqual([
    { field: "/hostId", rule: "WRONG_FORMAT" },
    { field: "/reason", rule: "TOO_LONG" },
    { field: "/page", rule: "TOO_SMALL" },
    { field: "/strategy", rule: "NOT_ALLOWED" },
    { field: "/changes/*", rule: "TOO_LONG" },
    { field: "/ids", rule: "WRONG_TYPE" },
  ]);
  expect(errorsOf({}).map(({ rule }) => rule)).toEqual(Array(6).fill("REQUIRED"));
});

test("ER-PAY-17 no value and no invented member name appears in a refusal, whatever the input", () => {
  const canary = fc.string({ minLength: 6, maxLength: 20 }).map((s) => `cnry${s}`);
  fc.assert(
    fc.property(canary, fc.jsonValue(), (text, other) => {
      const inputs = [
        {
          hostId: text,
          reason: text,
          page: text,
          strategy: text,
          changes: { [text]: text },
          ids: [text, { [text]: other }],
        },
        { [text]: text, other },
        text,
        [text],
      ];
      for (const input of inputs) expect(JSON.stringify(errorsOf(input))).not.toContain("cnry");
    }),
  );
});

test("ER-PAY-17 a refusal stays bounded when everything is wrong", () => {
  expect(errorsOf({ ids: Array(10_000).fill("long") }).length).toBe(MAX_FIELD_ERRORS);
});
