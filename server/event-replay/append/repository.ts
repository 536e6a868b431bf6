import type { Scope } from "@/server/event-replay/registry/domain/scopes";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import type { HostScope, StoredEvent, StoredState } from "./domain/decide";
import {
  type AggregateRef,
  type AppendTargets,
  aggregateLockKey,
  type PreparedEvent,
  type RootRef,
  STORE_LOCK_KEY,
} from "./domain/prepared";

/**
 * The only SQL that writes event_store_t, outbox_message_t and event offsets (ER-APP-18). Every statement takes any number of
 * rows by `unnest`, so that a command and an import run the same text.
 */

/** Rows of roots not seen yet start at revision 0; all are locked in key order until the end of the transaction. */
export async function lockRoots(tx: Tx, roots: readonly RootRef[]): Promise<number[]> {
  if (roots.length === 0) return [];
  tx.lock("GRAPH_ROOT");
  const keys = [arrayLiteral(roots.map((r) => r.hostId)), arrayLiteral(roots.map((r) => r.rootInstanceId))];
  await tx.execute(
    `INSERT INTO instance_graph_revision_t (host_id, instance_id)
     SELECT w.host_id, w.instance_id FROM unnest($1::uuid[], $2::uuid[]) AS w(host_id, instance_id)
     ORDER BY w.host_id, w.instance_id
     ON CONFLICT (host_id, instance_id) DO NOTHING`,
    keys,
    "append_roots",
  );
  const rows = await tx.query<{ accepted_revision: number }>(
    `SELECT g.accepted_revision
     FROM unnest($1::uuid[], $2::uuid[]) AS w(host_id, instance_id)
     JOIN instance_graph_revision_t g ON g.host_id = w.host_id AND g.instance_id = w.instance_id
     ORDER BY g.host_id, g.instance_id
     FOR UPDATE OF g`,
    keys,
    "append_lock_roots",
  );
  if (rows.length !== roots.length) throw new Error("a graph root row is missing after its insert");
  return rows.map((row) => row.accepted_revision);
}

/** Above this, the whole store is locked instead of each aggregate: the server's table of locks has a fixed size. */
const MAX_AGGREGATE_LOCKS = 1_000;

/**
 * Appenders of one aggregate queue here, before they read its version. Each shares the store's lock first, which an append
 * of very many aggregates takes exclusively in place of theirs; then its aggregates, ascending and distinct. One statement,
 * advisory and transaction-scoped: no table right is needed and nothing outlives the transaction.
 */
export async function lockAggregates(tx: Tx, aggregates: readonly AggregateRef[]): Promise<void> {
  if (aggregates.length === 0) return;
  tx.lock("APPEND_IDENTITY");
  if (aggregates.length > MAX_AGGREGATE_LOCKS) {
    await tx.query("SELECT pg_advisory_xact_lock($1::int8)", [String(STORE_LOCK_KEY)], "append_lock_store");
    return;
  }
  const keys = [...new Set(aggregates.map(aggregateLockKey))].sort((a, b) => (a < b ? -1 : 1));
  // OFFSET 0 keeps the order below the locking calls.
  await tx.query(
    `SELECT CASE WHEN k.n = 1 THEN pg_advisory_xact_lock_shared(k.key) ELSE pg_advisory_xact_lock(k.key) END
     FROM (SELECT u.key, u.n FROM unnest($1::int8[]) WITH ORDINALITY AS u(key, n) ORDER BY u.n OFFSET 0) AS k`,
    [arrayLiteral([STORE_LOCK_KEY, ...keys].map(String))],
    "append_lock_aggregates",
  );
}

type LookupRow = {
  kind: "CLOCK" | "EVENT" | "LAST" | "TRANSACTION";
  n: number;
  transaction_id: string | null;
  transaction_ordinal: number | null;
  transaction_count: number | null;
  number: number | null;
  text: string | null;
  registry_version: string | null;
  version_baseline: boolean | null;
};

/** One round trip for all: stored events and explicit transaction ids, last versions, database clock. Primary and unique keys serve it. */
export async function lookUp(tx: Tx, targets: AppendTargets): Promise<Omit<StoredState, "revisions">> {
  const { events, aggregates, transactions } = targets;
  const rows = await tx.query<LookupRow>(
    `SELECT 'CLOCK' AS kind, 0::int8 AS n, NULL::uuid AS transaction_id, NULL::int AS transaction_ordinal,
            NULL::int AS transaction_count, NULL::int8 AS number,
            to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS text,
            NULL::text AS registry_version, NULL::boolean AS version_baseline
     UNION ALL
     SELECT 'EVENT', w.n - 1, o.transaction_id, o.transaction_ordinal, o.transaction_count, o.c_offset, o.payload_digest,
            e.policy_registry_version, o.version_baseline
     FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS w(host_id, id, n)
     JOIN event_store_t e ON e.host_id = w.host_id AND e.id = w.id
     LEFT JOIN outbox_message_t o ON o.host_id = e.host_id AND o.id = e.id
     UNION ALL
     SELECT 'LAST', w.n - 1, NULL, NULL, NULL, s.aggregate_version, NULL, NULL, NULL
     FROM unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS w(host_id, aggregate_type, aggregate_id, n)
     CROSS JOIN LATERAL (
       SELECT e.aggregate_version FROM event_store_t e
       WHERE e.host_id = w.host_id AND e.aggregate_type = w.aggregate_type AND e.aggregate_id = w.aggregate_id
       ORDER BY e.aggregate_version DESC LIMIT 1
     ) AS s
     UNION ALL
     SELECT 'TRANSACTION', w.n - 1, o.transaction_id, NULL, NULL, NULL, NULL, NULL, NULL
     FROM unnest($6::uuid[], $7::uuid[]) WITH ORDINALITY AS w(host_id, transaction_id, n)
     JOIN outbox_message_t o
       ON o.host_id = w.host_id AND o.transaction_id = w.transaction_id AND o.transaction_ordinal = 0`,
    [
      arrayLiteral(events.map((e) => e.hostId)),
      arrayLiteral(events.map((e) => e.eventId)),
      arrayLiteral(aggregates.map((a) => a.hostId)),
      arrayLiteral(aggregates.map((a) => a.aggregateType)),
      arrayLiteral(aggregates.map((a) => a.aggregateId)),
      arrayLiteral(transactions.map((t) => t.hostId)),
      arrayLiteral(transactions.map((t) => t.transactionId)),
    ],
    "append_look_up",
  );
  return readLookup(rows);
}

function readLookup(rows: readonly LookupRow[]): Omit<StoredState, "revisions"> {
  const events = new Map<number, StoredEvent>();
  const lastVersions = new Map<number, number>();
  const transactions = new Set<number>();
  let now = "";
  for (const row of rows) {
    if (row.kind === "CLOCK") now = row.text as string;
    else if (row.kind === "LAST") lastVersions.set(row.n, row.number as number);
    else if (row.kind === "TRANSACTION") transactions.add(row.n);
    else
      events.set(row.n, {
        transactionId: row.transaction_id,
        ordinal: row.transaction_ordinal,
        count: row.transaction_count,
        offset: row.number,
        digest: row.text,
        registryVersion: row.registry_version as string,
        versionBaseline: row.version_baseline ?? false,
      });
  }
  return { events, lastVersions, transactions, now };
}

export type HeldScope = HostScope & { readonly failureIds: readonly string[] };

/** Failure ids named per scope: enough to act on, bounded however many failures hold it. */
const FAILURES_PER_SCOPE = 5;

/**
 * The command guard: scopes of a host that an OPEN failure holds, in any projection. One index-only statement
 * (partial index on host, type, key WHERE status = 'OPEN'); it must run after the append's locks (ER-CAP-29, 32).
 */
export async function loadHeldScopes(tx: Tx, scopes: readonly HostScope[]): Promise<HeldScope[]> {
  if (scopes.length === 0) return [];
  const rows = await tx.query<{ host_id: string; scope_type: Scope["type"]; scope_key: string; failure_ids: string[] }>(
    `SELECT w.host_id, w.scope_type, w.scope_key, array_agg(f.failure_id::text ORDER BY f.failure_id) AS failure_ids
     FROM unnest($1::uuid[], $2::text[], $3::text[]) AS w(host_id, scope_type, scope_key)
     CROSS JOIN LATERAL (
       SELECT s.failure_id FROM event_failure_scope_t s
       WHERE s.host_id = w.host_id AND s.scope_type = w.scope_type AND s.scope_key = w.scope_key AND s.status = 'OPEN'
       LIMIT ${FAILURES_PER_SCOPE}
     ) AS f
     GROUP BY w.host_id, w.scope_type, w.scope_key`,
    [
      arrayLiteral(scopes.map((s) => s.hostId)),
      arrayLiteral(scopes.map((s) => s.type)),
      arrayLiteral(scopes.map((s) => s.key)),
    ],
    "append_guard",
  );
  return rows.map((r) => ({ hostId: r.host_id, type: r.scope_type, key: r.scope_key, failureIds: r.failure_ids }));
}

/** True when any of the scopes' OPEN failures has a repair that is proposed or approved (ER-CAP-30). */
export async function isRepairUnderWay(tx: Tx, held: readonly HeldScope[]): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM unnest($1::uuid[], $2::text[], $3::text[]) AS w(host_id, scope_type, scope_key)
     JOIN event_failure_scope_t s
       ON s.host_id = w.host_id AND s.scope_type = w.scope_type AND s.scope_key = w.scope_key AND s.status = 'OPEN'
     JOIN event_repair_t r
       ON r.host_id = s.host_id AND r.failure_id = s.failure_id AND r.status IN ('AWAITING_APPROVAL', 'APPROVED')
     LIMIT 1`,
    [
      arrayLiteral(held.map((s) => s.hostId)),
      arrayLiteral(held.map((s) => s.type)),
      arrayLiteral(held.map((s) => s.key)),
    ],
    "append_guard_repair",
  );
  return rows.length > 0;
}

/** Moves the accepted revision of locked roots. Each must hit its row. */
export async function acceptRevisions(tx: Tx, moves: readonly (RootRef & { revision: number })[]): Promise<void> {
  if (moves.length === 0) return;
  const moved = await tx.execute(
    `UPDATE instance_graph_revision_t g SET accepted_revision = w.revision, accepted_ts = now()
     FROM unnest($1::uuid[], $2::uuid[], $3::int8[]) AS w(host_id, instance_id, revision)
     WHERE g.host_id = w.host_id AND g.instance_id = w.instance_id AND g.accepted_revision < w.revision`,
    [
      arrayLiteral(moves.map((m) => m.hostId)),
      arrayLiteral(moves.map((m) => m.rootInstanceId)),
      arrayLiteral(moves.map((m) => m.revision)),
    ],
    "append_accept_revisions",
  );
  if (moved !== moves.length) throw new Error("a locked graph root did not take its revision");
}

/** One row to write: the event with its place in its transaction. */
export type AppendRow = PreparedEvent & {
  readonly transactionId: string;
  readonly ordinal: number;
  readonly count: number;
};

const IDENTITY = `host_id, id, user_id, nonce, aggregate_id, aggregate_type, aggregate_version, root_instance_id,
  graph_revision, event_type, event_ts, event_schema_version, policy_registry_version, repair_schema_version`;

/** $1 = all events' bytes one after the other, one binary parameter; each row knows its slice. */
const INPUT = `unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::numeric[], $6::text[], $7::text[], $8::int8[], $9::uuid[],
  $10::int8[], $11::text[], $12::timestamptz[], $13::text[], $14::text[], $15::text[], $16::int4[], $17::int4[])
  WITH ORDINALITY AS i(${IDENTITY}, byte_start, byte_length, n)`;

function inputValues(rows: readonly AppendRow[]): unknown[] {
  let start = 1;
  const starts = rows.map((row) => {
    const at = start;
    start += row.bytes.length;
    return at;
  });
  const column = (pick: (row: AppendRow) => string | number | null) => arrayLiteral(rows.map(pick));
  return [
    rows.length === 1 ? (rows[0] as AppendRow).bytes : Buffer.concat(rows.map((row) => row.bytes)),
    column((r) => r.hostId),
    column((r) => r.eventId),
    column((r) => r.userId),
    column((r) => r.nonce),
    column((r) => r.aggregateId),
    column((r) => r.aggregateType),
    column((r) => r.aggregateVersion),
    column((r) => r.rootInstanceId),
    column((r) => r.graphRevision),
    column((r) => r.eventType),
    column((r) => r.eventTs),
    column((r) => r.schemaVersion),
    column((r) => r.policyRegistryVersion),
    column((r) => r.repairSchemaVersion),
    arrayLiteral(starts),
    column((r) => r.bytes.length),
  ];
}

/** The store's payload and metadata are read by the database from the same bytes that the outbox keeps. */
export async function insertStore(tx: Tx, rows: readonly AppendRow[]): Promise<void> {
  const inserted = await tx.execute(
    `INSERT INTO event_store_t (${IDENTITY}, payload, metadata)
     SELECT ${IDENTITY}, j.event -> 'data', j.event - 'data'
     FROM ${INPUT}
     CROSS JOIN LATERAL (
       SELECT convert_from(substr($1::bytea, i.byte_start, i.byte_length), 'UTF8')::jsonb AS event OFFSET 0
     ) AS j`,
    inputValues(rows),
    "append_store",
  );
  if (inserted !== rows.length) throw new Error("the event store took another number of rows");
}

/**
 * The last statement of an append: reserves the offsets of one partition and writes outbox and notification rows with them.
 * The counter row stays locked until the commit, so commit order is offset order and members are adjacent (design §3 Order).
 * Returns the first offset; the others follow without a hole.
 */
export async function insertOutbox(tx: Tx, rows: readonly AppendRow[]): Promise<number> {
  const partition = partitionOfHost((rows[0] as AppendRow).hostId);
  tx.lock("OFFSET_COUNTER");
  const offsets = await tx.query<{ event_offset: number }>(
    `WITH input AS MATERIALIZED (
       SELECT i.*, substr($1::bytea, i.byte_start, i.byte_length) AS event_bytes, t.*
       FROM ${INPUT}
       JOIN unnest($18::uuid[], $19::int4[], $20::int4[], $21::text[], $22::boolean[])
         WITH ORDINALITY AS t(transaction_id, transaction_ordinal, transaction_count, payload_digest, version_baseline, at)
         ON t.at = i.n
     ), reserved AS (
       UPDATE event_offset_counter_t c SET next_offset = c.next_offset + $24::int8
       WHERE c.partition_id = $23::int4
       RETURNING c.next_offset - $24::int8 AS first_offset
     ), outbox AS (
       INSERT INTO outbox_message_t (${IDENTITY}, partition_id, c_offset, transaction_id, transaction_ordinal,
         transaction_count, version_baseline, event_bytes, payload_digest)
       SELECT ${IDENTITY}, $23::int4, reserved.first_offset + n - 1, transaction_id, transaction_ordinal,
         transaction_count, version_baseline, event_bytes, payload_digest
       FROM input CROSS JOIN reserved
     )
     INSERT INTO notification_t (host_id, id, user_id, nonce, event_class, event_ts, process_ts, status, aggregate_id,
       aggregate_type, aggregate_version, event_partition, event_offset, transaction_id)
     SELECT host_id, id, user_id, nonce, event_type, event_ts, now(), 'PENDING', aggregate_id,
       aggregate_type, aggregate_version, $23::int4, reserved.first_offset + n - 1, transaction_id
     FROM input CROSS JOIN reserved
     RETURNING event_offset`,
    [
      ...inputValues(rows),
      arrayLiteral(rows.map((r) => r.transactionId)),
      arrayLiteral(rows.map((r) => r.ordinal)),
      arrayLiteral(rows.map((r) => r.count)),
      arrayLiteral(rows.map((r) => r.digest)),
      arrayLiteral(rows.map((r) => r.versionBaseline)),
      partition,
      rows.length,
    ],
    "append_outbox",
  );
  if (offsets.length !== rows.length) throw new Error("the outbox took another number of rows");
  return offsets.reduce((first, row) => Math.min(first, row.event_offset), Number.MAX_SAFE_INTEGER);
}
