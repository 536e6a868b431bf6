import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
import { compareScopes, type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { PlanFailure, PlanScope } from "./plan";

/**
 * A version of a scope that is known to exist although it is neither projected nor in the plan: a failure that is waived, kept
 * as evidence only, or (under EXACT) not selected.
 */
export type KnownVersion = Scope & {
  readonly version: number;
  readonly failureId: string;
  readonly transactionId: string;
};

/** Versions `first` to `last` of a scope that nothing in the plan writes, and what is known of them. */
export type ScopeGap = Scope & {
  readonly first: number;
  readonly last: number;
  readonly known: readonly KnownVersion[];
};

export type Continuity = {
  /** Every scope of the plan, canonical order. */
  readonly scopes: readonly PlanScope[];
  /** Empty exactly when every item continues every one of its scopes. */
  readonly gaps: readonly ScopeGap[];
  /** Failures that would write a version which is projected, or which another item writes. */
  readonly overlapping: readonly string[];
};

/**
 * Whether the plan moves every scope without a hole, per scope (ER-PLN-08, ER-PLN-21): from the projected version on, each
 * version exactly once. It is the executor's own rule, asked beforehand. An unknown scope begins with its first version unless
 * an earlier one is known; a declared baseline may jump over versions of which nothing is known. A waived or non-executable
 * predecessor counts as missing, whatever else is true (ER-PLN-22).
 */
export function checkContinuity(
  ordered: readonly PlanFailure[],
  projected: ReadonlyMap<string, number>,
  known: readonly KnownVersion[],
): Continuity {
  const knownByScope = new Map<string, KnownVersion[]>();
  for (const version of known) {
    const id = scopeId(version);
    knownByScope.set(id, [...(knownByScope.get(id) ?? []), version]);
  }
  const lanes = new Map<string, { scope: Scope; runs: { run: ScopeRun; failureId: string }[] }>();
  for (const { failureId, runs } of ordered) {
    for (const run of runs) {
      const id = scopeId(run);
      const lane = lanes.get(id) ?? { scope: { type: run.type, key: run.key }, runs: [] };
      lane.runs.push({ run, failureId });
      lanes.set(id, lane);
    }
  }
  const scopes: PlanScope[] = [];
  const gaps: ScopeGap[] = [];
  const overlapping = new Set<string>();
  for (const { scope, runs } of [...lanes.values()].sort((a, b) => compareScopes(a.scope, b.scope))) {
    const id = scopeId(scope);
    const before = projected.get(id) ?? null;
    const evidence = knownByScope.get(id) ?? [];
    let expected = before === null ? null : before + 1;
    for (const { run, failureId } of runs) {
      const first = run.versions[0] as number;
      if (expected !== null && first < expected) overlapping.add(failureId);
      gaps.push(...holeBefore(scope, run, expected, evidence), ...holesInside(scope, run));
      expected = Math.max(expected ?? 0, (run.versions.at(-1) as number) + 1);
    }
    scopes.push({ scopeType: scope.type, scopeKey: scope.key, before, after: (expected as number) - 1 });
  }
  return { scopes, gaps, overlapping: [...overlapping] };
}

function holeBefore(
  scope: Scope,
  run: ScopeRun,
  expected: number | null,
  evidence: readonly KnownVersion[],
): ScopeGap[] {
  const first = run.versions[0] as number;
  const known = evidence
    .filter(({ version }) => version < first && version >= (expected ?? 0))
    .sort((a, b) => a.version - b.version);
  const start = expected === null || run.declaresBaseline ? known[0]?.version : expected;
  return start === undefined || start >= first ? [] : [{ ...scope, first: start, last: first - 1, known }];
}

function holesInside(scope: Scope, run: ScopeRun): ScopeGap[] {
  const gaps: ScopeGap[] = [];
  for (let i = 1; i < run.versions.length; i++) {
    const before = run.versions[i - 1] as number;
    const version = run.versions[i] as number;
    if (version > before + 1) gaps.push({ ...scope, first: before + 1, last: version - 1, known: [] });
  }
  return gaps;
}

/** The missing versions of all gaps one by one, at most `limit`, in canonical order of scopes. */
export function missingVersions(
  gaps: readonly ScopeGap[],
  limit: number,
): { scope: string; version?: number; revision?: number; transactionId?: string }[] {
  const missing: { scope: string; version?: number; revision?: number; transactionId?: string }[] = [];
  for (const gap of gaps) {
    for (let n = gap.first; n <= gap.last; n++) {
      if (missing.length === limit) return missing;
      const transactionId = gap.known.find(({ version }) => version === n)?.transactionId;
      missing.push({
        scope: gap.key,
        ...(gap.type === "GRAPH_ROOT" ? { revision: n } : { version: n }),
        ...(transactionId === undefined ? {} : { transactionId }),
      });
    }
  }
  return missing;
}
