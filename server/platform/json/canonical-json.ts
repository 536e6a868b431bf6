import type { JsonMember, JsonNode } from "./exact-json";

/** Name of the encoding; stored beside what it encoded, so that a later encoding never reinterprets older bytes. */
export const CANONICAL_ENCODING = "event-replay-canonical-v1";

/**
 * `event-replay-canonical-v1`: UTF-8 JSON, members sorted by UTF-16 code unit, no insignificant white space, minimal escapes,
 * number lexemes as received (design §3 Canonical bytes). Equal for any member order of the same nodes; idempotent under
 * parse and encode. Needs a node of `parseExactJson`.
 */
export function encodeCanonical(node: JsonNode): Buffer {
  return Buffer.from(canonicalText(node), "utf8");
}

/** The same as text, for jsonb parameters. */
export function canonicalText(node: JsonNode): string {
  switch (node.kind) {
    case "string":
      return quoted(node.value);
    case "number":
      return node.lexeme;
    case "boolean":
      return node.value ? "true" : "false";
    case "null":
      return "null";
    case "array": {
      let text = "";
      for (const item of node.items) text += text === "" ? canonicalText(item) : `,${canonicalText(item)}`;
      return `[${text}]`;
    }
    case "object": {
      let text = "";
      for (const { name, value } of sorted(node.members)) {
        text += `${text === "" ? "" : ","}${quoted(name)}:${canonicalText(value)}`;
      }
      return `{${text}}`;
    }
  }
}

/** Text without anything to escape, the common case, needs no serialiser. */
function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

function sorted(members: readonly JsonMember[]): readonly JsonMember[] {
  for (let index = 1; index < members.length; index++) {
    if ((members[index - 1]?.name ?? "") > (members[index]?.name ?? "")) return [...members].sort(byName);
  }
  return members;
}

function byName(a: JsonMember, b: JsonMember): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
