import { isCanonicalUuid } from "@/server/platform/ids";
import type { JsonNode, JsonObject } from "@/server/platform/json/exact-json";
import {
  aggregateTypeWithin,
  isBlankText,
  isInstant,
  jsonBoolean,
  member,
  nonNegativeInteger,
  positiveInteger,
  type Reading,
  textWithin,
} from "./envelope-fields";

/** The CloudEvent of one event, read and normalised. `node` is the whole event as received, with nothing lost. */
export type EventEnvelope = {
  readonly eventId: string;
  readonly eventType: string;
  readonly source: string;
  /** RFC 3339 as received: nanoseconds and offset stay. */
  readonly time: string;
  /** The tenant: guard, scope and authorization. `data.hostId` is a business value and is never compared with it. */
  readonly hostId: string;
  readonly userId: string | null;
  /** Decimal text of the number or string received. Never unique. */
  readonly nonce: string | null;
  readonly subject: string | null;
  readonly aggregateType: string | null;
  /** The CloudEvent subject, when the event carries aggregate evidence. */
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly schemaVersion: string;
  readonly versionBaseline: boolean;
  /** Pins the event arrived with; null on a first append. */
  readonly claimedRegistryVersion: string | null;
  readonly claimedRepairSchema: string | null;
  readonly claimedTransactionId: string | null;
  readonly claimedOrdinal: number | null;
  readonly claimedCount: number | null;
  readonly data: JsonNode;
  readonly node: JsonObject;
};

/** `field` is a JSON pointer into the event; never a value. */
export type EnvelopeViolation = { readonly field: string; readonly rule: string };

export type EnvelopeReading =
  | { readonly ok: true; readonly envelope: EventEnvelope }
  | { readonly ok: false; readonly violations: readonly EnvelopeViolation[] };

/** Columns the attributes end in; a longer text would fail only inside the database. */
const NAME_LENGTH = 255;
const VERSION_LENGTH = 64;
/** Producers name repositories and topics here; a bound keeps metadata from growing past the payload. */
const SOURCE_LENGTH = 2_048;

/**
 * Reads a CloudEvent 1.0 from an exactly parsed node and lists everything that is wrong with it (ER-APP-10, 11, 12, 14). Normalises
 * what is unambiguous (a version as number or string), refuses the rest by name. Unknown extension attributes are kept. Which
 * attributes belong together is `derivePolicy`'s to judge; whether the type is known is the registry's.
 */
export function readEnvelope(node: JsonNode): EnvelopeReading {
  if (node.kind !== "object") return { ok: false, violations: [{ field: "", rule: "EVENT_NOT_AN_OBJECT" }] };
  const violations: EnvelopeViolation[] = [];

  function refuse(name: string, rule: string): null {
    violations.push({ field: `/${name}`, rule });
    return null;
  }
  function optional<T>(name: string, read: (value: JsonNode) => Reading<T>): T | null {
    const value = member(node as JsonObject, name);
    if (value === undefined || value.kind === "null") return null;
    const reading = read(value);
    return reading.ok ? reading.value : refuse(name, reading.rule);
  }
  function required<T>(name: string, read: (value: JsonNode) => Reading<T>): T | null {
    const value = member(node as JsonObject, name);
    return value === undefined || value.kind === "null" ? refuse(name, "REQUIRED") : optional(name, read);
  }

  required("specversion", specVersion);
  const eventId = required("id", canonicalUuid);
  const eventType = required("type", textWithin(NAME_LENGTH));
  const source = required("source", textWithin(SOURCE_LENGTH));
  const time = required("time", instant);
  const hostId = required("host", canonicalUuid);
  const data = member(node, "data");
  if (data === undefined) refuse("data", "REQUIRED");
  if (member(node, "data_base64") !== undefined) refuse("data_base64", "BINARY_DATA_UNSUPPORTED");
  optional("datacontenttype", jsonContentType);

  const userId = optional("user", canonicalUuid);
  const nonce = optional("nonce", integerText);
  const subject = optional("subject", textWithin(NAME_LENGTH));
  const aggregateType = optional("aggregatetype", aggregateTypeWithin(NAME_LENGTH));
  const aggregateVersion = optional("aggregateversion", positiveInteger);
  const rootInstanceId = optional("rootinstanceid", canonicalUuid);
  const graphRevision = optional("instancegraphrevision", positiveInteger);
  optional("clonerequestid", textWithin(NAME_LENGTH));
  optional("sensitivepayload", jsonBoolean);
  const schemaVersion = optional("eventschema", textWithin(VERSION_LENGTH));
  const versionBaseline = optional("versionbaseline", jsonBoolean);
  const claimedRegistryVersion = optional("replaypolicy", textWithin(VERSION_LENGTH));
  const claimedRepairSchema = optional("repairschema", textWithin(VERSION_LENGTH));
  const claimedTransactionId = optional("transactionid", canonicalUuid);
  const claimedOrdinal = optional("transactionordinal", nonNegativeInteger);
  const claimedCount = optional("transactioncount", positiveInteger);

  let claimsAggregateId = false;
  for (const name of ["aggregateid", "aggregateId"]) {
    const claimed = optional(name, textWithin(NAME_LENGTH));
    if (claimed === null) continue;
    claimsAggregateId = true;
    if (claimed !== subject) refuse(name, "AGGREGATE_ID_CONTRADICTS_SUBJECT");
  }

  if (
    violations.length > 0 ||
    eventId === null ||
    eventType === null ||
    source === null ||
    time === null ||
    hostId === null ||
    data === undefined
  ) {
    return { ok: false, violations };
  }
  const hasAggregate = aggregateType !== null || aggregateVersion !== null || claimsAggregateId;
  return {
    ok: true,
    envelope: {
      eventId,
      eventType,
      source,
      time,
      hostId,
      userId,
      nonce,
      subject,
      aggregateType,
      aggregateId: hasAggregate ? subject : null,
      aggregateVersion,
      rootInstanceId,
      graphRevision,
      schemaVersion: schemaVersion ?? "1",
      versionBaseline: versionBaseline ?? false,
      claimedRegistryVersion,
      claimedRepairSchema,
      claimedTransactionId,
      claimedOrdinal,
      claimedCount,
      data,
      node,
    },
  };
}

function specVersion(value: JsonNode): Reading<string> {
  return value.kind === "string" && value.value === "1.0"
    ? { ok: true, value: value.value }
    : { ok: false, rule: "SPEC_VERSION_UNSUPPORTED" };
}

function canonicalUuid(value: JsonNode): Reading<string> {
  return value.kind === "string" && isCanonicalUuid(value.value)
    ? { ok: true, value: value.value }
    : { ok: false, rule: "NOT_A_CANONICAL_UUID" };
}

function instant(value: JsonNode): Reading<string> {
  return value.kind === "string" && isInstant(value.value)
    ? { ok: true, value: value.value }
    : { ok: false, rule: "NOT_AN_INSTANT" };
}

function jsonContentType(value: JsonNode): Reading<string> {
  if (value.kind !== "string" || isBlankText(value.value)) return { ok: false, rule: "NOT_A_TEXT" };
  return /^[^;]*[/+]json\s*(;|$)/i.test(value.value)
    ? { ok: true, value: value.value }
    : { ok: false, rule: "CONTENT_TYPE_NOT_JSON" };
}

/** numeric(20,0): up to twenty digits, spelled one way. */
function integerText(value: JsonNode): Reading<string> {
  const text = value.kind === "number" ? value.lexeme : value.kind === "string" ? value.value : "";
  return /^(0|-?[1-9][0-9]{0,19})$/.test(text) ? { ok: true, value: text } : { ok: false, rule: "NOT_AN_INTEGER" };
}
