import { type FingerprintField, fingerprint } from "@/server/platform/digest";

/** Digests are lowercase hex of SHA-256 over exactly the stored plain bytes, whatever stores them (ER-PAY-15). */
export type ContentFields = {
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly originalTransactionId: string;
  readonly eventIds: readonly string[];
  readonly payloadDigests: readonly string[];
};

export type DeliveryFields = {
  readonly processor: string;
  readonly coordinates: readonly {
    readonly topic: string | null;
    readonly partition: number;
    readonly offset: number;
  }[];
};

/** One canonical failure: same projection, transaction and bytes. Host and source coordinates stay out (ER-CAP-23). Hex. */
export function contentFingerprint(fields: ContentFields): string {
  return fingerprint(contentFields(fields));
}

/** One delivery of that content: the same fields, then where the source had each member (reference §8). Hex. */
export function deliveryFingerprint(content: ContentFields, delivery: DeliveryFields): string {
  const coordinates = delivery.coordinates.map(({ topic, partition, offset }) => [topic, partition, offset]);
  return fingerprint([...contentFields(content), delivery.processor, coordinates]);
}

/** The transaction a repair would project instead: digests of all members in order and the changed fields. Hex. */
export function correctedTransactionFingerprint(fields: {
  readonly originalFingerprint: string;
  readonly repairSchemaVersion: string;
  readonly correctedDigests: readonly string[];
  readonly changedFields: readonly string[];
}): string {
  return fingerprint([
    fields.originalFingerprint,
    fields.repairSchemaVersion,
    fields.correctedDigests,
    fields.changedFields,
  ]);
}

/** What the approver of a repair signs. Hex. */
export function repairApprovalFingerprint(fields: {
  readonly repairId: string;
  readonly originalFingerprint: string;
  readonly correctedFingerprint: string;
  readonly repairSchemaVersion: string;
}): string {
  return fingerprint([
    fields.repairId,
    fields.originalFingerprint,
    fields.correctedFingerprint,
    fields.repairSchemaVersion,
  ]);
}

function contentFields(fields: ContentFields): FingerprintField[] {
  return [
    fields.projectionName,
    fields.consumerGroup,
    fields.originalTransactionId,
    fields.eventIds,
    fields.payloadDigests,
  ];
}
