import type { ColumnType, ColumnValue } from "@/server/event-replay/projection/domain/types";
import { isInstant } from "@/server/event-replay/registry/domain/envelope-fields";
import { ExactNumber } from "@/server/platform/json/exact-number";

/**
 * Members of `data` that are secrets. They are projected nowhere: tables have no column for them, and documents are stored
 * without them, at any depth.
 */
const SECRETS: ReadonlySet<string> = new Set([
  "password",
  "passwordConfirm",
  "oldPassword",
  "newPassword",
  "token",
  "refToken",
  "accessToken",
  "refreshToken",
  "clientSecret",
  "clientSecretEncrypted",
  "secret",
  "privateKey",
  "keys",
]);

/**
 * A data member as the value of a column, the same on every clock and under every session setting: an instant is RFC 3339
 * with an offset, a date is YYYY-MM-DD, a uuid has 8-4-4-4-12 digits and is written in lower case. Throws for any other
 * spelling, also those the database would read (`now`, `today`, `infinity`, 02/01/2026). Numbers and booleans are for the
 * database to judge. An empty text is no value where the column holds no text. Objects become JSON text.
 */
export function toColumn(value: unknown, type: ColumnType): ColumnValue {
  if (value === null || value === undefined) return null;
  if (type === "jsonb") return jsonText(value);
  if (type === "text")
    return value instanceof ExactNumber || typeof value !== "object" ? plain(value) : jsonText(value);
  if (value === "") return null;
  if (type === "timestamptz") return spelled(value, isInstant);
  if (type === "date") return spelled(value, isDate);
  if (type === "uuid") return spelled(value, isUuid).toLowerCase();
  if (value instanceof ExactNumber) return value.lexeme;
  return typeof value === "object" ? jsonText(value) : (value as string | number | boolean);
}

const plain = (value: unknown) => (value instanceof ExactNumber ? value.lexeme : String(value));
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
const isDate = (text: string) => /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) && isInstant(`${text}T00:00:00Z`);

/** The refusal names no value: it may be anything. */
function spelled(value: unknown, rule: (text: string) => boolean): string {
  if (typeof value !== "string" || !rule(value))
    throw new Error("a value of the event has no spelling its column takes");
  return value;
}

/** JSON text of decoded data, without rounding: exact numbers keep their lexeme. */
export function jsonText(value: unknown): string {
  if (value instanceof ExactNumber) return value.lexeme;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The same data without its secrets. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (value === null || typeof value !== "object" || value instanceof ExactNumber) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SECRETS.has(name))
      .map(([name, member]) => [name, withoutSecrets(member)]),
  );
}

/** One text for the identity members of an entity; a separator inside a value can't make two entities one. */
export function entityId(identity: readonly string[], data: Readonly<Record<string, unknown>>): string {
  return identity.map((member) => String(data[member]).replace(/[\\|]/g, "\\$&")).join("|");
}
