/** Vocabulary of the policy registry (reference §9). States and policies are equal in TypeScript, database and wire. */

export const POLICY_REGISTRY_VERSION = "event-replay-policy-v2";

export type ReplayPolicy = "GRAPH_ROOT" | "AGGREGATE_VERSION" | "TRANSACTION_ONLY" | "NOT_REPLAYABLE";
export type RepairDisposition = "SCHEMA_REPAIR" | "FIX_AND_EXACT_REPLAY_ONLY" | "NOT_REPAIRABLE_UNORDERED";
export type ExternalSideEffects = "NONE" | "REPLAY_EXCLUDED";
export type OrderedScopeType = "GRAPH_ROOT" | "AGGREGATE";

/** What the event's envelope must carry so that its order is known. */
export type DependencyMetadata =
  | { readonly kind: "GRAPH_ROOT"; readonly aggregateType?: string }
  | { readonly kind: "AGGREGATE"; readonly aggregateType: string }
  | { readonly kind: "NONE" };

/** One event type at one schema version: its whole meaning for append, projection, capture, planning and repair. */
export type PolicyEntry = {
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly transactionPolicy: "COMPLETE_TRANSACTION";
  readonly dependency: DependencyMetadata;
  /** Name of a validator of the same registry version. */
  readonly dataValidator: string;
  readonly replayPolicy: ReplayPolicy;
  readonly repairDisposition: RepairDisposition;
  /** Name of a repair schema of the same registry version, or explicitly none. */
  readonly repairSchema: string | null;
  readonly externalSideEffects: ExternalSideEffects;
  /** Members of `data` the handler needs to find its row again; present and non-empty at append (ER-APP-13). */
  readonly identityFields: readonly string[];
  /** The handler may legitimately change no row. Default false: a replay that changes nothing is a failure. */
  readonly mayChangeNothing?: boolean;
};

/** Checks the parsed `data` of one event without any projection state. Returns the broken rules, never a value. */
export type DataValidator = (data: unknown) => readonly DataViolation[];
/** `field` is a JSON pointer below /data. */
export type DataViolation = { readonly field: string; readonly rule: string };

/** A typed repair: the only fields of `data` a repair may replace. `jsonSchema` is what the form shows. */
export type RepairSchema = {
  readonly version: string;
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly editableFields: readonly string[];
  readonly review: Readonly<Record<string, "none" | "masked" | "full">>;
};

/** One version of the registry. Built by `buildRegistry`, which refuses a broken one. */
export type PolicyRegistry = {
  readonly version: string;
  readonly entries: readonly PolicyEntry[];
  readonly validators: ReadonlyMap<string, DataValidator>;
  readonly repairSchemas: ReadonlyMap<string, RepairSchema>;
  find(eventType: string, schemaVersion: string): PolicyEntry | undefined;
};

/** All deployed versions side by side; `current` is pinned to new appends, older ones keep meaning what they meant. */
export type PolicyRegistries = {
  readonly current: PolicyRegistry;
  /** Current first. */
  readonly all: readonly PolicyRegistry[];
  version(registryVersion: string): PolicyRegistry | undefined;
};
