import type { ScopeRun } from "@/server/event-replay/projection/domain/membership";
import { type Scope, scopeId } from "@/server/event-replay/registry/domain/scopes";

/** Where one scope must stand before an item runs and after it. */
export type ScopeExpectation = Scope & { readonly before: number | null; readonly after: number };

/** Where the plan says that a scope stands before its first item and after its last. */
export type PlannedScope = {
  readonly scopeType: Scope["type"];
  readonly scopeKey: string;
  readonly before: number | null;
  readonly after: number;
};

/**
 * What every item of a plan must find and leave, per scope: the plan's `before`, moved along by the items before it
 * ("green means moved", design §3). Null when items and plan don't agree: then the plan isn't one of these items.
 */
export function expectationsOf(
  items: readonly (readonly ScopeRun[])[],
  planned: readonly PlannedScope[],
): (readonly ScopeExpectation[])[] | null {
  const stands = new Map(planned.map((s) => [scopeId({ type: s.scopeType, key: s.scopeKey }), s.before]));
  const result: ScopeExpectation[][] = [];
  for (const runs of items) {
    const expected: ScopeExpectation[] = [];
    for (const run of runs) {
      const before = stands.get(scopeId(run));
      if (before === undefined) return null;
      const after = run.versions.at(-1) as number;
      expected.push({ type: run.type, key: run.key, before, after });
      stands.set(scopeId(run), after);
    }
    result.push(expected);
  }
  const agrees = planned.every((s) => stands.get(scopeId({ type: s.scopeType, key: s.scopeKey })) === s.after);
  return agrees ? result : null;
}
