import { z } from "zod";
import { count, text, uuid, wireDigest } from "./fields";
import { defineOperation } from "./operation";
import { cursorText, instant } from "./read-fields";
import { person } from "./replay";

/**
 * The audit trail of a host: who did what, when and why, refused calls included. Append-only and chained; no record holds a
 * payload, key, header or value, and what may stand beside one is the closed list below.
 */
export const auditFactName = z.enum([
  "planHash",
  "strategy",
  "validationMode",
  "code",
  "cause",
  "operation",
  "surface",
  "requestId",
  "calls",
  "since",
  "transactionId",
  "fencingToken",
  "abandonedAttempts",
  "epoch",
  "scopes",
  "itemOrdinal",
  "attemptNumber",
  "linkId",
  "personA",
  "personB",
  "format",
  "records",
]);
export type AuditFactName = z.infer<typeof auditFactName>;

/** Name of an audit record: EVENT_REPLAY_…, PERSON_…, CALL_REFUSED. */
const eventName = z.string().regex(/^[A-Z][A-Z0-9_]{0,127}$/);

const filters = {
  hostId: uuid,
  /** Records at or after. */
  from: instant.optional(),
  /** Records before. */
  to: instant.optional(),
  /** A person's id, or a worker's; exact. */
  actorId: text(255).min(1).optional(),
  events: z.array(eventName).min(1).max(40).optional(),
  replayRequestId: uuid.optional(),
  failureId: uuid.optional(),
  /** A request, failure or barrier, whichever has this id. */
  subjectId: uuid.optional(),
};

export const auditItem = z.strictObject({
  auditId: uuid,
  /** Place in the host's chain, and the digest that binds it to all before it. */
  chainNo: count,
  chainDigest: wireDigest,
  at: instant,
  event: eventName,
  actorType: z.enum(["USER", "WORKER", "SYSTEM"]),
  actor: person,
  replayRequestId: uuid.nullable(),
  failureId: uuid.nullable(),
  barrierId: uuid.nullable(),
  /** What the person wrote. */
  reason: z.string().max(2048).nullable(),
  facts: z.array(z.strictObject({ name: auditFactName, text: z.string().max(255) })).max(30),
  failureIds: z.array(uuid).max(500),
});
export type AuditItem = z.output<typeof auditItem>;

export const listAuditEventRequest = z.strictObject({
  ...filters,
  pageSize: z.number().int().min(1).max(200).default(50),
  cursor: cursorText.optional(),
});
export type ListAuditRequest = z.output<typeof listAuditEventRequest>;

export const listAuditEventResponse = z.strictObject({
  asOf: instant,
  /** Newest first. */
  items: z.array(auditItem).max(200),
  nextCursor: cursorText.nullable(),
  /** Whether the caller may export. */
  mayExport: z.boolean(),
});
export type ListAuditResponse = z.output<typeof listAuditEventResponse>;

/** Records one export holds; the answer says when there are more, and a narrower time gets them. */
export const MAX_EXPORT = 10_000;

export const exportAuditEventRequest = z.strictObject({ ...filters, format: z.enum(["CSV", "JSON"]) });
export type ExportAuditRequest = z.output<typeof exportAuditEventRequest>;

export const exportAuditEventResponse = z.strictObject({
  asOf: instant,
  fileName: z.string().max(128),
  mediaType: z.enum(["text/csv", "application/json"]),
  records: count,
  /** True: older records match too; take the last record's time as the next export's end. */
  truncated: z.boolean(),
  /** The file, oldest first. In CSV no cell begins with what a spreadsheet would run. */
  file: z.string(),
});
export type ExportAuditResponse = z.output<typeof exportAuditEventResponse>;

export const listAuditEvent = defineOperation({
  name: "listAuditEvent",
  kind: "query",
  summary: "List the audit trail of the host.",
  request: listAuditEventRequest,
  response: listAuditEventResponse,
  errors: [],
});

export const exportAuditEvent = defineOperation({
  name: "exportAuditEvent",
  kind: "query",
  summary: "Export audit records as a file for a spreadsheet or a program; the export itself is recorded.",
  request: exportAuditEventRequest,
  response: exportAuditEventResponse,
  errors: [],
});
