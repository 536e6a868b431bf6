import type { ColumnType, ColumnValue } from "@/server/event-replay/projection/domain/types";
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
 * A data member as the value of a column. Text stays as it is: whether a uuid, date or number is one is for the database to
 * judge, which refuses it with a SQLSTATE. An empty text is no value where the column holds no text. Objects become JSON text.
 */
export function toColumn(value: unknown, type: ColumnType): ColumnValue {
  if (value === null || value === undefined) return null;
  if (type === "jsonb") return jsonText(value);
  if (value instanceof ExactNumber) return value.lexeme;
  if (typeof value === "object") return jsonText(value);
  if (type === "text") return String(value);
  if (value === "") return null;
  return value as string | number | boolean;
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
