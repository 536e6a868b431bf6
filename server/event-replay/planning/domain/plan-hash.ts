import type { SelectionStrategy, ValidationMode } from "@/server/contracts/replay";
import { type FingerprintField, fingerprint } from "@/server/platform/digest";
import type { PlanMetadata } from "./plan";

/** Everything an approval binds. Each member changes the hash. */
export type PlanHashFields = {
  readonly hostId: string;
  readonly strategy: SelectionStrategy;
  readonly validationMode: ValidationMode;
  /** Plan order. */
  readonly items: readonly {
    readonly failureId: string;
    readonly contentFingerprint: string;
    readonly addedDependency: boolean;
  }[];
  readonly metadata: Pick<
    PlanMetadata,
    "contractVersion" | "isolationScope" | "scopes" | "partitionId" | "highWaterMarks" | "graphRevisions"
  >;
  readonly policyRegistryVersion: string;
  readonly eventCount: number;
  readonly payloadBytes: number;
  /** ISO-8601 UTC with microseconds, as answers carry it. */
  readonly expiresAt: string;
  readonly repair: {
    readonly repairId: string;
    readonly approvalFingerprint: string;
    readonly originalFingerprint: string;
    readonly correctedFingerprint: string;
  } | null;
};

/**
 * SHA-256 (hex) over the plan's fields in the order of the contract (reference §8), each length-delimited, so that no two
 * plans share a hash and any changed value gives another (ER-PLN-11, ER-PLN-12). No upgrader of archived formats exists: that
 * list is empty.
 */
export function planHash(fields: PlanHashFields): string {
  const { metadata, items, repair } = fields;
  const { isolationScope } = metadata;
  const encoded: FingerprintField[] = [
    metadata.contractVersion,
    fields.hostId,
    isolationScope.projectionName,
    isolationScope.consumerGroup,
    fields.strategy,
    fields.validationMode,
    items.map((item) => item.failureId),
    items.map((item) => item.contentFingerprint),
    items.map((item) => (item.addedDependency ? 1 : 0)),
    metadata.scopes.map(({ scopeType, scopeKey, before, after }) => [scopeType, scopeKey, before, after]),
    metadata.graphRevisions.map(({ rootInstanceId, accepted, projected }) => [rootInstanceId, accepted, projected]),
    metadata.highWaterMarks.map(({ partitionId, projectedOffset }) => [partitionId, projectedOffset]),
    fields.policyRegistryVersion,
    [],
    [items.length, fields.eventCount, fields.payloadBytes],
    [isolationScope.mode, isolationScope.rootInstanceIds, metadata.partitionId],
    fields.expiresAt,
    repair && [repair.repairId, repair.approvalFingerprint, repair.originalFingerprint, repair.correctedFingerprint],
  ];
  return fingerprint(encoded);
}
