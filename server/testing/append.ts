import { type AppendDeps, type AppendResult, appendTransaction } from "@/server/event-replay/append/append-transaction";
import type { PolicyEntry, PolicyRegistries, RepairSchema } from "@/server/event-replay/registry/domain/policy";
import { readEvent } from "@/server/event-replay/registry/domain/read-event";
import { buildRegistries, buildRegistry } from "@/server/event-replay/registry/domain/registry";
import type { Pool } from "@/server/platform/db/pool";
import { newId } from "@/server/platform/ids";

/** A small registry of its own for the append tests: one aggregate, one typed, one unordered, one graph-ordered event. */
export const REGISTRY_VERSION = "event-replay-policy-v2";

const entry = (eventType: string, change: Partial<PolicyEntry> = {}): PolicyEntry => ({
  eventType,
  schemaVersion: "1",
  transactionPolicy: "COMPLETE_TRANSACTION",
  dependency: { kind: "AGGREGATE", aggregateType: "Thing" },
  dataValidator: "PORTAL_OBJECT_V1",
  replayPolicy: "AGGREGATE_VERSION",
  repairDisposition: "FIX_AND_EXACT_REPLAY_ONLY",
  repairSchema: null,
  externalSideEffects: "NONE",
  identityFields: [],
  ...change,
});

const thingRepair: RepairSchema = {
  version: "thing-renamed-repair-v1",
  eventType: "ThingRenamedEvent",
  schemaVersion: "1",
  jsonSchema: { type: "object" },
  editableFields: ["name"],
  review: { name: "none" },
};

export function testRegistry(version = REGISTRY_VERSION) {
  return buildRegistry({
    version,
    entries: [
      entry("ThingCreatedEvent", { identityFields: ["thingId"] }),
      entry("ThingRenamedEvent", {
        dataValidator: "THING_RENAMED_V1",
        repairDisposition: "SCHEMA_REPAIR",
        repairSchema: thingRepair.version,
      }),
      entry("OtherChangedEvent", { dependency: { kind: "AGGREGATE", aggregateType: "Other" } }),
      entry("NoteTakenEvent", {
        dependency: { kind: "NONE" },
        replayPolicy: "TRANSACTION_ONLY",
        repairDisposition: "NOT_REPAIRABLE_UNORDERED",
      }),
      entry("GraphChangedEvent", { dependency: { kind: "GRAPH_ROOT" }, replayPolicy: "GRAPH_ROOT" }),
    ],
    validators: new Map([
      [
        "THING_RENAMED_V1",
        (data) => (typeof (data as { name?: unknown }).name === "string" ? [] : [{ field: "/name", rule: "REQUIRED" }]),
      ],
    ]),
    repairSchemas: new Map([[thingRepair.version, thingRepair]]),
  });
}

export const testRegistries: PolicyRegistries = buildRegistries(testRegistry(), []);

export const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
export const OTHER_HOST = "01964b05-552a-7c4b-9184-6857e7f3dc6e";
export const USER = "01964b05-5532-7c79-8cde-191dcbd421b8";

export type EventFields = Readonly<Record<string, unknown>>;

/** A CloudEvent of aggregate Thing; `undefined` drops a member. */
export function cloudEvent(fields: EventFields = {}): Record<string, unknown> {
  const event: Record<string, unknown> = {
    specversion: "1.0",
    id: newId(),
    source: "urn:test",
    type: "ThingCreatedEvent",
    time: "2026-01-02T03:04:05.123456789Z",
    subject: "thing-1",
    host: HOST,
    user: USER,
    nonce: "4",
    aggregatetype: "Thing",
    aggregateversion: 1,
    data: { thingId: "thing-1", hostId: HOST },
    ...fields,
  };
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
}

export function note(fields: EventFields = {}): Record<string, unknown> {
  const none = { subject: undefined, aggregatetype: undefined, aggregateversion: undefined };
  return cloudEvent({ type: "NoteTakenEvent", ...none, ...fields });
}

export const deps = (pool: Pool, registries: PolicyRegistries = testRegistries): AppendDeps => ({
  pool,
  projection: { registries },
});

/** Appends these events as one transaction through the boundary. */
export async function append(
  appendDeps: AppendDeps,
  events: readonly EventFields[],
  transactionId: string | null = null,
): Promise<AppendResult> {
  const members = events.map((event) => {
    const reading = readEvent(JSON.stringify(event));
    if (!reading.ok) throw new Error(`the fixture event is broken: ${JSON.stringify(reading.errors)}`);
    return { envelope: reading.envelope };
  });
  return await appendTransaction(appendDeps, {
    stage: "DIRECT_APPEND",
    transactionId: transactionId ?? newId(),
    explicitId: transactionId !== null,
    members,
    isImport: false,
  });
}

export type Footprint = {
  readonly events: number;
  readonly outbox: number;
  readonly notifications: number;
  readonly failures: number;
  readonly roots: number;
  readonly offsets: string;
};

/** Everything an append may leave behind, as one comparable value. */
export async function footprint(pool: Pool): Promise<Footprint> {
  const { rows } = await pool.query(
    `SELECT (SELECT count(*) FROM event_store_t) AS events, (SELECT count(*) FROM outbox_message_t) AS outbox,
            (SELECT count(*) FROM notification_t) AS notifications,
            (SELECT count(*) FROM event_failure_transaction_t) AS failures,
            (SELECT coalesce(sum(accepted_revision), 0)::int8 FROM instance_graph_revision_t) AS roots,
            (SELECT string_agg(next_offset::text, ',' ORDER BY partition_id) FROM event_offset_counter_t) AS offsets`,
  );
  return rows[0] as Footprint;
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  );
  if (error === null) return "NO_ERROR";
  return typeof error.code === "string" ? error.code : `UNCODED ${error.name}`;
}

export async function rulesOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  );
  return (error?.details?.errors ?? []).map((e: { field: string; rule: string }) => `${e.field} ${e.rule}`);
}
