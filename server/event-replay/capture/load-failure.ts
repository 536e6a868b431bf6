import type { ErrorCode } from "@/server/contracts/errors";
import type {
  ProjectionTransaction,
  SourceEvent,
  SourceProcessor,
} from "@/server/event-replay/projection/domain/types";
import { contentFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import type { Tx } from "@/server/platform/db/transaction";
import { sha256Hex } from "@/server/platform/digest";
import { CANONICAL_ENCODING } from "@/server/platform/json/canonical-json";

/** The formats whose bytes this build can decode. */
const SUPPORTED_FORMATS: ReadonlySet<string> = new Set([CANONICAL_ENCODING]);

export type LoadedFailure =
  | {
      readonly ok: true;
      readonly transaction: ProjectionTransaction;
      readonly contentFingerprint: string;
      readonly status: FailureStatus;
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly status: FailureStatus | null };

type FailureStatus = "OPEN" | "RESOLVED" | "WAIVED";

type MemberRow = {
  status: FailureStatus;
  projection_name: string;
  consumer_group: string;
  original_transaction_id: string;
  content_fingerprint: string;
  event_count: number;
  event_ordinal: number;
  event_id: string;
  event_type: string;
  aggregate_id: string | null;
  aggregate_type: string | null;
  aggregate_version: number | null;
  root_instance_id: string | null;
  graph_revision: number | null;
  source_processor: SourceProcessor;
  source_topic: string | null;
  source_partition: number | null;
  source_offset: number;
  payload_format: string;
  payload_digest: string;
  payload_storage: string;
  payload_plain: Buffer | null;
  event_schema_version: string | null;
  policy_registry_version: string;
  repair_schema_version: string | null;
  user_id: string | null;
  version_baseline: boolean;
};

/**
 * Loads one archived transaction whole and proves it: every member there, bytes stored plainly, format known, each digest
 * recomputed from the stored bytes themselves, the content fingerprint recomputed from all of it (ER-PAY-02). Planning and
 * execution both come through here, immediately before they use the bytes. `lock` takes the failure's row FOR UPDATE; members
 * never change, so that the one statement sees what the lock's last holder left. Refusals: FAILURE_NOT_FOUND,
 * PAYLOAD_UNAVAILABLE, UNSUPPORTED_PAYLOAD_VERSION, PAYLOAD_DIGEST_MISMATCH, TRANSACTION_INCOMPLETE.
 */
export async function loadFailureTransaction(
  tx: Tx,
  hostId: string,
  failureId: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<LoadedFailure> {
  if (lock) tx.lock("FAILURE");
  const rows = await tx.query<MemberRow>(
    `SELECT f.status, f.projection_name, f.consumer_group, f.original_transaction_id, f.content_fingerprint, f.event_count,
            e.event_ordinal, e.event_id, e.event_type, e.aggregate_id, e.aggregate_type, e.aggregate_version,
            e.root_instance_id, e.graph_revision, e.source_processor, e.source_topic, e.source_partition, e.source_offset,
            e.payload_format, e.payload_digest, e.payload_storage, e.payload_plain, e.event_schema_version,
            e.policy_registry_version, e.repair_schema_version, e.user_id, e.version_baseline
       FROM event_failure_transaction_t f
       JOIN event_failure_event_t e ON e.host_id = f.host_id AND e.failure_id = f.failure_id
      WHERE f.host_id = $1 AND f.failure_id = $2
      ORDER BY e.event_ordinal${lock ? " FOR UPDATE OF f" : ""}`,
    [hostId, failureId],
    lock ? "load_failure_transaction_locked" : "load_failure_transaction",
  );
  const header = rows[0];
  if (!header) return { ok: false, code: "FAILURE_NOT_FOUND", status: null };
  const { status } = header;
  const members: SourceEvent[] = [];
  for (const row of rows) {
    const refusal = refuseBytes(row);
    if (refusal) return { ok: false, code: refusal, status };
    members.push(toMember(row, row.payload_plain as Buffer));
  }
  if (members.length !== header.event_count || members.some((member, i) => member.ordinal !== i)) {
    return { ok: false, code: "TRANSACTION_INCOMPLETE", status };
  }
  const content = contentFingerprint({
    projectionName: header.projection_name,
    consumerGroup: header.consumer_group,
    originalTransactionId: header.original_transaction_id,
    eventIds: members.map((member) => member.eventId),
    payloadDigests: members.map((member) => member.payloadDigest as string),
  });
  if (content !== header.content_fingerprint) return { ok: false, code: "PAYLOAD_DIGEST_MISMATCH", status };
  return {
    ok: true,
    status,
    contentFingerprint: content,
    transaction: {
      hostId,
      transactionId: header.original_transaction_id,
      declaredCount: header.event_count,
      members,
    },
  };
}

/** Only DATABASE_PLAIN rows execute; tombstones and rows taken over without bytes don't (ER-PAY-08, ER-PAY-13). */
function refuseBytes(row: MemberRow): ErrorCode | null {
  if (row.payload_storage !== "DATABASE_PLAIN" || row.payload_plain === null) return "PAYLOAD_UNAVAILABLE";
  if (!SUPPORTED_FORMATS.has(row.payload_format)) return "UNSUPPORTED_PAYLOAD_VERSION";
  return sha256Hex(row.payload_plain) === row.payload_digest ? null : "PAYLOAD_DIGEST_MISMATCH";
}

function toMember(row: MemberRow, payload: Buffer): SourceEvent {
  return {
    ordinal: row.event_ordinal,
    eventId: row.event_id,
    eventType: row.event_type,
    schemaVersion: row.event_schema_version ?? "",
    userId: row.user_id,
    aggregateType: row.aggregate_type,
    aggregateId: row.aggregate_id,
    aggregateVersion: row.aggregate_version,
    rootInstanceId: row.root_instance_id,
    graphRevision: row.graph_revision,
    policyRegistryVersion: row.policy_registry_version,
    repairSchemaVersion: row.repair_schema_version,
    versionBaseline: row.version_baseline,
    payload,
    payloadDigest: row.payload_digest,
    source: {
      processor: row.source_processor,
      topic: row.source_topic,
      partition: row.source_partition ?? 0,
      offset: row.source_offset,
      key: null,
      headers: [],
    },
  };
}
