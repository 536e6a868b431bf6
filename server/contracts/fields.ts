import { z } from "zod";

/** Field schemas shared by the contracts. Each states its own bound, so that no request member is unbounded. */

/** Canonical lowercase hyphenated UUID. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ format: "uuid" });

/** ISO-8601 UTC with microseconds, as `toIso` writes it. */
export const timestamp = z.string().meta({ format: "date-time", description: "UTC, microseconds" });

/** SHA-256 on the wire. */
export const wireDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** Text of at most `max` UTF-16 units without control characters but tab, newline and carriage return. */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
    .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f]*$/);

/** An integer that JavaScript and the database hold exactly. */
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const projectionName = text(128).min(1);
export const consumerGroup = text(255).min(1);
