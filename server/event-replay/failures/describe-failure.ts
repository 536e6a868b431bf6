import type { CandidateItem, FailureCause } from "@/server/contracts/failures";
import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import type { PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import { toIso, toIsoOrNull } from "@/server/platform/db/timestamps";
import { type CauseFacts, describeCause } from "./domain/cause-catalog";
import type { FailureRow } from "./repository";

export type Describer = (facts: CauseFacts, executable?: boolean) => FailureCause;

/**
 * Words for causes, with what this projection's registry and tables know: whether the failing type has a repair form, whether
 * it is ordered, and which table a foreign key refers to.
 */
export function causeDescriber(projection: ProjectionDefinition): Describer {
  const byType = new Map<string, PolicyEntry>();
  for (const entry of projection.registries.current.entries) byType.set(entry.eventType, entry);
  return (facts, executable = true) => {
    const entry = facts.eventType === null ? undefined : byType.get(facts.eventType);
    return describeCause(facts, {
      tables: projection.tables,
      repairable: entry !== undefined && entry.repairSchema !== null,
      ordered:
        entry === undefined || (entry.replayPolicy !== "TRANSACTION_ONLY" && entry.replayPolicy !== "NOT_REPLAYABLE"),
      executable,
    });
  };
}

export function causeFacts(row: FailureRow): CauseFacts {
  return {
    errorCode: row.errorCode,
    sqlState: row.sqlState,
    constraint: row.constraint,
    eventType: row.failedEventType,
  };
}

/** The scope a list shows: the graph root where there is one, else the aggregate, of the member that failed. */
export function primaryScopeOf(row: FailureRow): CandidateItem["primaryScope"] {
  if (row.scopeCount === 0) return null;
  const [scope] = scopesOfEvent({
    aggregateType: row.headAggregateType,
    aggregateId: row.headAggregateId,
    aggregateVersion: row.headAggregateVersion,
    rootInstanceId: row.headRootInstanceId,
    graphRevision: row.headGraphRevision,
  });
  return scope === undefined ? null : { scopeType: scope.type, scopeKey: scope.key, version: scope.version };
}

/** A failure as lists show it (reference §11.1 and its additions). */
export function toCandidateItem(row: FailureRow, toCause: Describer): CandidateItem {
  return {
    failureId: row.failureId,
    status: row.status,
    projectionName: row.projectionName,
    consumerGroup: row.consumerGroup,
    originalTransactionId: row.originalTransactionId,
    eventCount: row.eventCount,
    eventTypes: { first: row.headType ?? row.failedEventType ?? "unknown", count: row.typeCount },
    replayPolicy: row.replayPolicy,
    primaryScope: primaryScopeOf(row),
    scopeCount: row.scopeCount,
    blockedScopes: row.status === "OPEN" ? row.scopeCount : 0,
    firstFailedTs: toIso(row.firstFailedTs),
    lastFailedTs: toIso(row.lastFailedTs),
    failureCount: row.failureCount,
    errorCode: row.errorCode,
    cause: toCause(causeFacts(row), row.executable),
    executable: row.executable,
    payloadAvailable: row.payloadAvailable,
    // No payload is encrypted by the application; the member stays for clients that read it.
    encryptedPayloadBytes: 0,
    decryptedPayloadBytes: row.decryptedPayloadBytes,
    resolvedTs: toIsoOrNull(row.resolvedTs),
    resolvedByRequestId: row.resolvedByRequestId,
  };
}
