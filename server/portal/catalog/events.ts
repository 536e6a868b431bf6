import type { PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { AGGREGATES, type Aggregate, type ExtraEvent } from "./aggregates";

export const PORTAL_OBJECT_V1 = "PORTAL_OBJECT_V1";

/**
 * What one event does to the projection. CREATE writes the complete row, SAVE the members it carries, PATCH changes an existing
 * row only, DELETE removes it, RECORD adds one row per event.
 */
export type Effect = "CREATE" | "SAVE" | "PATCH" | "DELETE" | "RECORD";

export type CatalogEvent = {
  readonly entry: PolicyEntry;
  readonly effect: Effect;
  readonly aggregate: Aggregate | null;
  readonly implied: ExtraEvent["implied"];
};

/** Schema version of ordinary events; version 2 exists for the members of an instance graph. */
const PLAIN = "1";
const GRAPH = "2";

/**
 * All structurally validated events of the portal: three of each aggregate type and its others (`AGGREGATE_VERSION`; in schema
 * version 2 of the instance graph's members `GRAPH_ROOT`), and the few that belong to no aggregate. Typed events
 * (`server/portal/typed`) are not here.
 */
export function catalogEvents(): CatalogEvent[] {
  return [...AGGREGATES.flatMap(eventsOfAggregate), ...UNORDERED, GRAPH_CLONED];
}

function eventsOfAggregate(aggregate: Aggregate): CatalogEvent[] {
  const verbs: readonly { verb: string; effect: Effect; implied: ExtraEvent["implied"] }[] = [
    { verb: "Created", effect: "CREATE", implied: {} },
    { verb: "Updated", effect: "SAVE", implied: {} },
    { verb: "Deleted", effect: "DELETE", implied: {} },
    ...aggregate.also.map((extra) => ({
      ...extra,
      effect: extra.effect === "SAVE" ? ("CREATE" as const) : extra.effect,
    })),
  ];
  const versions = aggregate.graph ? [PLAIN, GRAPH] : [PLAIN];
  return versions.flatMap((schemaVersion) =>
    verbs.map(({ verb, effect, implied }) => ({
      entry: structural(`${aggregate.type}${verb}Event`, aggregate.identity, {
        schemaVersion,
        dependency: { kind: schemaVersion === GRAPH ? "GRAPH_ROOT" : "AGGREGATE", aggregateType: aggregate.type },
        replayPolicy: schemaVersion === GRAPH ? "GRAPH_ROOT" : "AGGREGATE_VERSION",
      }),
      effect,
      aggregate,
      implied,
    })),
  );
}

/** A policy entry over the structural baseline. Ordered events are repaired by fixing the processor; unordered ones never. */
function structural(
  eventType: string,
  identityFields: readonly string[],
  rest: Pick<PolicyEntry, "schemaVersion" | "dependency" | "replayPolicy"> & Partial<PolicyEntry>,
): PolicyEntry {
  return {
    eventType,
    identityFields,
    transactionPolicy: "COMPLETE_TRANSACTION",
    dataValidator: PORTAL_OBJECT_V1,
    repairDisposition: rest.dependency.kind === "NONE" ? "NOT_REPAIRABLE_UNORDERED" : "FIX_AND_EXACT_REPLAY_ONLY",
    repairSchema: null,
    externalSideEffects: "NONE",
    ...rest,
  };
}

const record = (entry: PolicyEntry): CatalogEvent => ({ entry, effect: "RECORD", aggregate: null, implied: {} });

const unordered = (eventType: string, identity: readonly string[], rest: Partial<PolicyEntry> = {}): CatalogEvent =>
  record(
    structural(eventType, identity, {
      schemaVersion: PLAIN,
      dependency: { kind: "NONE" },
      replayPolicy: "TRANSACTION_ONLY",
      ...rest,
    }),
  );

/** Events without an order of their own: something happened, nothing is superseded. */
const UNORDERED: readonly CatalogEvent[] = [
  unordered("UserSignedInEvent", ["userId"]),
  unordered("UserSignedOutEvent", ["userId"]),
  unordered("ReportRequestedEvent", ["reportId"]),
  unordered("MarketplaceVisitedEvent", ["userId"]),
  // Its request for a mail leaves the database elsewhere: repeating it would send the mail again.
  unordered("PasswordResetMailRequestedEvent", ["userId"], {
    replayPolicy: "NOT_REPLAYABLE",
    externalSideEffects: "REPLAY_EXCLUDED",
  }),
];

/** A clone of a whole instance graph: one step of the root's revision, without an aggregate of its own. */
const GRAPH_CLONED: CatalogEvent = record(
  structural("InstanceGraphClonedEvent", ["instanceId"], {
    schemaVersion: PLAIN,
    dependency: { kind: "GRAPH_ROOT" },
    replayPolicy: "GRAPH_ROOT",
  }),
);
