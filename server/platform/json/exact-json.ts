import { isUtf8 } from "node:buffer";

/** A JSON text without loss: members in the order received, numbers as their lexemes. */
export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly lexeme: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" };

export type JsonMember = { readonly name: string; readonly value: JsonNode };
export type JsonObject = Extract<JsonNode, { kind: "object" }>;

export type JsonRule =
  | "SYNTAX"
  | "TRAILING_TEXT"
  | "INVALID_UTF8"
  | "DUPLICATE_MEMBER"
  | "NUL_CHARACTER"
  | "LONE_SURROGATE"
  | "NUMBER_OUT_OF_RANGE"
  | "TOO_DEEP";

export type JsonRefusal = { readonly ok: false; readonly pointer: string; readonly rule: JsonRule };

/** Containers within containers. Deeper text exhausts the stack of recursive readers, ours and those of clients. */
export const MAX_JSON_DEPTH = 100;

/** A pointer names a place, it is no channel for the text itself; longer ones are cut. */
export const MAX_POINTER_LENGTH = 256;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Characters of a string that stand for themselves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a string may not hold
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const HEX4 = /^[0-9a-fA-F]{4}$/;
/** PostgreSQL's numeric: digits before and after the point, and the exponent it reads at all. */
const NUMERIC_DIGITS_BEFORE = 131_072;
const NUMERIC_DIGITS_AFTER = 16_383;
const NUMERIC_EXPONENT_END = 1_073_741_823;

/**
 * Parses exactly one JSON text (RFC 8259) and refuses, with a JSON pointer, everything PostgreSQL's jsonb and numeric would
 * refuse, alter or silently drop: duplicate members, NUL, lone surrogates, numbers outside numeric. Also bad syntax,
 * invalid UTF-8 (a byte order mark counts as text), more than 100 levels, text behind the value (design §3 Canonical bytes).
 * Nothing of the input but member names is in a refusal. Never throws.
 */
export function parseExactJson(text: string | Buffer): { readonly ok: true; readonly value: JsonNode } | JsonRefusal {
  if (typeof text !== "string") {
    if (!isUtf8(text)) return { ok: false, pointer: "", rule: "INVALID_UTF8" };
    return parseExactJson(text.toString("utf8"));
  }
  const parser = new Parser(text, LONE_SURROGATE.test(text));
  try {
    return { ok: true, value: parser.document() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, pointer: jsonPointer(parser.path), rule: error.rule };
    throw error;
  }
}

/**
 * RFC 6901 pointer of a path, at most 256 characters, free of text no database can hold and of what changes how a line is
 * shown: control characters (C0, C1), line separators, and marks of writing direction.
 */
export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of path) {
    pointer += `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (pointer.length > MAX_POINTER_LENGTH) {
      pointer = `${pointer.slice(0, MAX_POINTER_LENGTH - 1)}…`;
      break;
    }
  }
  return pointer.replace(/[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/gu, "\ufffd");
}

/** True if PostgreSQL's numeric holds the number of this lexeme, exponents expanded, without rounding. */
export function isWithinNumeric(lexeme: string): boolean {
  if (lexeme.length < 1_000 && !/[eE]/.test(lexeme)) return true;
  const parts = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(lexeme);
  if (!parts) return false;
  const whole = parts[1] ?? "";
  const fraction = parts[2] ?? "";
  const exponent = Number(parts[3] ?? "0");
  if (Math.abs(exponent) >= NUMERIC_EXPONENT_END) return false;
  if (fraction.length - exponent > NUMERIC_DIGITS_AFTER) return false;
  const firstSignificant = (whole + fraction).search(/[1-9]/);
  return firstSignificant < 0 || whole.length - firstSignificant + exponent <= NUMERIC_DIGITS_BEFORE;
}

class Refusal extends Error {
  constructor(readonly rule: JsonRule) {
    super(rule);
  }
}

class Parser {
  readonly path: (string | number)[] = [];
  private position = 0;
  private depth = 0;

  /** `rawSurrogates`: the text itself holds a lone surrogate, so that every string must be looked at. */
  constructor(
    private readonly text: string,
    private readonly rawSurrogates: boolean,
  ) {}

  document(): JsonNode {
    this.skipSpace();
    const value = this.value();
    this.skipSpace();
    if (this.position < this.text.length) throw new Refusal("TRAILING_TEXT");
    return value;
  }

  private value(): JsonNode {
    const code = this.text.charCodeAt(this.position);
    switch (code) {
      case 0x7b:
        return this.object();
      case 0x5b:
        return this.array();
      case 0x22:
        return { kind: "string", value: this.string() };
      case 0x74:
        return this.literal("true", { kind: "boolean", value: true });
      case 0x66:
        return this.literal("false", { kind: "boolean", value: false });
      case 0x6e:
        return this.literal("null", { kind: "null" });
      default:
        return this.number();
    }
  }

  private object(): JsonNode {
    this.open();
    const members: JsonMember[] = [];
    let names: Set<string> | undefined;
    if (this.accept(0x7d)) return this.close({ kind: "object", members });
    do {
      this.skipSpace();
      if (this.text.charCodeAt(this.position) !== 0x22) throw new Refusal("SYNTAX");
      const name = this.string();
      this.path.push(name);
      // Most objects are small: a set pays off only beyond a few members.
      if (members.length === 8) names = new Set(members.map((member) => member.name));
      const taken = names ? names.has(name) : members.some((member) => member.name === name);
      if (taken) throw new Refusal("DUPLICATE_MEMBER");
      names?.add(name);
      if (!this.accept(0x3a)) throw new Refusal("SYNTAX");
      this.skipSpace();
      members.push({ name, value: this.value() });
      this.path.pop();
    } while (this.accept(0x2c));
    if (!this.accept(0x7d)) throw new Refusal("SYNTAX");
    return this.close({ kind: "object", members });
  }

  private array(): JsonNode {
    this.open();
    const items: JsonNode[] = [];
    if (this.accept(0x5d)) return this.close({ kind: "array", items });
    do {
      this.path.push(items.length);
      this.skipSpace();
      items.push(this.value());
      this.path.pop();
    } while (this.accept(0x2c));
    if (!this.accept(0x5d)) throw new Refusal("SYNTAX");
    return this.close({ kind: "array", items });
  }

  private open(): void {
    this.position++;
    if (++this.depth > MAX_JSON_DEPTH) throw new Refusal("TOO_DEEP");
  }

  private close(node: JsonNode): JsonNode {
    this.depth--;
    return node;
  }

  /** Called at the opening quote. A string without escapes, the common case, is one slice of the text. */
  private string(): string {
    const { text } = this;
    let built = "";
    let surrogates = this.rawSurrogates;
    this.position++;
    for (;;) {
      PLAIN_TEXT.lastIndex = this.position;
      PLAIN_TEXT.test(text);
      const end = PLAIN_TEXT.lastIndex;
      const plain = text.slice(this.position, end);
      const code = text.charCodeAt(end);
      this.position = end;
      if (code === 0x22) {
        this.position++;
        const value = built === "" ? plain : built + plain;
        if (surrogates && LONE_SURROGATE.test(value)) throw new Refusal("LONE_SURROGATE");
        return value;
      }
      if (code !== 0x5c) throw new Refusal(code === 0 ? "NUL_CHARACTER" : "SYNTAX");
      const escaped = this.escape();
      surrogates ||= escaped >= "\ud800" && escaped <= "\udfff";
      built += plain + escaped;
    }
  }

  private escape(): string {
    const letter = this.text[this.position + 1];
    if (letter === "u") {
      const hex = this.text.slice(this.position + 2, this.position + 6);
      if (!HEX4.test(hex)) throw new Refusal("SYNTAX");
      const unit = Number.parseInt(hex, 16);
      if (unit === 0) throw new Refusal("NUL_CHARACTER");
      this.position += 6;
      return String.fromCharCode(unit);
    }
    const character = letter === undefined ? undefined : SHORT_ESCAPES.get(letter);
    if (character === undefined) throw new Refusal("SYNTAX");
    this.position += 2;
    return character;
  }

  private number(): JsonNode {
    NUMBER.lastIndex = this.position;
    const lexeme = NUMBER.exec(this.text)?.[0];
    if (lexeme === undefined) throw new Refusal("SYNTAX");
    if (!isWithinNumeric(lexeme)) throw new Refusal("NUMBER_OUT_OF_RANGE");
    this.position += lexeme.length;
    return { kind: "number", lexeme };
  }

  private literal(word: string, node: JsonNode): JsonNode {
    if (!this.text.startsWith(word, this.position)) throw new Refusal("SYNTAX");
    this.position += word.length;
    return node;
  }

  private accept(code: number): boolean {
    this.skipSpace();
    if (this.text.charCodeAt(this.position) !== code) return false;
    this.position++;
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position++;
    }
  }
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
