import type pg from "pg";
import { POLICY_REGISTRY_VERSION } from "@/server/event-replay/registry/domain/policy";
import { sha256Hex } from "@/server/platform/digest";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { encodeCanonical } from "@/server/platform/json/canonical-json";
import { parseExactJson } from "@/server/platform/json/exact-json";

/**
 * Puts complete transactions straight into the outbox, as an append of another process would leave them: for tests and
 * benchmarks of what comes after the append boundary. Never used by the product.
 */
export type OutboxMember = {
  readonly eventId?: string;
  readonly type: string;
  readonly schemaVersion?: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
  readonly version?: number;
  readonly root?: string;
  readonly revision?: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly registryVersion?: string;
  readonly baseline?: boolean;
  readonly time?: string;
};
export type OutboxTransaction = {
  readonly hostId: string;
  readonly transactionId?: string;
  readonly members: readonly OutboxMember[];
};

/** A host of the given partition (0..15). */
export function hostOfPartition(partitionId: number): string {
  return newId().slice(0, -1) + partitionId.toString(16);
}

export async function putOutbox(pool: pg.Pool, ...transactions: OutboxTransaction[]): Promise<string[]> {
  const ids: string[] = [];
  for (const transaction of transactions) {
    const transactionId = transaction.transactionId ?? newId();
    ids.push(transactionId);
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await putTransaction(client, transaction, transactionId);
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  }
  return ids;
}

async function putTransaction(
  client: pg.PoolClient,
  transaction: OutboxTransaction,
  transactionId: string,
): Promise<void> {
  const { hostId, members } = transaction;
  const partitionId = partitionOfHost(hostId);
  const { rows } = await client.query<{ first: number }>(
    "UPDATE event_offset_counter_t SET next_offset = next_offset + $2 WHERE partition_id = $1 RETURNING next_offset - $2 AS first",
    [partitionId, members.length],
  );
  const first = rows[0]?.first as number;
  for (const [ordinal, member] of members.entries()) {
    const eventId = member.eventId ?? newId();
    const bytes = eventBytes(hostId, eventId, member);
    await client.query(
      `INSERT INTO event_store_t (host_id, id, event_type, event_ts, event_schema_version, aggregate_type, aggregate_id,
         aggregate_version, root_instance_id, graph_revision, policy_registry_version, payload)
       VALUES ($1, $2, $3, now(), $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        hostId,
        eventId,
        member.type,
        member.schemaVersion ?? "1",
        member.aggregateType ?? null,
        member.aggregateId ?? null,
        member.version ?? null,
        member.root ?? null,
        member.revision ?? null,
        member.registryVersion ?? POLICY_REGISTRY_VERSION,
        JSON.stringify(member.data),
      ],
    );
    await client.query(
      `INSERT INTO outbox_message_t (host_id, id, partition_id, c_offset, transaction_id, transaction_ordinal,
         transaction_count, event_type, event_ts, event_schema_version, aggregate_type, aggregate_id, aggregate_version,
         root_instance_id, graph_revision, policy_registry_version, version_baseline, event_bytes, payload_digest)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
      [
        hostId,
        eventId,
        partitionId,
        first + ordinal,
        transactionId,
        ordinal,
        members.length,
        member.type,
        member.schemaVersion ?? "1",
        member.aggregateType ?? null,
        member.aggregateId ?? null,
        member.version ?? null,
        member.root ?? null,
        member.revision ?? null,
        member.registryVersion ?? POLICY_REGISTRY_VERSION,
        member.baseline ?? false,
        bytes,
        sha256Hex(bytes),
      ],
    );
    await client.query(
      `INSERT INTO notification_t (host_id, id, event_class, process_ts, status, aggregate_id, aggregate_type,
         aggregate_version, event_partition, event_offset, transaction_id)
       VALUES ($1, $2, $3, now(), 'PENDING', $4, $5, $6, $7, $8, $9)`,
      [
        hostId,
        eventId,
        member.type,
        member.aggregateId ?? null,
        member.aggregateType ?? null,
        member.version ?? null,
        partitionId,
        first + ordinal,
        transactionId,
      ],
    );
  }
}

function eventBytes(hostId: string, eventId: string, member: OutboxMember): Buffer {
  const envelope = JSON.stringify({
    specversion: "1.0",
    id: eventId,
    type: member.type,
    source: "https://example.org/ledger",
    time: member.time ?? "2026-01-01T00:00:00Z",
    host: hostId,
    ...(member.aggregateId
      ? { subject: member.aggregateId, aggregatetype: member.aggregateType, aggregateversion: member.version }
      : {}),
    ...(member.root ? { rootinstanceid: member.root, instancegraphrevision: member.revision } : {}),
    data: member.data,
  });
  const parsed = parseExactJson(envelope);
  if (!parsed.ok) throw new Error(`test event is not exact JSON: ${parsed.rule}`);
  return encodeCanonical(parsed.value);
}
