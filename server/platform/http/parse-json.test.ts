import { expect, test } from "vitest";
import { AppError } from "@/server/platform/errors";
import { parseJson } from "./parse-json";

function ruleOf(body: Buffer | string): string | undefined {
  try {
    parseJson(body);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe("INVALID_REQUEST");
    expect(JSON.stringify((error as AppError).details)).not.toContain("canary");
    return (error as AppError).details.errors?.[0]?.rule;
  }
  return undefined;
}

test("ER-API-21 a body that is not one unambiguous JSON text is refused by rule, without a piece of it", () => {
  expect(ruleOf('{"canary":')).toBe("SYNTAX");
  expect(ruleOf('{"canary":1} canary')).toBe("TRAILING_TEXT");
  expect(ruleOf('{"canary":1,"canary":2}')).toBe("DUPLICATE_MEMBER");
  expect(ruleOf(Buffer.from([0x22, 0xff, 0x22]))).toBe("INVALID_UTF8");
  expect(ruleOf(`${"[".repeat(200)}${"]".repeat(200)}`)).toBe("TOO_DEEP");
  expect(ruleOf('"\\u0000canary"')).toBe("NUL_CHARACTER");
});

test("ER-API-21 a body is read as it is: names with a meaning in JavaScript stay plain members", () => {
  const value = parseJson('{"__proto__":{"admin":true},"n":1.5}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["__proto__", "n"]);
  expect((value as { admin?: unknown }).admin).toBeUndefined();
});
