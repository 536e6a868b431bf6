import type { GetFailureResponse } from "@/server/contracts/failures";
import { scopeId, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import type { MemberRow, ScopeRow } from "./detail-repository";
import { causeKeyOf } from "./domain/cause-catalog";
import type { Lane, LaneKey } from "./lane-repository";
import type { FailureRow } from "./repository";

/** What one failure writes in one scope. */
export type OwnScope = {
  readonly scopeType: "AGGREGATE" | "GRAPH_ROOT";
  readonly scopeKey: string;
  readonly status: ScopeRow["status"];
  readonly quarantined: boolean;
  readonly versions: readonly number[];
  readonly member: MemberRow | undefined;
};

/** The failure's archived scopes with the versions its members write there, in canonical order. */
export function ownScopes(scopes: readonly ScopeRow[], members: readonly MemberRow[]): OwnScope[] {
  const steps = new Map<string, { versions: number[]; member: MemberRow }>();
  for (const member of members) {
    for (const step of scopesOfEvent(member)) {
      const seen = steps.get(scopeId(step));
      if (seen === undefined) steps.set(scopeId(step), { versions: [step.version], member });
      else if (!seen.versions.includes(step.version)) seen.versions.push(step.version);
    }
  }
  return scopes.map((scope) => {
    const scopeType = scope.scopeType === "GRAPH_ROOT" ? "GRAPH_ROOT" : "AGGREGATE";
    const step = steps.get(scopeId({ type: scopeType, key: scope.scopeKey }));
    const versions = [...(step?.versions ?? [])].sort((a, b) => a - b).slice(0, 500);
    const { scopeKey, status, quarantined } = scope;
    return { scopeType, scopeKey, status, quarantined, versions, member: step?.member };
  });
}

export function laneKeyOf(row: FailureRow, scope: OwnScope): LaneKey {
  const [first, last] = [scope.versions[0], scope.versions.at(-1)];
  return {
    projectionName: row.projectionName,
    consumerGroup: row.consumerGroup,
    scopeType: scope.scopeType,
    scopeKey: scope.scopeKey,
    aggregateType: scope.member?.aggregateType ?? null,
    aggregateId: scope.member?.aggregateId ?? null,
    rootInstanceId: scope.scopeType === "GRAPH_ROOT" ? scope.scopeKey : null,
    own: first === undefined || last === undefined ? null : { failureId: row.failureId, first, last },
  };
}

/** One drawn lane. Versions appended after everything open and not yet read by the projection are counted, not listed. */
export function toLane(scope: OwnScope, lane: Lane): GetFailureResponse["lanes"][number] {
  const first = scope.versions[0];
  const predecessors = lane.open
    .filter((open) => first !== undefined && open.version < first)
    .map((open) => ({
      failureId: open.failureId,
      version: open.version,
      causeKey: causeKeyOf(open),
      eventType: open.eventType ?? open.memberType,
    }));
  return {
    scopeType: scope.scopeType,
    scopeKey: scope.scopeKey,
    projectedVersion: lane.projectedVersion,
    ownVersions: [...scope.versions],
    predecessors,
    predecessorCount: lane.belowOwn,
    successorCount: lane.aboveOwn,
    laterAppended: laterAppended(lane, scope.versions.at(-1) ?? 0),
  };
}

/** Versions above everything projected, open or own: accepted, and the projection has not met them yet. */
export function laterAppended(lane: Lane, ownLast: number): number | null {
  if (lane.appendedVersion === null) return null;
  const known = Math.max(lane.projectedVersion ?? 0, lane.lastOpenVersion ?? 0, ownLast);
  return Math.max(0, lane.appendedVersion - known);
}
