import { z } from "zod";
import { text } from "./fields";

/** Fields that only the read contracts share. Answers are strict at every level: a member not declared can't ride along (ER-PAY-10). */

/** Instant as a client sends it back: ISO-8601 UTC, at most microseconds, as answers carry it. */
export const instant = z
  .string()
  .regex(/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/)
  .refine(exists, "a date that exists")
  .meta({ format: "date-time", description: "UTC, microseconds" });

/** Versions, revisions and offsets: bounded to 2^53 - 1 at append, so a JSON number is exact. */
export const version = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

/** Opaque position in a list, bound to host and filters: a changed one is INVALID_REQUEST. */
export const cursorText = z.string().min(1).max(600);

export const scopeType = z.enum(["AGGREGATE", "GRAPH_ROOT"]);
export const scopeKey = text(1024).min(1);
/** An ordering scope of the host: what blocks and what is ordered. */
export const scopeRef = z.strictObject({ scopeType, scopeKey });

/** 30 February and 25 o'clock have the right form and are refused before the database would. */
function exists(iso: string): boolean {
  const seconds = iso.slice(0, 19);
  const parsed = new Date(`${seconds}.000Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(seconds);
}

export const failureStatus = z.enum(["OPEN", "RESOLVED", "WAIVED"]);
