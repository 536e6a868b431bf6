import type { EventHandler } from "@/server/event-replay/projection/domain/types";
import {
  POLICY_REGISTRY_VERSION,
  type PolicyEntry,
  type PolicyRegistries,
} from "@/server/event-replay/registry/domain/policy";
import { buildRegistries, buildRegistry } from "@/server/event-replay/registry/domain/registry";
import { catalogEvents } from "./catalog/events";
import { handlerOf } from "./handlers";
import { TYPED_EVENTS } from "./typed/typed-events";

export type PortalEvent = { readonly entry: PolicyEntry; readonly handler: EventHandler };

/** All events of the portal with their handlers: the catalog, and in place of some of its entries the typed ones. */
export function portalEvents(): PortalEvent[] {
  const typed = new Set(TYPED_EVENTS.map(({ entry }) => eventKey(entry)));
  const structural = catalogEvents().filter(({ entry }) => !typed.has(eventKey(entry)));
  return [...structural.map((event) => ({ entry: event.entry, handler: handlerOf(event) })), ...TYPED_EVENTS];
}

/**
 * `event-replay-policy-v2` of this portal. An event pinned to a version is read under it for ever, so a deployed version is
 * never edited in place: another meaning is another version beside it. Throws RegistryError when an entry is broken.
 */
export function portalRegistries(events: readonly PortalEvent[] = portalEvents()): PolicyRegistries {
  const current = buildRegistry({
    version: POLICY_REGISTRY_VERSION,
    entries: events.map(({ entry }) => entry),
    validators: new Map(TYPED_EVENTS.map(({ entry, validator }) => [entry.dataValidator, validator])),
    repairSchemas: new Map(TYPED_EVENTS.map(({ repairSchema }) => [repairSchema.version, repairSchema])),
  });
  return buildRegistries(current, []);
}

export function eventKey({ eventType, schemaVersion }: Pick<PolicyEntry, "eventType" | "schemaVersion">): string {
  return `${eventType}@${schemaVersion}`;
}
