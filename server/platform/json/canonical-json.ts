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
      return JSON.stringify(node.value);
    case "number":
      return node.lexeme;
    case "boolean":
      return node.value ? "true" : "false";
    case "null":
      return "null";
    case "array":
      return `[${node.items.map(canonicalText).join(",")}]`;
    case "object":
      return `{${[...node.members].sort(byName).map(memberText).join(",")}}`;
  }
}

function memberText(member: JsonMember): string {
  return `${JSON.stringify(member.name)}:${canonicalText(member.value)}`;
}

function byName(a: JsonMember, b: JsonMember): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
