import { z } from "zod";
import type { ErrorCode } from "./errors";
import { count, uuid } from "./fields";

/**
 * `POST /api/events`: one complete transaction of CloudEvents (structured JSON), in ordinal order. Read from the body's own
 * bytes, not through this schema: it describes the envelope for clients; the append boundary is the judge.
 */
export const cloudEvent = z
  .looseObject({
    specversion: z.literal("1.0"),
    id: uuid,
    source: z.string().min(1),
    type: z.string().min(1).max(255),
    time: z.string().meta({ format: "date-time" }),
    subject: z.string().max(255).optional().describe("Aggregate id"),
    host: uuid.describe("Tenant: the token's host"),
    user: z.string().optional(),
    nonce: z.union([z.int(), z.string()]).optional(),
    aggregatetype: z.string().max(255).optional(),
    aggregateversion: z.union([z.int(), z.string()]).optional().describe("The stored last version + 1"),
    transactionid: uuid.optional().describe("Absent: the server names the transaction"),
    data: z.looseObject({}),
  })
  .describe("CloudEvents 1.0 with the portal's extensions; further extensions are kept as received");

export const appendEventsRequest = z.array(cloudEvent).min(1);

export const appendEventsResponse = z.strictObject({
  transactionId: uuid,
  eventCount: count,
  /** The very same transaction was stored before; nothing was appended now. */
  duplicate: z.boolean(),
  firstOffset: count,
});

/** Name of the route in endpoint rules, metrics and the OpenAPI document. */
export const APPEND_EVENTS = "appendEvents";

export const APPEND_ERRORS = [
  "TRANSACTION_INCOMPLETE",
  "UNSUPPORTED_EVENT_TYPE",
  "AGGREGATE_PROJECTION_BLOCKED",
  "AGGREGATE_REPAIR_REQUIRED",
  "ORDERED_SCOPE_GUARD_UNAVAILABLE",
] as const satisfies readonly ErrorCode[];
