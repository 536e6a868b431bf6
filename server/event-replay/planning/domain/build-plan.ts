import type { Ordered } from "./order";
import type { IsolationMode, PlanItem, PlanScope, PlanWarning } from "./plan";

/** Nothing of the plan comes after it in a scope: it is there because it owns a quarantine. */
const HOLDS = "Added, a scope of the plan is in its quarantine";

/** The items in plan order, with the reason each is there, in our words. */
export function planItems(ordered: Extract<Ordered, { ok: true }>, selected: ReadonlySet<string>): PlanItem[] {
  const neededBy = new Map<number, number>();
  ordered.needs.forEach((needs, at) => {
    for (const before of needs) if (!neededBy.has(before)) neededBy.set(before, at);
  });
  return ordered.failures.map((failure, ordinal) => {
    const added = !selected.has(failure.failureId);
    const next = neededBy.get(ordinal);
    return {
      ordinal,
      failure,
      addedDependency: added,
      dependencyReason: !added ? "Selected" : next === undefined ? HOLDS : `Added, item ${next + 1} needs it`,
      needs: ordered.needs[ordinal] as readonly number[],
    };
  });
}

/** The coarsest kind of scope a plan holds (ER-ISO-01); unordered transactions hold none. */
export function isolationModeOf(scopes: readonly PlanScope[]): IsolationMode {
  if (scopes.some((scope) => scope.scopeType === "GRAPH_ROOT")) return "GRAPH_ROOT";
  return scopes.length > 0 ? "AGGREGATE" : "TRANSACTION_ONLY";
}

export function planWarnings(added: number, awaitsApproval: boolean, eligibleApprovers: number): PlanWarning[] {
  const warnings: PlanWarning[] = [];
  if (added > 0) {
    const what = added === 1 ? "1 transaction was" : `${added} transactions were`;
    warnings.push({
      code: "DEPENDENCY_CLOSURE_EXPANDED",
      message: `${what} added: a projection never skips a version.`,
    });
  }
  if (awaitsApproval && eligibleApprovers === 0) {
    warnings.push({
      code: "NO_ELIGIBLE_APPROVER",
      message: "Nobody else seen on this host may approve it. A second person has to sign in first.",
    });
  }
  return warnings;
}
