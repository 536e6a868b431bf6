import { isUtf8 } from "node:buffer";
import { type JsonNode, type JsonRule, MAX_JSON_DEPTH, parseExactJson } from "./exact-json";
import { ExactNumber } from "./exact-number";

/** Bytes that are no JSON text of the append boundary. Carries a rule, never a piece of the text (V8's own error would). */
export class JsonDecodeError extends Error {
  constructor(readonly rule: JsonRule) {
    super(`the bytes are not the JSON they should be: ${rule}`);
    this.name = "JsonDecodeError";
  }
}

/** A number in value position with sixteen or more digits and points. Inside a string the same text may match too. */
const LONG_NUMBER = /(?:^|[:,[\s])-?[0-9][0-9.]{15}/;
/** The end of a number whose exponent may bring it down to zero. */
const TINY_EXPONENT = /[eE]-[0-9]{3,}(?:$|[\s,}\]])/;
/** Below this a double loses digits before it reaches zero (its normal range ends near 2.2e-308). */
const SMALLEST_PLAIN = 1e-300;

/**
 * The one decoder of event bytes, for LIVE and REPLAY alike: `JSON.parse`, except that a number whose decimal value a
 * JavaScript number can't return unchanged becomes an ExactNumber. Nothing is ever rounded silently (design §3 Numbers).
 * Throws JsonDecodeError for bytes that aren't UTF-8 JSON. Bytes with such a number, or nested more than 100 levels deep, must
 * also pass `parseExactJson`; everything that came through the append boundary does.
 *
 * Cost beside JSON.parse is kept near a fifth of it: a decimal of at most fifteen significant digits and ordinary size comes back
 * unchanged from a double, so only long digit runs and parsed values at the ends of the range are looked at again.
 */
export function decodeJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new JsonDecodeError("INVALID_UTF8");
  return decodeJsonText(bytes.toString("utf8"));
}

/** The same for bytes that are text already: a source that delivers text saves the way through a Buffer. */
export function decodeJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonDecodeError("SYNTAX");
  }
  const extremes = extremesOf(value, 0);
  const suspect =
    extremes === OUTSIDE ||
    (extremes === ZERO && TINY_EXPONENT.test(text)) ||
    (hasLongRun(text) && LONG_NUMBER.test(text));
  if (!suspect) return value;
  const parsed = parseExactJson(text);
  if (!parsed.ok) throw new JsonDecodeError(parsed.rule);
  return nodeToValue(parsed.value);
}

/** Sixteen digits or points in a row. Every such run covers a multiple of sixteen, so only those places are looked at. */
function hasLongRun(text: string): boolean {
  for (let place = 15; place < text.length; place += 16) {
    if (!isDigitOrPoint(text.charCodeAt(place))) continue;
    let start = place;
    let end = place;
    while (isDigitOrPoint(text.charCodeAt(start - 1))) start--;
    while (isDigitOrPoint(text.charCodeAt(end + 1))) end++;
    if (end - start >= 15) return true;
  }
  return false;
}

/** 0x2e point, 0x2f slash (harmless), 0x30..0x39 digits. */
function isDigitOrPoint(code: number): boolean {
  return code >= 0x2e && code <= 0x39;
}

const PLAIN = 0;
const ZERO = 1;
const OUTSIDE = 2;

/** Whether any number is zero, or so large or small that its lexeme must be looked at; too deep a value counts as well. */
function extremesOf(value: unknown, depth: number): number {
  if (typeof value === "number") {
    if (value === 0) return ZERO;
    return Number.isFinite(value) && Math.abs(value) >= SMALLEST_PLAIN ? PLAIN : OUTSIDE;
  }
  if (typeof value !== "object" || value === null) return PLAIN;
  if (depth >= MAX_JSON_DEPTH) return OUTSIDE;
  let found = PLAIN;
  if (Array.isArray(value)) {
    for (const item of value) found = Math.max(found, extremesOf(item, depth + 1));
  } else {
    const object = value as Record<string, unknown>;
    for (const name in object) {
      const item = object[name];
      if (typeof item !== "string") found = Math.max(found, extremesOf(item, depth + 1));
    }
  }
  return found;
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
