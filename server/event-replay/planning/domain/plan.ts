import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
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
  /** Of every graph root of the plan: what append accepted and what is projected; hashed, never compared. */
  readonly graphRevisions: readonly GraphRevision[];
  readonly warnings: readonly PlanWarning[];
  readonly selectedTransactionCount: number;
  readonly addedDependencyTransactionCount: number;
  /** Digest of what was asked for: a repeated request is told by it. Not part of the plan hash. */
  readonly requestFingerprint: string;
};

export type GraphRevision = {
  readonly rootInstanceId: string;
  readonly accepted: number | null;
  readonly projected: number | null;
};

/** One archived failure as the planner sees it, proven by its digests. */
export type PlanFailure = {
  readonly failureId: string;
  readonly contentFingerprint: string;
  readonly eventCount: number;
  readonly payloadBytes: number;
  /** Source position of its first member: orders what no scope orders. */
  readonly firstPosition: number;
  /** What it writes: each scope once, canonical order. */
  readonly runs: readonly ScopeRun[];
};

/** One item in plan order. */
export type PlanItem = {
  readonly ordinal: number;
  readonly failure: PlanFailure;
  readonly addedDependency: boolean;
  /** Our words: "Selected", "Added, item 4 needs it". */
  readonly dependencyReason: string;
  /** Ordinals of the items that have to run before it, one step. */
  readonly needs: readonly number[];
};
