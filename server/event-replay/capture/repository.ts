import type { ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import type { FailureRecord } from "./domain/failure-record";

/**
 * One statement for the whole capture. The members' bytes are copied inside the database from the outbox row they were
 * encoded into once at append; the member table's CHECK recomputes each digest. A fingerprint that is already archived only
 * moves its counters and its delivery.
 *
 * Rows: 1 header; n members, s scopes (new failures only); 1 delivery; n notifications set to DLQ where they exist; n
 * diagnostic rows. Index: unique (host, projection, group, fingerprint).
 */
const CAPTURE = `
WITH header AS (
  INSERT INTO event_failure_transaction_t AS f
    (host_id, failure_id, projection_name, consumer_group, first_source_processor, source_partition, original_transaction_id,
     content_fingerprint, event_count, decrypted_payload_bytes, dependency_scopes, status, replay_policy, executable,
     error_code, error_type, error_constraint, error_message, error_details, failed_ordinal, failed_event_type, cause_key,
     policy_registry_version, first_failed_ts, last_failed_ts, created_ts, updated_ts)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, 'OPEN', $12, true,
          $13, $14, $15, $16, $17::jsonb, $18, $19, $20, $21, now(), now(), now(), now())
  ON CONFLICT (host_id, projection_name, consumer_group, content_fingerprint)
  DO UPDATE SET failure_count = f.failure_count + 1,
                last_failed_ts = greatest(f.last_failed_ts, EXCLUDED.last_failed_ts),
                updated_ts = EXCLUDED.updated_ts
  RETURNING f.failure_id, f.status, f.failure_count = 1 AS is_new
), member AS (
  INSERT INTO event_failure_event_t
    (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id, aggregate_type, aggregate_version,
     root_instance_id, graph_revision, source_processor, source_partition, source_offset, payload_format, payload_digest,
     payload_storage, payload_plain, decrypted_payload_bytes, event_schema_version, policy_registry_version,
     repair_schema_version, user_id, version_baseline, created_ts)
  SELECT $1, h.failure_id, o.transaction_ordinal, o.id, o.event_type, o.aggregate_id, o.aggregate_type, o.aggregate_version,
         o.root_instance_id, o.graph_revision, 'DATABASE', o.partition_id, o.c_offset, 'event-replay-canonical-v1',
         o.payload_digest, 'DATABASE_PLAIN', o.event_bytes, octet_length(o.event_bytes), o.event_schema_version,
         o.policy_registry_version, o.repair_schema_version, o.user_id, o.version_baseline, now()
    FROM header h, outbox_message_t o
   WHERE h.is_new AND o.host_id = $1 AND o.transaction_id = $22
), scope AS (
  INSERT INTO event_failure_scope_t
    (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key, status, created_ts)
  SELECT $1, h.failure_id, $3, $4, s.scope_type, s.scope_key, 'OPEN', now()
    FROM header h, unnest($23::varchar[], $24::varchar[]) AS s(scope_type, scope_key)
   WHERE h.is_new
), delivery AS (
  INSERT INTO event_failure_delivery_t AS d
    (host_id, delivery_id, failure_id, delivery_fingerprint, source_processor, source_coordinates, observation_count,
     first_observed_ts, last_observed_ts)
  SELECT $1, $25, h.failure_id, $26, $5, $27::jsonb, 1, now(), now() FROM header h
  ON CONFLICT (host_id, failure_id, delivery_fingerprint)
  DO UPDATE SET observation_count = d.observation_count + 1,
                last_observed_ts = greatest(d.last_observed_ts, EXCLUDED.last_observed_ts)
), notified AS (
  UPDATE notification_t n SET status = 'DLQ', error = $13, process_ts = now()
   WHERE n.host_id = $1 AND n.id = ANY ($28::uuid[])
), diagnostic AS (
  INSERT INTO dead_letter_queue (group_id, host_id, user_id, c_offset, transaction_id, event_id, exception)
  SELECT $4, $1, m.user_id, m.c_offset, $7, m.event_id, $13
    FROM unnest($28::uuid[], $29::uuid[], $30::bigint[]) AS m(event_id, user_id, c_offset)
)
SELECT failure_id, is_new FROM header`;

export async function insertFailure(
  tx: Tx,
  definition: ProjectionDefinition,
  failureId: string,
  deliveryId: string,
  record: FailureRecord,
): Promise<{ failureId: string; isNew: boolean }> {
  const { transaction } = record;
  const { members } = transaction;
  const source = (members[0] as (typeof members)[number]).source;
  const [row] = await tx.query<{ failure_id: string; is_new: boolean }>(
    CAPTURE,
    [
      transaction.hostId,
      failureId,
      definition.projectionName,
      definition.consumerGroup,
      source.processor,
      source.partition,
      transaction.transactionId,
      record.contentFingerprint,
      members.length,
      record.payloadBytes,
      JSON.stringify(record.scopes.map(({ type, key }) => ({ scopeType: type, scopeKey: key }))),
      record.replayPolicy,
      record.errorCode,
      record.errorType,
      record.errorConstraint,
      record.errorMessage,
      record.errorDetails && JSON.stringify(record.errorDetails),
      record.failedOrdinal,
      record.failedEventType,
      record.causeKey,
      record.policyRegistryVersion,
      transaction.transactionId,
      arrayLiteral(record.scopes.map((scope) => scope.type)),
      arrayLiteral(record.scopes.map((scope) => scope.key)),
      deliveryId,
      record.deliveryFingerprint,
      JSON.stringify(record.coordinates),
      arrayLiteral(members.map((member) => member.eventId)),
      arrayLiteral(members.map((member) => member.userId)),
      arrayLiteral(members.map((member) => member.source.offset)),
    ],
    "capture_failure",
  );
  if (!row) throw new Error("capture returned no row");
  return { failureId: row.failure_id, isNew: row.is_new };
}
