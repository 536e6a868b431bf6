import type { ErrorCode, ErrorDetails } from "@/server/contracts/errors";
import type { SelectionStrategy, ValidationMode } from "@/server/contracts/replay";
import type { OrderedScopeType } from "@/server/event-replay/registry/domain/policy";

/** Names the meaning of a plan: what is hashed and in which order. Part of the hash. */
export const PLAN_CONTRACT_VERSION = "event-replay-plan-v2";
/** A plan lives this long, through approval, by the database's clock (ER-PLN-18). */
export const PLAN_TTL_SECONDS = 86_400;

export type IsolationMode = "GRAPH_ROOT" | "AGGREGATE" | "TRANSACTION_ONLY";

/** Where one scope stands at planning and where it stands once every item of the plan that writes it is done. */
export type PlanScope = {
  readonly scopeType: OrderedScopeType;
  readonly scopeKey: string;
  /** Projected version at planning; null: nothing of it was projected. */
  readonly before: number | null;
  readonly after: number;
};

export type PlanWarning = {
  readonly code: "DEPENDENCY_CLOSURE_EXPANDED" | "NO_ELIGIBLE_APPROVER";
  readonly message: string;
};

/** Stored as event_replay_request_t.plan_metadata; frozen by the database once the plan is READY. */
export type PlanMetadata = {
  readonly contractVersion: string;
  readonly isolationScope: {
    readonly mode: IsolationMode;
    readonly projectionName: string;
    readonly consumerGroup: string;
    readonly rootInstanceIds: readonly string[];
  };
  /** Union over all items, canonical order: what is held while it runs, and what has to have moved afterwards. */
  readonly scopes: readonly PlanScope[];
  /** The lane all items belong to: a host has one. */
  readonly partitionId: number;
  /** Where the source's progress stood; hashed, never compared (design §3). */
  readonly highWaterMarks: readonly { readonly partitionId: number; readonly projectedOffset: number }[];
  readonly warnings: readonly PlanWarning[];
  readonly selectedTransactionCount: number;
  readonly addedDependencyTransactionCount: number;
};

/** What one transaction writes in one scope: its versions there, ascending as its members write them. */
export type ScopeWrite = {
  readonly type: OrderedScopeType;
  readonly key: string;
  readonly versions: readonly number[];
};

/** One archived failure as the planner sees it. `writes` in canonical scope order, each scope once. */
export type PlanFailure = {
  readonly failureId: string;
  readonly contentFingerprint: string;
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly executable: boolean;
  readonly eventCount: number;
  readonly payloadBytes: number;
  /** Source position of its first member: orders what no scope orders. */
  readonly firstPosition: number;
  readonly writes: readonly ScopeWrite[];
  /** An import declared the first version of that scope its baseline. Scope ids. */
  readonly baselines: ReadonlySet<string>;
};

/** One item in plan order. */
export type PlanItem = {
  readonly ordinal: number;
  readonly failure: PlanFailure;
  readonly addedDependency: boolean;
  /** Our words: "Selected", "Needed by item 4". */
  readonly dependencyReason: string;
  /** Ordinals of the items that have to run before it, one step. */
  readonly needs: readonly number[];
};

export type Plan = {
  readonly strategy: SelectionStrategy;
  readonly validationMode: ValidationMode;
  readonly items: readonly PlanItem[];
  readonly eventCount: number;
  readonly payloadBytes: number;
  readonly isolationMode: IsolationMode;
  readonly rootInstanceIds: readonly string[];
  readonly scopes: readonly PlanScope[];
  readonly selectedCount: number;
};

export type PlanRefusal = { readonly code: ErrorCode; readonly details: ErrorDetails };
