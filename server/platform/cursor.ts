import { type FingerprintField, fingerprint } from "@/server/platform/digest";

const VERSION = 1;
const MAX_LENGTH = 600;
const DATABASE_INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?$/;

/**
 * A position in a list: the database's own text of the sort instant and the row's id, so that no precision is lost on the way.
 * `binding` names host, filters and sort: a cursor moved to another list, or changed in any character, does not decode. It is
 * a check, not a secret: a forged one could only name another position in a list its caller may read anyway.
 */
export function encodeCursor(binding: readonly FingerprintField[], position: readonly string[]): string {
  return Buffer.from(JSON.stringify([VERSION, checksum(binding, position), ...position]), "utf8").toString("base64url");
}

/** The position, or null for anything `encodeCursor` with this binding did not write. `length` = expected number of parts. */
export function decodeCursor(binding: readonly FingerprintField[], text: string, length: number): string[] | null {
  if (text.length > MAX_LENGTH) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length !== length + 2 || parsed[0] !== VERSION) return null;
  const [, sum, ...position] = parsed as unknown[];
  if (!position.every((part): part is string => typeof part === "string")) return null;
  if (sum !== checksum(binding, position)) return null;
  // One spelling only: base64url ignores stray characters, an altered text must not decode.
  return encodeCursor(binding, position) === text ? position : null;
}

/** True for a timestamptz text as PostgreSQL writes it, with a date that exists: safe to cast. */
export function isDatabaseInstant(text: string): boolean {
  if (!DATABASE_INSTANT.test(text)) return false;
  const [date, rest] = [text.slice(0, 10), text.slice(11, 19)];
  const iso = `${date}T${rest}.000Z`;
  const parsed = new Date(iso);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString() === iso;
}

function checksum(binding: readonly FingerprintField[], position: readonly string[]): string {
  return fingerprint([VERSION, binding, position]).slice(0, 24);
}
