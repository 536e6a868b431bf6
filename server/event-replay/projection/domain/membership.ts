import {
  compareScopes,
  type Scope,
  type ScopeStep,
  scopeId,
  scopesOfEvent,
} from "@/server/event-replay/registry/domain/scopes";
import type { ProjectionTransaction, SourceEvent } from "./types";

/**
 * True when the members are exactly ordinals 0..declaredCount-1 in order. An incomplete or mis-ordered transaction is refused
 * with TRANSACTION_INCOMPLETE before any handler runs (ER-EXE-17); its boundary is never guessed.
 */
export function isComplete(transaction: ProjectionTransaction): boolean {
  const { members, declaredCount } = transaction;
  return declaredCount > 0 && members.length === declaredCount && members.every((member, i) => member.ordinal === i);
}

/** The versions one transaction writes in one scope, in member order. */
export type ScopeRun = Scope & { readonly versions: readonly number[]; readonly declaresBaseline: boolean };

/** What of a member decides its scopes. */
type OrderedMember = Parameters<typeof scopesOfEvent>[0] & Pick<SourceEvent, "versionBaseline">;

/** The union of all members' scopes in canonical order: what is locked, checked and advanced as one (ER-EXE-16, ER-ISO-02). */
export function scopeRunsOf(transaction: { readonly members: readonly OrderedMember[] }): ScopeRun[] {
  const [only] = transaction.members;
  if (only && transaction.members.length === 1)
    return scopesOfEvent(only)
      .map((step) => runOfStep(step, only))
      .sort(compareScopes);
  const runs = new Map<string, { scope: ScopeStep; versions: number[]; baseline: boolean }>();
  for (const member of transaction.members) {
    for (const step of scopesOfEvent(member)) {
      const id = scopeId(step);
      const run = runs.get(id);
      if (!run)
        runs.set(id, {
          scope: step,
          versions: [step.version],
          baseline: step.type === "AGGREGATE" && member.versionBaseline,
        });
      // Members of one graph command share its revision; an aggregate's versions never repeat.
      else if (step.type === "AGGREGATE" || run.versions.at(-1) !== step.version) run.versions.push(step.version);
    }
  }
  return [...runs.values()]
    .map(({ scope, versions, baseline }) => ({
      type: scope.type,
      key: scope.key,
      versions,
      declaresBaseline: baseline,
    }))
    .sort(compareScopes);
}

function runOfStep(step: ScopeStep, member: OrderedMember): ScopeRun {
  const declaresBaseline = step.type === "AGGREGATE" && member.versionBaseline;
  return { type: step.type, key: step.key, versions: [step.version], declaresBaseline };
}
