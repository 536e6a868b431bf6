import { isUtf8 } from "node:buffer";
import { type JsonNode, type JsonRule, parseExactJson } from "./exact-json";
import { ExactNumber } from "./exact-number";

/** Bytes that are no JSON text of the append boundary. Carries a rule, never a piece of the text (V8's own error would). */
export class JsonDecodeError extends Error {
  constructor(readonly rule: JsonRule) {
    super(`the bytes are not the JSON they should be: ${rule}`);
    this.name = "JsonDecodeError";
  }
}

/**
 * A number in value position with sixteen or more digits, or with an exponent. Any other lexeme has at most fifteen
 * significant digits of ordinary size, which a double returns unchanged. Text inside a string may match too; that costs time only.
 */
const SUSPECT_NUMBER = /[:,[\s]-?[0-9](?:[0-9.]{15}|[0-9.]*[eE])/;

/**
 * The one decoder of event bytes, for LIVE and REPLAY alike: `JSON.parse`, except that a number whose decimal value a
 * JavaScript number can't return unchanged becomes an ExactNumber. Nothing is ever rounded silently (design §3 Numbers).
 * Throws JsonDecodeError for bytes that aren't UTF-8 JSON.
 */
export function decodeJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new JsonDecodeError("INVALID_UTF8");
  const text = bytes.toString("utf8");
  if (!SUSPECT_NUMBER.test(text) && !/^[-0-9]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      throw new JsonDecodeError("SYNTAX");
    }
  }
  const parsed = parseExactJson(text);
  if (!parsed.ok) throw new JsonDecodeError(parsed.rule);
  return nodeToValue(parsed.value);
}

/** The same value for a node that is parsed already: `decodeJson(encodeCanonical(node))` equals `nodeToValue(node)`. */
export function nodeToValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "object": {
      const value: Record<string, unknown> = {};
      for (const member of node.members) {
        if (member.name === "__proto__") {
          Object.defineProperty(value, member.name, {
            value: nodeToValue(member.value),
            configurable: true,
            enumerable: true,
            writable: true,
          });
        } else {
          value[member.name] = nodeToValue(member.value);
        }
      }
      return value;
    }
    case "array":
      return node.items.map(nodeToValue);
    case "number":
      return numberOf(node.lexeme);
    case "null":
      return null;
    default:
      return node.value;
  }
}

/** The JavaScript number of a lexeme if it has exactly the same decimal value, else the lexeme itself as ExactNumber. */
export function numberOf(lexeme: string): number | ExactNumber {
  const value = Number(lexeme);
  return Number.isFinite(value) && decimalOf(String(value)) === decimalOf(lexeme) ? value : new ExactNumber(lexeme);
}

/** One spelling per decimal value: sign, significant digits, exponent of the last one. Linear in the lexeme's length. */
function decimalOf(lexeme: string): string {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(lexeme);
  if (!parts) return lexeme;
  const fraction = parts[3] ?? "";
  const digits = (parts[2] ?? "") + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits.charCodeAt(start) === 0x30) start++;
  while (end > start && digits.charCodeAt(end - 1) === 0x30) end--;
  if (start === end) return "0";
  const exponent = Number(parts[4] ?? "0") - fraction.length + (digits.length - end);
  return `${parts[1]}${digits.slice(start, end)}e${exponent}`;
}
