import { z } from "zod";

/**
 * Fields that the read contracts share. Requests are strict: an unknown member is refused (ER-API-21). Answers are strict too,
 * so a member that is not declared here can never ride along (ER-PAY-10).
 */
export const uuidText = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "canonical lowercase UUID");

/** Instant on the wire: ISO-8601 UTC with microseconds, as the database keeps it. */
export const instant = z.string().regex(/^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/, "ISO-8601 instant in UTC");

export const count = z.number().int().min(0);
/** Versions, revisions and offsets are bounded to 2^53 - 1 at append, so a JSON number is exact. */
export const version = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const hex64 = z.string().regex(/^[0-9a-f]{64}$/);
/** Digest as it is shown and compared on the wire. */
export const wireDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

export const projectionName = z.string().min(1).max(128);
export const consumerGroup = z.string().min(1).max(255);

/** Opaque position in a list. Bound to host and filters; a changed one is INVALID_REQUEST. */
export const cursorText = z.string().min(1).max(600);

/** One sentence of the fixed catalogue and the code it stands for. */
export const scopeRef = z.strictObject({
  scopeType: z.enum(["AGGREGATE", "GRAPH_ROOT"]),
  scopeKey: z.string().min(1).max(1024),
});
