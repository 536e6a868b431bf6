import type { DependencyMetadata, ExternalSideEffects, ReplayPolicy } from "./policy";
import { type ScopeStep, scopesOfEvent } from "./scopes";

/** Ordering evidence of one event's envelope. `aggregateId` is the CloudEvent subject. */
export type OrderingEvidence = {
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  /** The event type is excluded from replay by an exact name. */
  readonly excluded?: boolean;
};

export type DerivationRule =
  | "GRAPH_METADATA_INCOMPLETE"
  | "AGGREGATE_METADATA_INCOMPLETE"
  | "GRAPH_REVISION_NOT_POSITIVE"
  | "AGGREGATE_VERSION_NOT_POSITIVE"
  | "ORDERED_EVENT_EXCLUDED";

export type Derivation =
  | { readonly ok: true; readonly policy: ReplayPolicy; readonly scopes: readonly ScopeStep[] }
  | { readonly ok: false; readonly rule: DerivationRule };

/**
 * The policy that metadata alone gives an event of a complete transaction (seed, derived policy table; ER-APP-35, 36). Graph
 * evidence outranks aggregate evidence; with both the event is in both scopes (D-39). Half of a pair is contradictory, not
 * weaker evidence. An ordered event can't be excluded: its scope would have a gap nobody may replay or waive.
 */
export function derivePolicy(event: OrderingEvidence): Derivation {
  const hasRoot = event.rootInstanceId !== null;
  if (hasRoot !== (event.graphRevision !== null)) return { ok: false, rule: "GRAPH_METADATA_INCOMPLETE" };
  const parts = [event.aggregateType, event.aggregateId, event.aggregateVersion].filter((part) => part !== null).length;
  if (parts !== 0 && parts !== 3) return { ok: false, rule: "AGGREGATE_METADATA_INCOMPLETE" };
  if (event.graphRevision !== null && !isPositiveInteger(event.graphRevision)) {
    return { ok: false, rule: "GRAPH_REVISION_NOT_POSITIVE" };
  }
  if (event.aggregateVersion !== null && !isPositiveInteger(event.aggregateVersion)) {
    return { ok: false, rule: "AGGREGATE_VERSION_NOT_POSITIVE" };
  }
  const ordered = hasRoot || parts === 3;
  if (event.excluded) {
    return ordered ? { ok: false, rule: "ORDERED_EVENT_EXCLUDED" } : { ok: true, policy: "NOT_REPLAYABLE", scopes: [] };
  }
  const policy = hasRoot ? "GRAPH_ROOT" : ordered ? "AGGREGATE_VERSION" : "TRANSACTION_ONLY";
  return { ok: true, policy, scopes: scopesOfEvent(event) };
}

/** The policies an entry may declare: what its own metadata derives, nothing else (D-31). */
export function policyOfDependency(dependency: DependencyMetadata, effects: ExternalSideEffects): ReplayPolicy {
  switch (dependency.kind) {
    case "GRAPH_ROOT":
      return "GRAPH_ROOT";
    case "AGGREGATE":
      return "AGGREGATE_VERSION";
    case "NONE":
      return effects === "REPLAY_EXCLUDED" ? "NOT_REPLAYABLE" : "TRANSACTION_ONLY";
  }
}

export function isOrderedPolicy(policy: ReplayPolicy): boolean {
  return policy === "GRAPH_ROOT" || policy === "AGGREGATE_VERSION";
}

function isPositiveInteger(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
