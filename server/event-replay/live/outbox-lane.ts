import type pg from "pg";
import type {
  ProjectionDefinition,
  ProjectionTransaction,
  SourceCoordinates,
  SourceEvent,
} from "@/server/event-replay/projection/domain/types";
import type { Tx } from "@/server/platform/db/transaction";
import { sha256Hex } from "@/server/platform/digest";
import { PARTITION_COUNT } from "@/server/platform/ids";

/** The outbox's number in consumer_offsets (reference §2). */
export const OUTBOX_TOPIC_ID = 1;

/** Channel that the outbox's insert trigger notifies. */
export const OUTBOX_CHANNEL = "event_channel";

/** Bytes one batch may hold in memory; at least one whole transaction is always read. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Key of the advisory lock on (projection, group, host partition): live batches share it, a barrier installer takes it
 * exclusively. Derived, so that every process computes the same 64 bits.
 */
export function partitionLockKey(
  definition: Pick<ProjectionDefinition, "projectionName" | "consumerGroup">,
  partitionId: number,
): string {
  const text = `event-admin partition ${definition.projectionName}\u0000${definition.consumerGroup}\u0000${partitionId}`;
  return BigInt.asIntN(64, BigInt(`0x${sha256Hex(text).slice(0, 16)}`)).toString();
}

/** Makes the 16 progress rows of a group, once. */
export async function ensureProgressRows(tx: Tx, definition: ProjectionDefinition): Promise<void> {
  await tx.execute(
    `INSERT INTO consumer_offsets (group_id, topic_id, partition_id, next_offset)
     SELECT $1, $2, p, 1 FROM generate_series(0, $3::int) AS p ON CONFLICT DO NOTHING`,
    [definition.consumerGroup, OUTBOX_TOPIC_ID, PARTITION_COUNT - 1],
  );
}

/**
 * Lanes with work, longest waiting first: an unlocked look that decides nothing. Offsets are dense and commit-ordered, so
 * "next to give out" minus "next to project" is exactly the backlog.
 */
export async function findLanesWithWork(pool: pg.Pool, definition: ProjectionDefinition): Promise<number[]> {
  const { rows } = await pool.query<{ partition_id: number }>({
    name: "find_lanes_with_work",
    text: `SELECT p.partition_id
       FROM consumer_offsets p JOIN event_offset_counter_t c ON c.partition_id = p.partition_id
      WHERE p.group_id = $1 AND p.topic_id = $2 AND c.next_offset > p.next_offset
      ORDER BY p.updated_ts, p.partition_id`,
    values: [definition.consumerGroup, OUTBOX_TOPIC_ID],
  });
  return rows.map((row) => row.partition_id);
}

export type ClaimedBatch = {
  readonly partitionId: number;
  readonly nextOffset: number;
  readonly transactions: readonly ProjectionTransaction[];
};

type OutboxRow = {
  next_offset: number;
  host_id: string;
  id: string;
  user_id: string | null;
  c_offset: number;
  transaction_id: string;
  transaction_ordinal: number;
  transaction_count: number;
  event_type: string;
  event_schema_version: string;
  aggregate_type: string | null;
  aggregate_id: string | null;
  aggregate_version: number | null;
  root_instance_id: string | null;
  graph_revision: number | null;
  policy_registry_version: string;
  repair_schema_version: string | null;
  version_baseline: boolean;
  event_text: string;
  payload_digest: string;
};

const OUTBOX_COLUMNS = `o.host_id, o.id, o.user_id, o.c_offset, o.transaction_id, o.transaction_ordinal, o.transaction_count,
  o.event_type, o.event_schema_version, o.aggregate_type, o.aggregate_id, o.aggregate_version, o.root_instance_id,
  o.graph_revision, o.policy_registry_version, o.repair_schema_version, o.version_baseline, o.payload_digest,
  convert_from(o.event_bytes, 'UTF8') AS event_text`;

/**
 * Claims the lane's progress row for the rest of the transaction and reads the complete transactions that follow it, in
 * offset order, at most `limit` events (a larger transaction is read whole). Null when another projector holds the lane or
 * there is nothing to read. The claim is the only lease: it ends with the transaction, however that ends.
 *
 * Guard: FOR UPDATE SKIP LOCKED on one row. Index: unique (partition_id, c_offset). Sizes are summed before any bytes are
 * fetched, so that a queue of large events costs no more than the batch that is read.
 */
export async function claimBatch(
  tx: Tx,
  definition: ProjectionDefinition,
  partitionId: number,
  limit: number,
): Promise<ClaimedBatch | null> {
  tx.lock("SOURCE_CLAIM");
  const rows = await tx.query<OutboxRow>(
    `WITH claim AS (
       SELECT next_offset FROM consumer_offsets
        WHERE group_id = $1 AND topic_id = $2 AND partition_id = $3 FOR UPDATE SKIP LOCKED
     ), sized AS MATERIALIZED (
       SELECT claim.next_offset, o.c_offset,
              sum(o.bytes) OVER (ORDER BY o.c_offset ROWS UNBOUNDED PRECEDING) - o.bytes AS bytes_before
         FROM claim, LATERAL (SELECT c_offset, octet_length(event_bytes) AS bytes FROM outbox_message_t
                               WHERE partition_id = $3 AND c_offset >= claim.next_offset
                               ORDER BY c_offset LIMIT $4) o
     )
     SELECT s.next_offset, ${OUTBOX_COLUMNS}
       FROM sized s JOIN outbox_message_t o ON o.partition_id = $3 AND o.c_offset = s.c_offset
      WHERE s.bytes_before < ${BATCH_BYTES_MAX} ORDER BY s.c_offset`,
    [definition.consumerGroup, OUTBOX_TOPIC_ID, partitionId, limit],
    "claim_batch",
  );
  const first = rows[0];
  if (!first) return null;
  assertNoHole(first.next_offset, rows);
  const whole = first.transaction_count > rows.length ? await readTransaction(tx, partitionId, first) : rows;
  return { partitionId, nextOffset: first.next_offset, transactions: groupComplete(whole, partitionId) };
}

/** Offsets are dense by construction; a hole means rows were taken away, and skipping it would lose them silently. */
function assertNoHole(nextOffset: number, rows: readonly OutboxRow[]): void {
  const hole = rows.some((row, i) => row.c_offset !== nextOffset + i);
  if (hole) throw new Error("the outbox has a hole at the lane's position");
}

/** The first transaction is larger than the page: read exactly its members. */
async function readTransaction(tx: Tx, partitionId: number, first: OutboxRow): Promise<OutboxRow[]> {
  return tx.query<OutboxRow>(
    `SELECT $2::bigint AS next_offset, ${OUTBOX_COLUMNS} FROM outbox_message_t o
      WHERE o.partition_id = $1 AND o.c_offset >= $3 AND o.c_offset < $3 + $4::bigint ORDER BY o.c_offset`,
    [partitionId, first.next_offset, first.c_offset, first.transaction_count],
    "read_transaction",
  );
}

/** Groups adjacent members; a transaction cut off by the end of the page waits for the next batch. */
function groupComplete(rows: readonly OutboxRow[], partitionId: number): ProjectionTransaction[] {
  const transactions: ProjectionTransaction[] = [];
  let i = 0;
  while (i < rows.length) {
    const first = rows[i] as OutboxRow;
    const members: SourceEvent[] = [];
    while (
      i < rows.length &&
      (rows[i] as OutboxRow).transaction_id === first.transaction_id &&
      (rows[i] as OutboxRow).host_id === first.host_id
    ) {
      members.push(new OutboxEvent(rows[i++] as OutboxRow, partitionId));
    }
    if (members.length < first.transaction_count && i >= rows.length) break;
    transactions.push({
      hostId: first.host_id,
      transactionId: first.transaction_id,
      declaredCount: first.transaction_count,
      members,
    });
  }
  return transactions;
}

const NO_HEADERS: SourceCoordinates["headers"] = [];

/**
 * One outbox row as a source event. Canonical bytes are UTF-8 by construction; as text they need half the transfer and no
 * copy on the happy path, so the Buffer is only made when something asks for the bytes.
 */
class OutboxEvent implements SourceEvent {
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
  readonly payloadText: string;
  readonly payloadDigest: string;
  readonly source: SourceCoordinates;

  constructor(row: OutboxRow, partitionId: number) {
    this.ordinal = row.transaction_ordinal;
    this.eventId = row.id;
    this.eventType = row.event_type;
    this.schemaVersion = row.event_schema_version;
    this.userId = row.user_id;
    this.aggregateType = row.aggregate_type;
    this.aggregateId = row.aggregate_id;
    this.aggregateVersion = row.aggregate_version;
    this.rootInstanceId = row.root_instance_id;
    this.graphRevision = row.graph_revision;
    this.policyRegistryVersion = row.policy_registry_version;
    this.repairSchemaVersion = row.repair_schema_version;
    this.versionBaseline = row.version_baseline;
    this.payloadText = row.event_text;
    this.payloadDigest = row.payload_digest;
    this.source = {
      processor: "DATABASE",
      topic: null,
      partition: partitionId,
      offset: row.c_offset,
      key: null,
      headers: NO_HEADERS,
    };
  }

  get payload(): Buffer {
    return Buffer.from(this.payloadText, "utf8");
  }
}

/**
 * Moves the lane's progress and records the batch as one range of projected offsets: a PENDING notification inside it reads
 * as SUCCEEDED, captured ones carry their own status. Guarded by the claimed value; must hit exactly one row.
 */
export async function advanceLane(
  tx: Tx,
  definition: ProjectionDefinition,
  batch: ClaimedBatch,
  nextOffset: number,
): Promise<void> {
  const moved = await tx.execute(
    `WITH moved AS (
       UPDATE consumer_offsets SET next_offset = $5, updated_ts = now()
        WHERE group_id = $1 AND topic_id = $2 AND partition_id = $3 AND next_offset = $4
       RETURNING next_offset
     )
     INSERT INTO projection_range_t (consumer_group, partition_id, first_offset, last_offset, projected_ts)
     SELECT $1, $3, $4, next_offset - 1, now() FROM moved`,
    [definition.consumerGroup, OUTBOX_TOPIC_ID, batch.partitionId, batch.nextOffset, nextOffset],
    "advance_lane",
  );
  if (moved !== 1) throw new Error("the claimed lane moved");
}
