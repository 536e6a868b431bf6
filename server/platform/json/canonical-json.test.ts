import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSample } from "@/server/testing/json-arbitrary";
import { encodeCanonical } from "./canonical-json";
import { type JsonNode, parseExactJson } from "./exact-json";

function canonical(text: string): string {
  const parsed = parseExactJson(text);
  if (!parsed.ok) throw new Error(parsed.rule);
  return encodeCanonical(parsed.value).toString("utf8");
}

/** The same value with members in another order at every level. */
function shuffled(node: JsonNode): JsonNode {
  if (node.kind === "array") return { kind: "array", items: node.items.map(shuffled) };
  if (node.kind !== "object") return node;
  const members = node.members.map(({ name, value }) => ({ name, value: shuffled(value) })).reverse();
  return { kind: "object", members: [...members.slice(1), ...members.slice(0, 1)] };
}

test("ER-PAY-15 canonical bytes depend on the value alone, not on member order or white space", () => {
  fc.assert(
    fc.property(jsonSample, ({ text, node }) => {
      const bytes = encodeCanonical(node).toString("utf8");
      expect(canonical(text)).toBe(bytes);
      expect(encodeCanonical(shuffled(node)).toString("utf8")).toBe(bytes);
    }),
  );
});

test("ER-PAY-15 encoding is idempotent and loses nothing", () => {
  fc.assert(
    fc.property(jsonSample, ({ node }) => {
      const bytes = encodeCanonical(node);
      const parsed = parseExactJson(bytes);
      expect(parsed.ok && encodeCanonical(parsed.value).equals(bytes)).toBe(true);
      expect(parsed.ok && sortedNode(parsed.value)).toEqual(sortedNode(node));
    }),
  );
});

test("ER-PAY-15 members are sorted by UTF-16 code unit, escapes are minimal, number lexemes stay", () => {
  expect(
    canonical(
      '{ "\\ufb01" : 1.0, "\\ud83d\\ude00" : 1E+02, "b":-0, "B":[ ], "a":{"z":1e-7,"":10000000000000000000000} }',
    ),
  ).toBe('{"B":[],"a":{"":10000000000000000000000,"z":1e-7},"b":-0,"😀":1E+02,"ﬁ":1.0}');
  expect(canonical('"\\u0041\\/\\"\\\\\\b\\f\\n\\r\\t\\u001F\\u007f\\u00e9"')).toBe(
    '"A/\\"\\\\\\b\\f\\n\\r\\t\\u001f\u007fé"',
  );
});

function sortedNode(node: JsonNode): unknown {
  if (node.kind === "array") return node.items.map(sortedNode);
  if (node.kind !== "object") return node;
  return new Map(
    [...node.members].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, value }) => [name, sortedNode(value)]),
  );
}
