import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSample, numberLexeme } from "@/server/testing/json-arbitrary";
import { encodeCanonical } from "./canonical-json";
import { decodeJson, JsonDecodeError, nodeToValue, numberOf } from "./decode-data";
import { ExactNumber } from "./exact-number";

function decode(text: string): unknown {
  return decodeJson(Buffer.from(text, "utf8"));
}

/** Oracle: both decimals expanded to a fraction of integers and compared. */
function sameDecimal(a: string, b: string): boolean {
  const [x, y] = [fraction(a), fraction(b)];
  return x.numerator * y.denominator === y.numerator * x.denominator;
}

function fraction(text: string): { numerator: bigint; denominator: bigint } {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const power = Number(exponent) - decimals.length;
  const numerator = BigInt(whole.replace("-", "") + decimals) * (whole.startsWith("-") ? -1n : 1n);
  return power >= 0
    ? { numerator: numerator * 10n ** BigInt(power), denominator: 1n }
    : { numerator, denominator: 10n ** BigInt(-power) };
}

test("ER-APP-19 a number is either the JavaScript number of the same decimal value or its exact lexeme, never a rounded one", () => {
  fc.assert(
    fc.property(numberLexeme, (lexeme) => {
      const value = decode(`{"n":${lexeme}}`) as { n: unknown };
      const roundTrips = Number.isFinite(Number(lexeme)) && sameDecimal(String(Number(lexeme)), lexeme);
      if (roundTrips) expect(value.n).toBe(Number(lexeme));
      else expect(value.n).toEqual(new ExactNumber(lexeme));
    }),
    { numRuns: 3_000 },
  );
});

test("ER-APP-19 bytes and an already parsed node decode to the same value, with or without the fast path", () => {
  fc.assert(
    fc.property(jsonSample, ({ text, node }) => {
      const expected = nodeToValue(node);
      expect(decode(text)).toEqual(expected);
      expect(decodeJson(encodeCanonical(node))).toEqual(expected);
    }),
  );
});

test("ER-APP-19 every kind of number that a double changes is found, beside strings that look like one", () => {
  for (const lexeme of [
    "9007199254740993",
    "0.1000000000000000055",
    "1e400",
    "-1E-400",
    "1.7976931348623159e309",
    "5e-324",
    "12345678901234567890",
  ]) {
    const text = `{"id":"4e89-1e999","pad":"${"7".repeat(40)}","n":[${lexeme}],"z":0}`;
    const decoded = decode(text) as { n: unknown[] };
    expect(decoded.n[0]).toEqual(numberOf(lexeme));
    if (lexeme !== "5e-324") expect(decoded.n[0]).toBeInstanceOf(ExactNumber);
  }
  for (const lexeme of [
    "9007199254740991",
    "0.1",
    "1.50",
    "1e22",
    "123456789012345",
    "1e-7",
    "100000000000000000000",
  ]) {
    expect((decode(`[${lexeme}]`) as unknown[])[0]).toBe(Number(lexeme));
  }
  expect(decode("1e400")).toEqual(new ExactNumber("1e400"));
  expect(decode("12345678901234567")).toEqual(new ExactNumber("12345678901234567"));
});

test("ER-APP-19 a decode error carries a rule and nothing of the text", () => {
  for (const bytes of [
    Buffer.from('{"secret": tru}'),
    Buffer.from([0xff, 0x73]),
    Buffer.from(`${"[".repeat(200)}1${"]".repeat(200)}`),
  ]) {
    let caught: unknown;
    try {
      decodeJson(bytes);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(JsonDecodeError);
    expect(String(caught)).not.toMatch(/secret|tru\b/);
    expect((caught as Error).cause).toBeUndefined();
  }
});

test("ER-APP-19 members named like object internals are plain data", () => {
  const decoded = decode('{"__proto__":{"admin":true},"big":12345678901234567890}') as Record<string, unknown>;
  expect(Object.keys(decoded)).toEqual(["__proto__", "big"]);
  expect(decoded.admin).toBeUndefined();
});
