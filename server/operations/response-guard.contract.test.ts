import { expect, test } from "vitest";
import { z } from "zod";
import { contracts } from "./registry";
import { responseProblems } from "./response-guard";

const of = (response: z.ZodType) => responseProblems({ name: "op", response });
const short = z.string().max(10);

test("ER-PAY-10 no published answer has a member that could carry a payload, key, header or value, or a text without a bound", () => {
  expect(contracts().length).toBeGreaterThan(40);
  expect(contracts().flatMap(responseProblems)).toEqual([]);
});

test("ER-PAY-10 a payload-like member is refused wherever it hides, and eventJson only as null", () => {
  for (const member of [
    "payload",
    "eventBytes",
    "event_json",
    "headers",
    "key",
    "value",
    "changedValue",
    "source-key",
    "exception",
  ]) {
    for (const wrap of [
      (s: z.ZodType) => s,
      (s: z.ZodType) => z.strictObject({ items: z.array(z.strictObject({ inner: s })) }),
      (s: z.ZodType) => z.union([z.strictObject({ kind: z.literal("A") }), s]).nullable(),
      (s: z.ZodType) => z.strictObject({ pair: z.tuple([short, s]) }),
    ]) {
      expect(of(wrap(z.strictObject({ [member]: short }))), member).toEqual([
        expect.stringMatching(/is named like what never leaves$/),
      ]);
    }
  }
  expect(of(z.strictObject({ correctedPayload: short.nullable() }))).toHaveLength(1);
  expect(of(z.strictObject({ eventJson: z.null(), payloadDigest: short, sensitivePayload: z.boolean() }))).toEqual([]);
});

test("ER-PAY-10 an answer that admits what it doesn't name, or a text of any length, is refused", () => {
  expect(of(z.strictObject({ note: z.string() }))).toEqual(["op.note is a text without a bound"]);
  expect(of(z.strictObject({ list: z.array(z.string()) }))).toEqual(["op.list is a text without a bound"]);
  expect(of(z.object({ note: short }).loose())).not.toEqual([]);
  expect(of(z.record(z.string(), short))).not.toEqual([]);
  expect(of(z.strictObject({ anything: z.unknown() }))).toEqual(["op.anything admits anything"]);
  expect(of(z.strictObject({ anything: z.any() }))).toEqual(["op.anything admits anything"]);
});
