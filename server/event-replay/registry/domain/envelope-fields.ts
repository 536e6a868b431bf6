import type { JsonNode, JsonObject } from "@/server/platform/json/exact-json";

export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly rule: string };

/** The value of a member, undefined when the object has none of that name. */
export function member(node: JsonObject, name: string): JsonNode | undefined {
  for (const candidate of node.members) if (candidate.name === name) return candidate.value;
  return undefined;
}

export function isBlankText(text: string): boolean {
  return text.trim() === "";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: CloudEvents allows none of them in an attribute
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

/** A text that isn't blank, holds no control character and has at most `limit` characters, counted like PostgreSQL's varchar. */
export function textWithin(limit: number): (value: JsonNode) => Reading<string> {
  return (value) => {
    if (value.kind !== "string") return { ok: false, rule: "NOT_A_TEXT" };
    if (isBlankText(value.value)) return { ok: false, rule: "BLANK" };
    if (CONTROL_CHARACTER.test(value.value)) return { ok: false, rule: "CONTROL_CHARACTER" };
    // No text has more characters than code units, so only long texts are counted.
    if (value.value.length > limit && [...value.value].length > limit) return { ok: false, rule: "TOO_LONG" };
    return { ok: true, value: value.value };
  };
}

/** An aggregate type. Without a colon `type:id` has one reading, so no two aggregates share a scope key (ER-CAP-28). */
export function aggregateTypeWithin(limit: number): (value: JsonNode) => Reading<string> {
  return (value) => {
    const reading = textWithin(limit)(value);
    return reading.ok && reading.value.includes(":") ? { ok: false, rule: "COLON_IN_AGGREGATE_TYPE" } : reading;
  };
}

export function jsonBoolean(value: JsonNode): Reading<boolean> {
  return value.kind === "boolean" ? { ok: true, value: value.value } : { ok: false, rule: "NOT_A_BOOLEAN" };
}

/**
 * A positive integer up to 2^53-1 as JSON number or string, both meaning the same. One spelling only: `1.0`, `1e3`, `01` and
 * ` 1` are refused, because another reader of the same event could take them for something else.
 */
export function positiveInteger(value: JsonNode): Reading<number> {
  const reading = integer(value);
  return reading.ok && reading.value < 1 ? { ok: false, rule: "NOT_POSITIVE" } : reading;
}

export function nonNegativeInteger(value: JsonNode): Reading<number> {
  const reading = integer(value);
  return reading.ok && reading.value < 0 ? { ok: false, rule: "NEGATIVE" } : reading;
}

function integer(value: JsonNode): Reading<number> {
  const text = value.kind === "number" ? value.lexeme : value.kind === "string" ? value.value : "";
  if (!/^(0|-?[1-9][0-9]*)$/.test(text)) return { ok: false, rule: "NOT_A_PLAIN_INTEGER" };
  const number = Number(text);
  return Number.isSafeInteger(number) ? { ok: true, value: number } : { ok: false, rule: "TOO_LARGE" };
}

const RFC_3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** 0001-01-01T00:00:00Z and 10000-01-01T00:00:00Z in milliseconds: the UTC years that ISO-8601 writes with four digits. */
const FIRST_INSTANT = -62_135_596_800_000;
const END_OF_INSTANTS = 253_402_300_800_000;
/** From here timestamptz rounds a fraction up to the next second. */
const ROUNDS_UP = 0.9999995;

/**
 * RFC 3339 up to nanoseconds, naming a moment that exists and that timestamptz takes: no 30 February, no hour 24, no leap
 * second, offsets below sixteen hours. Its year is 1 to 9999 as written and in UTC, also once rounded to microseconds.
 */
export function isInstant(text: string): boolean {
  const parts = RFC_3339.exec(text);
  if (!parts) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  if (year < 1 || day < 1 || day > days || hour > 23 || minute > 59 || second > 59) return false;
  const offset = { hours: Number(parts[9] ?? "0"), minutes: Number(parts[10] ?? "0") };
  if (offset.hours > 15 || offset.minutes > 59) return false;
  const east = (parts[8] === "-" ? -1 : 1) * (offset.hours * 60 + offset.minutes) * 60_000;
  const rounded = Number(`0.${parts[7] ?? "0"}`) >= ROUNDS_UP ? 1_000 : 0;
  // Date.parse, unlike Date.UTC, takes years 1 to 99 as they are.
  const utc = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`) - east;
  return utc >= FIRST_INSTANT && utc + rounded < END_OF_INSTANTS;
}
