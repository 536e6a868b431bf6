import type { EventEnvelope } from "./domain/envelope";
import type { DataValidator, PolicyEntry, PolicyRegistry, RepairSchema } from "./domain/policy";
import { readEvent } from "./domain/read-event";
import { buildRegistry, RegistryError, type RegistryInput } from "./domain/registry";
import { type DeclaredMember, type TransactionInput, validateTransaction } from "./domain/validate-transaction";
import { jsonSchemaValidator } from "./domain/validators";

/** A registry small enough to reason about, with one entry of every kind; for the tests of this module. */
export const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
export const USER = "01964b05-5532-7c79-8cde-191dcbd421b8";
export const ROOT = "01964b05-0000-7000-8000-000000000001";
export const TRANSACTION = "01964b05-0000-7000-8000-0000000000ff";

export function policyEntry(eventType: string, overrides: Partial<PolicyEntry> = {}): PolicyEntry {
  return {
    eventType,
    schemaVersion: "1",
    transactionPolicy: "COMPLETE_TRANSACTION",
    dependency: { kind: "AGGREGATE", aggregateType: "Account" },
    dataValidator: "PORTAL_OBJECT_V1",
    replayPolicy: "AGGREGATE_VERSION",
    repairDisposition: "FIX_AND_EXACT_REPLAY_ONLY",
    repairSchema: null,
    externalSideEffects: "NONE",
    identityFields: ["accountId"],
    ...overrides,
  };
}

export const RENAMED_SCHEMA = {
  type: "object",
  required: ["accountId", "name"],
  properties: { accountId: { type: "string" }, name: { type: "string", minLength: 1, maxLength: 10 } },
};

export const RENAMED_REPAIR: RepairSchema = {
  version: "account-renamed-repair-v1",
  eventType: "AccountRenamedEvent",
  schemaVersion: "1",
  jsonSchema: { type: "object", properties: { name: { type: "string" } } },
  editableFields: ["name"],
  review: { name: "full" },
};

export const RENAMED = policyEntry("AccountRenamedEvent", {
  dataValidator: "ACCOUNT_RENAMED_V1",
  repairDisposition: "SCHEMA_REPAIR",
  repairSchema: RENAMED_REPAIR.version,
});

export const ENTRIES: readonly PolicyEntry[] = [
  policyEntry("AccountOpenedEvent"),
  RENAMED,
  policyEntry("GraphChangedEvent", {
    dependency: { kind: "GRAPH_ROOT" },
    replayPolicy: "GRAPH_ROOT",
    identityFields: [],
  }),
  policyEntry("NodeChangedEvent", {
    dependency: { kind: "GRAPH_ROOT", aggregateType: "Node" },
    replayPolicy: "GRAPH_ROOT",
    identityFields: [],
  }),
  policyEntry("NoteAddedEvent", { dependency: { kind: "NONE" }, replayPolicy: "TRANSACTION_ONLY", identityFields: [] }),
  policyEntry("MailSentEvent", {
    dependency: { kind: "NONE" },
    replayPolicy: "NOT_REPLAYABLE",
    repairDisposition: "NOT_REPAIRABLE_UNORDERED",
    externalSideEffects: "REPLAY_EXCLUDED",
    identityFields: [],
  }),
];

export const VALIDATORS: ReadonlyMap<string, DataValidator> = new Map([
  ["ACCOUNT_RENAMED_V1", jsonSchemaValidator(RENAMED_SCHEMA)],
]);

export function registryOf(overrides: Partial<RegistryInput> = {}): PolicyRegistry {
  return buildRegistry({
    version: "event-replay-policy-v2",
    entries: ENTRIES,
    validators: VALIDATORS,
    repairSchemas: new Map([[RENAMED_REPAIR.version, RENAMED_REPAIR]]),
    ...overrides,
  });
}

/** The rules a registry is refused for; empty when it is accepted. */
export function defectsOf(overrides: Partial<RegistryInput>): string[] {
  try {
    registryOf(overrides);
    return [];
  } catch (error) {
    if (error instanceof RegistryError) return error.defects.map(({ rule }) => rule);
    throw error;
  }
}

export function eventId(number: number): string {
  return `01964b05-0000-7000-9000-${number.toString(16).padStart(12, "0")}`;
}

type Attributes = Readonly<Record<string, unknown>>;

/** An AccountOpenedEvent; `undefined` in the overrides removes an attribute. */
export function eventAttributes(overrides: Attributes = {}): Attributes {
  return {
    specversion: "1.0",
    id: eventId(1),
    type: "AccountOpenedEvent",
    source: "https://example.org/accounts",
    time: "2026-01-12T18:55:53.140688426Z",
    host: HOST,
    user: USER,
    nonce: 7,
    subject: "a-1",
    aggregatetype: "Account",
    aggregateversion: 1,
    data: { accountId: "a-1" },
    ...overrides,
  };
}

/** The same without ordering metadata. */
export function noteAttributes(overrides: Attributes = {}): Attributes {
  return eventAttributes({
    type: "NoteAddedEvent",
    subject: undefined,
    aggregatetype: undefined,
    aggregateversion: undefined,
    ...overrides,
  });
}

export function envelopeOf(attributes: Attributes): EventEnvelope {
  const reading = readEvent(JSON.stringify(attributes));
  if (!reading.ok) throw new Error(reading.errors.map(({ field, rule }) => `${field} ${rule}`).join("; "));
  return reading.envelope;
}

/** The refused fields of an event as `field RULE`; empty when it is accepted. */
export function refusalsOf(attributes: Attributes): string[] {
  const reading = readEvent(JSON.stringify(attributes));
  return reading.ok ? [] : reading.errors.map(({ field, rule }) => `${field} ${rule}`);
}

export function membersOf(events: readonly Attributes[]): DeclaredMember[] {
  return events.map((attributes, ordinal) => ({ envelope: envelopeOf(attributes), ordinal, count: events.length }));
}

export function transactionOf(
  members: readonly DeclaredMember[],
  overrides: Partial<TransactionInput> = {},
): TransactionInput {
  return { stage: "DIRECT_APPEND", transactionId: TRANSACTION, members, acceptVersionBaseline: false, ...overrides };
}

/** The refusals of a transaction as `code` and `member field RULE`; null when it is accepted. */
export function refusalOf(registry: PolicyRegistry, input: TransactionInput): { code: string; rules: string[] } | null {
  const verdict = validateTransaction(registry, input);
  if (verdict.ok) return null;
  return {
    code: verdict.code,
    rules: verdict.errors.map(({ member, field, rule }) =>
      [member, field, rule].filter((part) => part !== undefined && part !== "").join(" "),
    ),
  };
}
