import type { DataViolation } from "@/server/event-replay/registry/domain/policy";

export const USER_UPDATED_V1 = "USER_UPDATED_V1";

const REQUIRED = ["hostId", "email", "userId", "entityId", "userType", "language"] as const;
const OPTIONAL = [
  "referralId",
  "managerId",
  "firstName",
  "lastName",
  "phoneNumber",
  "gender",
  "birthday",
  "country",
  "province",
  "city",
  "postCode",
  "address",
] as const;
const LANGUAGES: ReadonlySet<string> = new Set(["en"]);

/**
 * The data of `UserUpdatedEvent` version 1: exactly the published `updateUserByIdRequest` (ER-APP-42). Every member is a text,
 * six are required, `language` is one of its enumeration, `birthday` a calendar date. Ids need not be UUIDs, no text has a
 * length, `userType` may be anything, further members are allowed. It stands apart from the command's own schema on purpose:
 * events pinned to this validator keep its meaning when the command changes.
 */
export function validateUserUpdatedV1(data: unknown): readonly DataViolation[] {
  if (data === null || typeof data !== "object" || Array.isArray(data)) return [{ field: "", rule: "NOT_AN_OBJECT" }];
  const user = data as Readonly<Record<string, unknown>>;
  const violations: DataViolation[] = [];
  for (const member of REQUIRED) {
    if (user[member] === undefined) violations.push({ field: `/${member}`, rule: "REQUIRED" });
  }
  for (const member of [...REQUIRED, ...OPTIONAL]) {
    const value = user[member];
    if (value !== undefined && typeof value !== "string") violations.push({ field: `/${member}`, rule: "NOT_A_TEXT" });
  }
  if (typeof user.language === "string" && !LANGUAGES.has(user.language)) {
    violations.push({ field: "/language", rule: "NOT_IN_ENUMERATION" });
  }
  if (typeof user.birthday === "string" && !isCalendarDate(user.birthday)) {
    violations.push({ field: "/birthday", rule: "NOT_A_DATE" });
  }
  return violations;
}

/** RFC 3339 full-date that exists in the proleptic Gregorian calendar. */
function isCalendarDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}
