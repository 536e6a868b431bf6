import type {
  EventHandler,
  ProjectedEvent,
  ProjectionDefinition,
  RowChange,
} from "@/server/event-replay/projection/domain/types";
import { readDefect } from "./repository";

type RowSet = Extract<RowChange, { set: unknown }>;

/**
 * What the defect does to the changes of an event type: it makes the row one that the database itself refuses, so that the
 * failure has a real SQLSTATE and constraint and nothing but the database judged it.
 */
const DEFECTS: Readonly<Record<string, (change: RowSet) => RowSet>> = {
  // 22001: longer than its column.
  ConfigPropertyUpdatedEvent: (change) => ({
    ...change,
    set: { ...change.set, resource_type: "a resource type of the next release, far longer than its column" },
  }),
  // 23503: names a role that doesn't exist.
  RoleUserCreatedEvent: (change) => {
    const [hostId = null, dataHostId = null, roleId, userId = null] = change.key;
    return { ...change, key: [hostId, dataHostId, `${roleId} (renamed)`, userId] };
  },
};

/**
 * The same projection with the demo's deliberate defect: whether it is on is read once a batch on the caller's connection, so
 * LIVE and REPLAY see one state per transaction and turning it off needs no restart. Only a composition root in demo mode
 * calls it; neither engine nor handlers know of it.
 */
export function withDemoDefect(definition: ProjectionDefinition): ProjectionDefinition {
  const broken: ProjectionDefinition = { ...definition, handlerFor: brokenHandlers(definition) };
  return {
    ...definition,
    async forBatch(tx) {
      return (await readDefect(tx)).broken ? broken : definition;
    },
  };
}

function brokenHandlers(definition: ProjectionDefinition): ProjectionDefinition["handlerFor"] {
  const cache = new Map<EventHandler, EventHandler>();
  return (entry, registryVersion) => {
    const handler = definition.handlerFor(entry, registryVersion);
    const defect = DEFECTS[entry.eventType];
    if (handler?.kind !== "rows" || !defect) return handler;
    const broken = cache.get(handler) ?? breakRows(handler, defect);
    cache.set(handler, broken);
    return broken;
  };
}

function breakRows(handler: Extract<EventHandler, { kind: "rows" }>, defect: (change: RowSet) => RowSet): EventHandler {
  return {
    kind: "rows",
    project: (event: ProjectedEvent) =>
      handler.project(event).map((change) => ("set" in change ? defect(change) : change)),
  };
}
