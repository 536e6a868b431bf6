import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSample } from "@/server/testing/json-arbitrary";
import { isWithinNumeric, jsonPointer, parseExactJson } from "./exact-json";

function refusal(text: string | Buffer): string {
  const parsed = parseExactJson(text);
  return parsed.ok ? "accepted" : `${parsed.pointer} ${parsed.rule}`;
}

test("ER-APP-10 an exact parse keeps member order and number lexemes of any JSON text", () => {
  fc.assert(
    fc.property(jsonSample, ({ text, node }) => {
      expect(parseExactJson(text)).toEqual({ ok: true, value: node });
      expect(parseExactJson(Buffer.from(` ${text}\n`))).toEqual({ ok: true, value: node });
    }),
  );
});

test("ER-APP-10 any cut, doubled or otherwise broken JSON text is refused exactly when JSON.parse refuses it", () => {
  const broken = fc
    .tuple(
      jsonSample,
      fc.nat(),
      fc.nat(),
      fc.constantFrom("", "{", "]", '"', ",", "\\", "\u0001", "0", "-", "e", "tru", "\ufeff"),
    )
    .map(([{ text }, start, length, inserted]) => {
      const at = start % (text.length + 1);
      return text.slice(0, at) + inserted + text.slice(at + (length % 3));
    });
  fc.assert(
    fc.property(broken, (text) => {
      const parsed = parseExactJson(text);
      // What the exact parser refuses on purpose is no syntax, so JSON.parse is no judge of it.
      if (!parsed.ok && parsed.rule !== "SYNTAX" && parsed.rule !== "TRAILING_TEXT") return;
      let accepted = true;
      try {
        JSON.parse(text);
      } catch {
        accepted = false;
      }
      expect(parsed.ok).toBe(accepted);
    }),
    { numRuns: 2_000 },
  );
});

test("ER-APP-10 a duplicate member is refused with its pointer, also when spelled with escapes or far apart", () => {
  expect(refusal('{"a":{"b":1,"\\u0062":2}}')).toBe("/a/b DUPLICATE_MEMBER");
  const many = Array.from({ length: 40 }, (_, index) => `"m${index}":0`).join(",");
  expect(refusal(`{${many},"m3":1}`)).toBe("/m3 DUPLICATE_MEMBER");
  expect(refusal('{"__proto__":1,"constructor":2}')).toBe("accepted");
  expect(refusal('{"__proto__":1,"__proto__":2}')).toBe("/__proto__ DUPLICATE_MEMBER");
});

test("ER-APP-10 NUL and lone surrogates are refused wherever they hide", () => {
  expect(refusal('{"a":["x","\\u0000"]}')).toBe("/a/1 NUL_CHARACTER");
  expect(refusal('{"a":"\u0000"}')).toBe("/a NUL_CHARACTER");
  expect(refusal('{"a":"\\ud800"}')).toBe("/a LONE_SURROGATE");
  expect(refusal('{"a":"\\udc00\\ud800"}')).toBe("/a LONE_SURROGATE");
  expect(refusal('{"a":"\ud800"}')).toBe("/a LONE_SURROGATE");
  expect(refusal('{"\\ud800":1}')).toBe(" LONE_SURROGATE");
  expect(refusal('"\\ud83d\\ude00"')).toBe("accepted");
});

test("ER-APP-10 a number is refused exactly beyond PostgreSQL's numeric, exponents expanded", () => {
  expect(refusal(`[${"9".repeat(131_072)}]`)).toBe("accepted");
  expect(refusal(`[1${"0".repeat(131_072)}]`)).toBe("/0 NUMBER_OUT_OF_RANGE");
  expect(refusal("[1e131071]")).toBe("accepted");
  expect(refusal("[1e131072]")).toBe("/0 NUMBER_OUT_OF_RANGE");
  expect(refusal("[0.001e131074]")).toBe("accepted");
  expect(refusal("[1e-16383]")).toBe("accepted");
  expect(refusal("[1.0e-16383]")).toBe("/0 NUMBER_OUT_OF_RANGE");
  expect(refusal(`[0.${"1".repeat(16_384)}]`)).toBe("/0 NUMBER_OUT_OF_RANGE");
  expect(isWithinNumeric("0e1073741822")).toBe(true);
  expect(isWithinNumeric("0e1073741823")).toBe(false);
  expect(isWithinNumeric("1e99999999999999999999999999")).toBe(false);
});

test("ER-APP-10 depth, trailing text, byte order mark and invalid UTF-8 are refused by name", () => {
  expect(refusal("[".repeat(100) + "]".repeat(100))).toBe("accepted");
  expect(refusal("[".repeat(101) + "]".repeat(101))).toMatch(/TOO_DEEP$/);
  expect(refusal("[".repeat(1_000_000))).toMatch(/TOO_DEEP$/);
  expect(refusal("{} {}")).toBe(" TRAILING_TEXT");
  expect(refusal("\ufeff{}")).toBe(" SYNTAX");
  expect(refusal(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBe(" INVALID_UTF8");
  expect(refusal(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe(" INVALID_UTF8");
  expect(refusal("")).toBe(" SYNTAX");
});

test("ER-APP-10 a refusal's pointer holds no C1 control, line separator or mark of writing direction", () => {
  for (const mark of [
    "\u0085",
    "\u009b",
    "\u061c",
    "\u200e",
    "\u200f",
    "\u202e",
    "\u2066",
    "\u2069",
    "\u2028",
    "\u2029",
  ]) {
    expect(jsonPointer([`a${mark}b`]), mark.codePointAt(0)?.toString(16)).toBe("/a\ufffdb");
  }
  expect(jsonPointer(["naïve", "שם", "名"])).toBe("/naïve/שם/名");
});

test("ER-APP-10 the pointer of a refusal is bounded and holds names, never a value", () => {
  const parsed = parseExactJson(`{"${"n".repeat(5_000)}":{"~/\\u0007":["secret", tru]}}`);
  expect(parsed.ok).toBe(false);
  if (parsed.ok) return;
  expect(parsed.pointer.length).toBe(256);
  expect(refusal('{"~/\\u0007":["secret", tru]}')).toBe("/~0~1\ufffd/1 SYNTAX");
});
