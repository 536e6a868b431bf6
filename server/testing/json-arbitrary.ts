import fc from "fast-check";
import type { JsonNode } from "@/server/platform/json/exact-json";

/** Random JSON for property tests: text with white space, escapes and untidy number lexemes, and the node it must parse to. */
export type JsonSample = { readonly text: string; readonly node: JsonNode };

/** Any Unicode text without NUL and lone surrogates. */
export const jsonText = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\u0000", ""));

export const numberLexeme = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,24}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map((parts) => parts.join(""));

const space = fc.constantFrom("", "", " ", "\n", "\t\r ");

const leaf: fc.Arbitrary<JsonSample> = fc.oneof(
  jsonText.map((value) => ({ text: JSON.stringify(value), node: { kind: "string" as const, value } })),
  jsonText.map((value) => ({ text: `"${escaped(value)}"`, node: { kind: "string" as const, value } })),
  numberLexeme.map((lexeme) => ({ text: lexeme, node: { kind: "number" as const, lexeme } })),
  fc.boolean().map((value) => ({ text: String(value), node: { kind: "boolean" as const, value } })),
  fc.constant({ text: "null", node: { kind: "null" as const } }),
);

export const jsonSample: fc.Arbitrary<JsonSample> = fc.letrec<{ sample: JsonSample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.tuple(fc.array(tie("sample"), { maxLength: 4 }), space).map(([items, gap]) => ({
      text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
      node: { kind: "array" as const, items: items.map(({ node }) => node) },
    })),
    fc
      .tuple(fc.uniqueArray(fc.tuple(jsonText, tie("sample")), { selector: ([name]) => name, maxLength: 12 }), space)
      .map(([members, gap]) => ({
        text: `{${gap}${members.map(([name, { text }]) => `${JSON.stringify(name)}${gap}:${gap}${text}`).join(`${gap},`)}${gap}}`,
        node: { kind: "object" as const, members: members.map(([name, { node }]) => ({ name, value: node })) },
      })),
  ),
})).sample;

/** Every code unit as an escape, surrogate pairs included. */
function escaped(value: string): string {
  let text = "";
  for (let index = 0; index < value.length; index++) {
    text += `\\u${value.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }
  return text;
}
