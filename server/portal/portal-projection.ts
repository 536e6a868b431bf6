import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { eventKey, portalEvents, portalRegistries } from "./registry";
import { PORTAL_TABLES } from "./tables";

export const PORTAL_PROJECTION = "portal-query";
export const PORTAL_CONSUMER_GROUP = "user-query-group";

/** The example projection: what a composition root hands to append, live projection, replay and reads. Built once a process. */
export function portalProjection(): ProjectionDefinition {
  const events = portalEvents();
  const registries = portalRegistries(events);
  const handlers = new Map(events.map(({ entry, handler }) => [eventKey(entry), handler]));
  return {
    projectionName: PORTAL_PROJECTION,
    consumerGroup: PORTAL_CONSUMER_GROUP,
    registries,
    tables: PORTAL_TABLES,
    handlerFor: (entry, registryVersion) =>
      registryVersion === registries.current.version ? handlers.get(eventKey(entry)) : undefined,
  };
}
