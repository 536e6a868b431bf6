import fc from "fast-check";
import type { OpenWrite } from "@/server/event-replay/planning/domain/closure";
import type { PlanFailure } from "@/server/event-replay/planning/domain/plan";
import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
import { compareScopes, type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";
import { sha256Hex } from "@/server/platform/digest";

export type MadeFailure = PlanFailure;
/** A source's history of which a tail failed: where each scope stands, and what is open. */
export type History = { readonly failures: readonly MadeFailure[]; readonly projected: ReadonlyMap<string, number> };

const SCOPES: readonly Scope[] = [
  { type: "AGGREGATE", key: "Account:a" },
  { type: "AGGREGATE", key: "Account:b" },
  { type: "AGGREGATE", key: "Account:c" },
  { type: "GRAPH_ROOT", key: "0197b2c4-0000-7000-8000-000000002f64" },
  { type: "GRAPH_ROOT", key: "0197b2c4-0000-7000-8000-00000000a1d8" },
];

/**
 * Transactions appended one after another, each writing one to three versions in up to three scopes (or none: unordered);
 * every scope stands somewhere, and what is open is what lies above.
 */
export function history(max = 24): fc.Arbitrary<History> {
  const transaction = fc.record({
    scopes: fc.subarray([...SCOPES], { maxLength: 3 }),
    versions: fc.integer({ min: 1, max: 3 }),
  });
  return fc
    .tuple(
      fc.array(transaction, { minLength: 1, maxLength: max }),
      fc.array(fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }), {
        minLength: SCOPES.length,
        maxLength: SCOPES.length,
      }),
    )
    .map(([transactions, standing]) => make(transactions, standing));
}

function make(
  transactions: readonly { scopes: readonly Scope[]; versions: number }[],
  standing: readonly (number | null)[],
): History {
  const projected = new Map<string, number>();
  const next = new Map<string, number>();
  SCOPES.forEach((scope, i) => {
    const version = standing[i];
    if (version !== null && version !== undefined) projected.set(scopeId(scope), version);
    next.set(scopeId(scope), (version ?? 0) + 1);
  });
  const failures = transactions.map(({ scopes, versions }, i): MadeFailure => {
    const runs = [...scopes].sort(compareScopes).map((scope): ScopeRun => {
      const first = next.get(scopeId(scope)) as number;
      next.set(scopeId(scope), first + versions);
      return { ...scope, versions: Array.from({ length: versions }, (_, n) => first + n), declaresBaseline: false };
    });
    const failureId = `0197b2c4-0000-7000-8000-${String(i).padStart(12, "0")}`;
    return {
      failureId,
      contentFingerprint: sha256Hex(failureId),
      eventCount: Math.max(1, versions * scopes.length),
      payloadBytes: 100 + i,
      firstPosition: 10 * i,
      runs,
    };
  });
  return { failures, projected };
}

/** The rows that the snapshot query would give. */
export function writesOf({ failures, projected }: History): OpenWrite[] {
  return failures.flatMap(({ failureId, runs }) =>
    runs.map((run) => ({
      type: run.type,
      key: run.key,
      failureId,
      firstVersion: run.versions[0] as number,
      lastVersion: run.versions.at(-1) as number,
      projected: projected.get(scopeId(run)) ?? null,
    })),
  );
}
