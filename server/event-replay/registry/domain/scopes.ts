import type { OrderedScopeType } from "./policy";

/** An ordering scope of one host. `key` comes only from the encoders below. */
export type Scope = { readonly type: OrderedScopeType; readonly key: string };

/**
 * The one encoding of an aggregate scope (seed, Isolation): capture, guard, continuity, planning and barriers all call it, so
 * that their keys are byte-equal (ER-CAP-28).
 */
export function encodeAggregateScopeKey(aggregateType: string, aggregateId: string): string {
  return `${aggregateType}:${aggregateId}`;
}

export function encodeGraphRootScopeKey(rootInstanceId: string): string {
  return rootInstanceId;
}

/** A scope together with the version (AGGREGATE) or revision (GRAPH_ROOT) that one event writes in it. */
export type ScopeStep = Scope & { readonly version: number };

type OrderingMetadata = {
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
};

/** Scopes of one event. An event with both kinds of evidence is in both scopes (decision D-39). */
export function scopesOfEvent(event: OrderingMetadata): ScopeStep[] {
  const steps: ScopeStep[] = [];
  if (event.rootInstanceId !== null && event.graphRevision !== null) {
    steps.push({
      type: "GRAPH_ROOT",
      key: encodeGraphRootScopeKey(event.rootInstanceId),
      version: event.graphRevision,
    });
  }
  if (event.aggregateType !== null && event.aggregateId !== null && event.aggregateVersion !== null) {
    const key = encodeAggregateScopeKey(event.aggregateType, event.aggregateId);
    steps.push({ type: "AGGREGATE", key, version: event.aggregateVersion });
  }
  return steps;
}

/** Canonical order of scopes: the order in which every lock on them is taken. Code unit order, never a locale's. */
export function compareScopes(a: Scope, b: Scope): number {
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Identity of a scope inside one host and projection, for maps. */
export function scopeId(scope: Scope): string {
  return `${scope.type}\u0000${scope.key}`;
}
