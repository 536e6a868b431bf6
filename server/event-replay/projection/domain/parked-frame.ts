import type { ErrorCode } from "@/server/contracts/errors";
import { contentFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import { sha256Hex } from "@/server/platform/digest";
import type { ProjectionTransaction, SourceEvent, SourceProcessor } from "./types";

/** First bytes of every parked payload: names its framing, so that another one can never be read by mistake. */
export const PARKED_FORMAT = "event-replay-parked-v1\n";

const LENGTH_BYTES = 4;

/** What the columns beside the bytes say of a parked transaction; the bytes must agree with all of it. */
export type ParkedHeader = {
  readonly hostId: string;
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly transactionId: string;
  readonly contentFingerprint: string;
  readonly eventCount: number;
  readonly payloadDigest: string;
};

export type UnparkedTransaction =
  | { readonly ok: true; readonly transaction: ProjectionTransaction }
  | { readonly ok: false; readonly code: ErrorCode };

/** The columns of one member, as the framing keeps them: JSON with exactly these members. */
type MemberHeader = {
  readonly ordinal: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly userId: string | null;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly policyRegistryVersion: string;
  readonly repairSchemaVersion: string | null;
  readonly versionBaseline: boolean;
  readonly payloadDigest: string;
  readonly processor: SourceProcessor;
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
};

/**
 * Takes a parked transaction apart without loss: framing name, then for every member in ordinal order its columns and its
 * exact event bytes, each with a 4-byte big-endian length before it. Proves digest of the whole, digest of each member, and
 * the content fingerprint, all recomputed from the stored bytes (ER-ISO-05, ER-PAY-02). Refusals: UNSUPPORTED_PAYLOAD_VERSION,
 * PAYLOAD_DIGEST_MISMATCH, TRANSACTION_INCOMPLETE.
 */
export function decodeParked(bytes: Buffer, header: ParkedHeader): UnparkedTransaction {
  const name = Buffer.from(PARKED_FORMAT, "utf8");
  if (!bytes.subarray(0, name.length).equals(name)) return { ok: false, code: "UNSUPPORTED_PAYLOAD_VERSION" };
  if (sha256Hex(bytes) !== header.payloadDigest) return { ok: false, code: "PAYLOAD_DIGEST_MISMATCH" };
  const parts = splitParts(bytes, name.length);
  if (parts === null || parts.length !== header.eventCount * 2) return { ok: false, code: "TRANSACTION_INCOMPLETE" };
  const members: SourceEvent[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const columns = JSON.parse((parts[i] as Buffer).toString("utf8")) as MemberHeader;
    const payload = parts[i + 1] as Buffer;
    if (columns.ordinal !== members.length) return { ok: false, code: "TRANSACTION_INCOMPLETE" };
    if (sha256Hex(payload) !== columns.payloadDigest) return { ok: false, code: "PAYLOAD_DIGEST_MISMATCH" };
    members.push(toMember(columns, payload));
  }
  const content = contentFingerprint({
    projectionName: header.projectionName,
    consumerGroup: header.consumerGroup,
    originalTransactionId: header.transactionId,
    eventIds: members.map((member) => member.eventId),
    payloadDigests: members.map((member) => member.payloadDigest as string),
  });
  if (content !== header.contentFingerprint) return { ok: false, code: "PAYLOAD_DIGEST_MISMATCH" };
  const { hostId, transactionId } = header;
  return { ok: true, transaction: { hostId, transactionId, declaredCount: header.eventCount, members } };
}

/** Null when the lengths don't add up to exactly these bytes. */
function splitParts(bytes: Buffer, start: number): Buffer[] | null {
  const parts: Buffer[] = [];
  let at = start;
  while (at < bytes.length) {
    if (at + LENGTH_BYTES > bytes.length) return null;
    const length = bytes.readUInt32BE(at);
    at += LENGTH_BYTES;
    if (at + length > bytes.length) return null;
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return parts;
}

function toMember(columns: MemberHeader, payload: Buffer): SourceEvent {
  const { processor, topic, partition, offset, ...pinned } = columns;
  return { ...pinned, payload, source: { processor, topic, partition, offset, key: null, headers: [] } };
}
