import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import type { ScopeRun } from "./membership";

/** Where a scope stands: the last projected version, and whether an OPEN failure holds it. */
export type ScopeStanding = { readonly projected: number | null; readonly held: boolean };

export type ContinuityDecision =
  | { readonly kind: "APPLY" }
  /** Every version is already projected: an idempotent no-op. */
  | { readonly kind: "ALREADY_PROJECTED" }
  /** At least one scope would jump, run backwards, or is held: nothing of the transaction runs. */
  | { readonly kind: "GAP"; readonly scope: Scope; readonly expected: number | null; readonly got: number };

/**
 * The continuity rule (design §3, decision D-19): in every scope the next version is projected + 1. Lower = no-op, higher =
 * gap. An unknown scope takes its first version as baseline, and an import may declare a baseline, but never while an OPEN
 * failure holds the scope: then the missing version is known to exist. One bad scope refuses the whole transaction.
 */
export function decideContinuity(
  runs: readonly ScopeRun[],
  standing: (scope: Scope) => ScopeStanding,
): ContinuityDecision {
  if (runs.length === 0) return { kind: "APPLY" };
  let applied = 0;
  for (const run of runs) {
    const verdict = judge(run, standing(run));
    if (verdict === "APPLIED") applied++;
    else if (verdict !== "NEXT") return { kind: "GAP", scope: { type: run.type, key: run.key }, ...verdict };
  }
  if (applied === runs.length) return { kind: "ALREADY_PROJECTED" };
  const ahead = applied === 0 ? undefined : runs.find((run) => judge(run, standing(run)) === "APPLIED");
  if (!ahead) return { kind: "APPLY" };
  // Some scopes have it, others don't: it can't have been this transaction that moved them, so it must not run in part.
  const projected = standing(ahead).projected as number;
  const scope = { type: ahead.type, key: ahead.key };
  return { kind: "GAP", scope, expected: projected + 1, got: ahead.versions[0] as number };
}

type Verdict = "NEXT" | "APPLIED" | { readonly expected: number | null; readonly got: number };

function judge(run: ScopeRun, { projected, held }: ScopeStanding): Verdict {
  const first = run.versions[0] as number;
  const last = run.versions.at(-1) as number;
  if (projected !== null && last <= projected && isAscending(run.versions)) return "APPLIED";
  const expected = projected === null ? null : projected + 1;
  if (held) return { expected, got: first };
  const startsRight = expected === null || first === expected || (run.declaresBaseline && first > expected);
  if (!startsRight) return { expected, got: first };
  for (let i = 1; i < run.versions.length; i++) {
    const before = run.versions[i - 1] as number;
    const version = run.versions[i] as number;
    if (version !== before + 1) return { expected: before + 1, got: version };
  }
  return "NEXT";
}

function isAscending(versions: readonly number[]): boolean {
  return versions.every((version, i) => i === 0 || version > (versions[i - 1] as number));
}
