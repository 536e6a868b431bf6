import type pg from "pg";
import { contentFingerprint, deliveryFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import { type Scope, scopeId, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import { sha256Hex } from "@/server/platform/digest";
import { newId } from "@/server/platform/ids";

/**
 * Canonical failures straight into the archive, valid to every constraint and trigger, for tests of what comes after capture.
 * Members, scopes, fingerprints and digests are made from the few fields a test cares about. Never used by the product.
 */
export type FailureMember = {
  readonly eventType: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  readonly version?: number;
  readonly root?: string;
  readonly revision?: number;
  readonly schemaVersion?: string;
  readonly userId?: string;
  readonly payload?: string;
  readonly eventId?: string;
};

export type FailureSpec = {
  readonly hostId: string;
  readonly failureId?: string;
  readonly transactionId?: string;
  readonly projectionName?: string;
  readonly consumerGroup?: string;
  readonly members?: readonly FailureMember[];
  readonly errorCode?: string;
  readonly sqlState?: string | null;
  readonly constraint?: string | null;
  readonly gap?: {
    readonly scopeType: string;
    readonly scopeKey: string;
    readonly expected: number;
    readonly got: number;
  };
  readonly failedOrdinal?: number;
  readonly replayPolicy?: string;
  readonly executable?: boolean;
  /** ISO instants; default: the database's now. */
  readonly firstFailed?: string;
  readonly lastFailed?: string;
  readonly failureCount?: number;
  readonly sourceKey?: string;
};

export type InsertedFailure = {
  readonly failureId: string;
  readonly transactionId: string;
  readonly eventIds: readonly string[];
};

let offsets = 1_000_000;

/** Inserts each failure in a transaction of its own, in order. */
export async function insertFailures(pool: pg.Pool, ...specs: FailureSpec[]): Promise<InsertedFailure[]> {
  const inserted: InsertedFailure[] = [];
  for (const spec of specs) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      inserted.push(await insertFailure(client, spec));
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  }
  return inserted;
}

async function insertFailure(client: pg.PoolClient, spec: FailureSpec): Promise<InsertedFailure> {
  const failureId = spec.failureId ?? newId();
  const transactionId = spec.transactionId ?? newId();
  const projectionName = spec.projectionName ?? "portal-query";
  const consumerGroup = spec.consumerGroup ?? "user-query-group";
  const members = (
    spec.members ?? [{ eventType: "RoleCreatedEvent", aggregateType: "Role", aggregateId: newId(), version: 1 }]
  ).map((member) => ({
    ...member,
    eventId: member.eventId ?? newId(),
    bytes: Buffer.from(member.payload ?? `{"id":"${newId()}"}`),
  }));
  const digests = members.map((member) => sha256Hex(member.bytes));
  const content = {
    projectionName,
    consumerGroup,
    originalTransactionId: transactionId,
    eventIds: members.map((member) => member.eventId),
    payloadDigests: digests,
  };
  const scopes = scopesOf(members);
  const policy =
    spec.replayPolicy ??
    (scopes.some((s) => s.type === "GRAPH_ROOT")
      ? "GRAPH_ROOT"
      : scopes.length > 0
        ? "AGGREGATE_VERSION"
        : "TRANSACTION_ONLY");
  const errorCode = spec.errorCode ?? "PROJECTION_FAILED";
  const gap = errorCode === "REPLAY_GAP";
  const sqlState = gap ? null : spec.sqlState === undefined ? "23503" : spec.sqlState;
  const constraint = gap ? null : (spec.constraint ?? null);
  const failedOrdinal = spec.failedOrdinal ?? 0;
  const failedType = gap ? null : (members[failedOrdinal]?.eventType ?? null);
  const firstOffset = offsets;
  offsets += members.length;
  await client.query(
    `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group, first_source_processor,
       source_partition, original_transaction_id, content_fingerprint, event_count, decrypted_payload_bytes, dependency_scopes,
       replay_policy, executable, error_code, error_type, error_constraint, error_details, failed_ordinal, failed_event_type,
       cause_key, failure_count, first_failed_ts, last_failed_ts)
     VALUES ($1, $2, $3, $4, 'DATABASE', 0, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       coalesce($20::timestamptz, now()), coalesce($21::timestamptz, $20::timestamptz, now()))`,
    [
      spec.hostId,
      failureId,
      projectionName,
      consumerGroup,
      transactionId,
      contentFingerprint(content),
      members.length,
      members.reduce((sum, member) => sum + member.bytes.length, 0),
      JSON.stringify(scopes.map(({ type, key }) => ({ scopeType: type, scopeKey: key }))),
      policy,
      spec.executable ?? true,
      errorCode,
      sqlState,
      constraint,
      spec.gap === undefined ? null : JSON.stringify(spec.gap),
      failedOrdinal,
      failedType,
      [errorCode, sqlState ?? "", constraint ?? "", failedType ?? ""].join("|"),
      spec.failureCount ?? 1,
      spec.firstFailed ?? null,
      spec.lastFailed ?? null,
    ],
  );
  for (const [ordinal, member] of members.entries()) {
    await client.query(
      `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id, aggregate_type,
         aggregate_version, root_instance_id, graph_revision, user_id, source_processor, source_partition, source_offset, source_key,
         payload_format, payload_digest, payload_storage, payload_plain, decrypted_payload_bytes, event_schema_version)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'DATABASE', 0, $12, $13, 'event-replay-canonical-v1', $14,
         'DATABASE_PLAIN', $15, $16, $17)`,
      [
        spec.hostId,
        failureId,
        ordinal,
        member.eventId,
        member.eventType,
        member.aggregateId ?? null,
        member.aggregateType ?? null,
        member.version ?? null,
        member.root ?? null,
        member.revision ?? null,
        member.userId ?? null,
        firstOffset + ordinal,
        spec.sourceKey === undefined ? null : Buffer.from(spec.sourceKey),
        digests[ordinal],
        member.bytes,
        member.bytes.length,
        member.schemaVersion ?? "1",
      ],
    );
  }
  for (const scope of scopes) {
    await client.query(
      `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [spec.hostId, failureId, projectionName, consumerGroup, scope.type, scope.key],
    );
  }
  const coordinates = members.map((_, i) => ({ topic: null, partition: 0, offset: firstOffset + i }));
  await client.query(
    `INSERT INTO event_failure_delivery_t (host_id, delivery_id, failure_id, delivery_fingerprint, source_processor,
       source_coordinates, first_observed_ts, last_observed_ts)
     VALUES ($1, $2, $3, $4, 'DATABASE', $5, coalesce($6::timestamptz, now()), coalesce($6::timestamptz, now()))`,
    [
      spec.hostId,
      newId(),
      failureId,
      deliveryFingerprint(content, { processor: "DATABASE", coordinates }),
      JSON.stringify({ partition: 0, firstOffset, lastOffset: firstOffset + members.length - 1 }),
      spec.firstFailed ?? null,
    ],
  );
  return { failureId, transactionId, eventIds: members.map((member) => member.eventId) };
}

function scopesOf(members: readonly FailureMember[]): Scope[] {
  const scopes = new Map<string, Scope>();
  for (const member of members) {
    const steps = scopesOfEvent({
      aggregateType: member.aggregateType ?? null,
      aggregateId: member.aggregateId ?? null,
      aggregateVersion: member.version ?? null,
      rootInstanceId: member.root ?? null,
      graphRevision: member.revision ?? null,
    });
    for (const { type, key } of steps) scopes.set(scopeId({ type, key }), { type, key });
  }
  return [...scopes.values()];
}

/**
 * Waives failures as two people would have done: a completed action names them. Only unordered failures may be waived.
 */
export async function waiveFailures(pool: pg.Pool, hostId: string, failureIds: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const id = newId();
    await client.query(
      `INSERT INTO event_replay_action_request_t (host_id, action_request_id, action_type, target_ids, expected_state, status, reason,
         requested_by, requested_ts, expires_ts)
       VALUES ($1, $2, 'WAIVE_FAILURES', $3, '{}', 'AWAITING_APPROVAL', 'test', 'https://issuer.test|one', now(), now() + interval '1 day')`,
      [hostId, id, JSON.stringify(failureIds)],
    );
    await client.query(
      `UPDATE event_replay_action_request_t SET status = 'COMPLETED', approved_by = 'https://issuer.test|two', approved_ts = now(),
         completed_ts = now() WHERE host_id = $1 AND action_request_id = $2`,
      [hostId, id],
    );
    await client.query(
      `UPDATE event_failure_transaction_t SET status = 'WAIVED', resolved_ts = now(), updated_ts = now()
        WHERE host_id = $1 AND failure_id = ANY($2::uuid[])`,
      [hostId, failureIds],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}
