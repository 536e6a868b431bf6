import type { PolicyRegistries, PolicyRegistry } from "./policy";

/** The key under which a projection registers a handler. */
export type HandlerKey = { readonly eventType: string; readonly schemaVersion: string };

/**
 * Coverage gate (ER-APP-30): handlers that have neither a registry entry for their exact key nor an exact exclusion of their
 * type. Empty means qualified; a build with any is refused.
 */
export function qualifyHandlers(
  registry: PolicyRegistry,
  handlerKeys: readonly HandlerKey[],
  exclusions: ReadonlySet<string>,
): readonly HandlerKey[] {
  return handlerKeys.filter(
    ({ eventType, schemaVersion }) => !registry.find(eventType, schemaVersion) && !exclusions.has(eventType),
  );
}

/** A version that a stored event, open failure, repair or plan is pinned to. Read from the database by the caller. */
export type VersionReference =
  | { readonly kind: "REGISTRY"; readonly registryVersion: string }
  | {
      readonly kind: "REPAIR_SCHEMA";
      /** Null when the row names only the schema: then any deployed registry version may hold it. */
      readonly registryVersion: string | null;
      readonly repairSchemaVersion: string;
    }
  | {
      readonly kind: "EVENT_TYPE";
      readonly registryVersion: string;
      readonly eventType: string;
      readonly schemaVersion: string;
    };

/**
 * Removal gate (ER-APP-24): the references no deployed registry version answers. Start-up and build refuse to go on unless
 * this is empty; adding versions never makes it longer (ER-APP-25).
 */
export function checkReferencedVersions(
  registries: PolicyRegistries,
  references: readonly VersionReference[],
): readonly VersionReference[] {
  return references.filter((reference) => {
    if (reference.kind === "REPAIR_SCHEMA" && reference.registryVersion === null) {
      return !registries.all.some((registry) => registry.repairSchemas.has(reference.repairSchemaVersion));
    }
    const registry = reference.registryVersion === null ? undefined : registries.version(reference.registryVersion);
    if (!registry) return true;
    if (reference.kind === "REPAIR_SCHEMA") return !registry.repairSchemas.has(reference.repairSchemaVersion);
    return reference.kind === "EVENT_TYPE" && !registry.find(reference.eventType, reference.schemaVersion);
  });
}
