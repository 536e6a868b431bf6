import { contentFingerprint } from "@/server/event-replay/registry/domain/fingerprints";
import { arrayLiteral } from "@/server/platform/db/arrays";
import type { Tx } from "@/server/platform/db/transaction";
import { sha256Hex } from "@/server/platform/digest";
import { newId } from "@/server/platform/ids";
import { PARKED_FORMAT } from "./domain/parked-frame";
import { sourceOrderKey, type ToPark } from "./domain/parking";
import type { ProjectionDefinition, ProjectionTransaction, SourceEvent } from "./domain/types";
import { type HostScope, hostScopeId } from "./scope-repository";

type Projection = Pick<ProjectionDefinition, "projectionName" | "consumerGroup">;

/**
 * Whether any of these hosts has an unreleased barrier of the projection: the one look that a batch without barriers pays.
 * Must be a later statement than the partition lock, or it could miss the barrier that the lock waited for (ER-ISO-25).
 * Index: event_replay_barrier_live_uk.
 */
export async function anyLiveBarrier(
  tx: Tx,
  projection: Projection,
  transactions: readonly ProjectionTransaction[],
): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM event_replay_barrier_t
      WHERE released_ts IS NULL AND host_id = ANY ($3::uuid[]) AND projection_name = $1 AND consumer_group = $2) AS found`,
    [projection.projectionName, projection.consumerGroup, hostsOf(transactions)],
    "any_live_barrier",
  );
  return row?.found ?? false;
}

/**
 * The barriers each of these scopes waits for: its own, and those of the last parked transaction that touches it, which
 * waits for all that the earlier ones wait for. Scopes that wait for nothing are absent. Keys are hostScopeId.
 */
export async function loadHeldScopes(
  tx: Tx,
  projection: Projection,
  scopes: readonly HostScope[],
): Promise<Map<string, string[]>> {
  const held = new Map<string, string[]>();
  if (scopes.length === 0) return held;
  const rows = await tx.query<{ i: number; barrier_id: string }>(
    `WITH wanted AS (
       SELECT * FROM unnest($3::uuid[], $4::varchar[], $5::varchar[]) WITH ORDINALITY AS w(host_id, scope_type, scope_key, i)
     ), touched AS (
       SELECT w.i, w.host_id, b.barrier_id
         FROM wanted w JOIN event_replay_barrier_t b
           ON b.host_id = w.host_id AND b.projection_name = $1 AND b.consumer_group = $2 AND b.scope_type = w.scope_type
          AND b.scope_key = w.scope_key AND b.released_ts IS NULL
       UNION
       SELECT w.i, w.host_id, s.barrier_id
         FROM wanted w
         CROSS JOIN LATERAL (
           SELECT d.deferred_id FROM event_projection_deferred_t d
             JOIN event_replay_barrier_t b ON b.host_id = d.host_id AND b.barrier_id = d.barrier_id
            WHERE d.host_id = w.host_id AND d.status = 'PENDING' AND b.projection_name = $1 AND b.consumer_group = $2
              AND d.dependency_scopes @> jsonb_build_array(jsonb_build_object('scopeType', w.scope_type, 'scopeKey', w.scope_key))
            ORDER BY d.source_order_key DESC LIMIT 1
         ) last
         JOIN event_projection_deferred_scope_t s ON s.host_id = w.host_id AND s.deferred_id = last.deferred_id
     )
     SELECT t.i::int AS i, t.barrier_id FROM touched t
       JOIN event_replay_barrier_t b ON b.host_id = t.host_id AND b.barrier_id = t.barrier_id AND b.released_ts IS NULL`,
    [
      projection.projectionName,
      projection.consumerGroup,
      arrayLiteral(scopes.map((scope) => scope.hostId)),
      arrayLiteral(scopes.map((scope) => scope.type)),
      arrayLiteral(scopes.map((scope) => scope.key)),
    ],
    "load_held_scopes",
  );
  for (const { i, barrier_id } of rows) {
    const scope = scopes[i - 1] as HostScope;
    const id = hostScopeId(scope.hostId, scope);
    held.set(id, [...(held.get(id) ?? []), barrier_id]);
  }
  return held;
}

/**
 * One statement for all parked transactions of a batch. The bytes are framed inside the database from the outbox rows they
 * were encoded into at append (see parked-frame.ts for the framing); the table's CHECK recomputes the digest. A delivery that
 * is already parked changes nothing.
 */
const PARK = `
WITH wanted AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::varchar[], $6::varchar[], $7::jsonb[], $8::int[], $9::jsonb[])
    AS w(host_id, deferred_id, barrier_id, transaction_id, content_fingerprint, order_key, coordinates, event_count, scopes)
), frame AS (
  SELECT w.deferred_id,
         convert_to($12, 'UTF8') || string_agg(
           int4send(octet_length(h.header)) || h.header || int4send(octet_length(o.event_bytes)) || o.event_bytes, ''::bytea
           ORDER BY o.transaction_ordinal) AS bytes
    FROM wanted w
    JOIN outbox_message_t o ON o.host_id = w.host_id AND o.transaction_id = w.transaction_id
    CROSS JOIN LATERAL (SELECT convert_to(jsonb_build_object(
      'ordinal', o.transaction_ordinal, 'eventId', o.id, 'eventType', o.event_type, 'schemaVersion', o.event_schema_version,
      'userId', o.user_id, 'aggregateType', o.aggregate_type, 'aggregateId', o.aggregate_id,
      'aggregateVersion', o.aggregate_version, 'rootInstanceId', o.root_instance_id, 'graphRevision', o.graph_revision,
      'policyRegistryVersion', o.policy_registry_version, 'repairSchemaVersion', o.repair_schema_version,
      'versionBaseline', o.version_baseline, 'payloadDigest', o.payload_digest,
      'processor', 'DATABASE', 'topic', NULL, 'partition', o.partition_id, 'offset', o.c_offset)::text, 'UTF8') AS header) h
   GROUP BY w.deferred_id
), stored AS (
  INSERT INTO event_projection_deferred_t
    (host_id, deferred_id, barrier_id, original_transaction_id, content_fingerprint, source_processor, source_order_key,
     source_coordinates, event_count, decrypted_payload_bytes, dependency_scopes, payload_digest, payload_storage,
     payload_plain, status, deferred_ts, created_ts, updated_ts)
  SELECT w.host_id, w.deferred_id, w.barrier_id, w.transaction_id, w.content_fingerprint, 'DATABASE', w.order_key, w.coordinates,
         w.event_count, octet_length(f.bytes), w.scopes, encode(sha256(f.bytes), 'hex'), 'DATABASE_PLAIN', f.bytes, 'PENDING',
         now(), now(), now()
    FROM wanted w JOIN frame f USING (deferred_id)
  ON CONFLICT DO NOTHING
  RETURNING host_id, deferred_id
), linked AS (
  INSERT INTO event_projection_deferred_scope_t (host_id, deferred_id, barrier_id, created_ts)
  SELECT s.host_id, s.deferred_id, l.barrier_id, now()
    FROM stored s JOIN unnest($10::uuid[], $11::uuid[]) AS l(deferred_id, barrier_id) USING (deferred_id)
)
SELECT count(*)::int AS stored FROM stored`;

/** Deliveries that are parked. Index: unique (host, barrier, fingerprint). */
const KNOWN = `
SELECT count(*)::int AS known
  FROM unnest($1::uuid[], $2::uuid[], $3::varchar[]) AS w(host_id, barrier_id, content_fingerprint)
  JOIN event_projection_deferred_t d USING (host_id, barrier_id, content_fingerprint)`;

/**
 * Stores each transaction whole: exact bytes, digest, source coordinates, scopes, and one row for every barrier it waits for,
 * on the caller's transaction, so in the commit that moves the source (ER-ISO-05). Redelivery is a no-op by the table's keys.
 * Throws when anything would be missing: the source must not move past it.
 */
export async function insertParked(tx: Tx, projection: Projection, parked: readonly ToPark[]): Promise<void> {
  if (parked.length === 0) return;
  const rows = parked.map((item) => ({ ...item, deferredId: newId() }));
  const links = rows.flatMap(({ deferredId, barrierIds }) =>
    barrierIds.map((barrierId) => ({ deferredId, barrierId })),
  );
  const hosts = arrayLiteral(rows.map((row) => row.transaction.hostId));
  const barriers = arrayLiteral(rows.map((row) => row.barrierIds[0] as string));
  const fingerprints = arrayLiteral(rows.map((row) => fingerprintOf(projection, row.transaction)));
  const [result] = await tx.query<{ stored: number }>(
    PARK,
    [
      hosts,
      arrayLiteral(rows.map((row) => row.deferredId)),
      barriers,
      arrayLiteral(rows.map((row) => row.transaction.transactionId)),
      fingerprints,
      arrayLiteral(rows.map((row) => sourceOrderKey(row.transaction))),
      arrayLiteral(rows.map((row) => JSON.stringify(coordinatesOf(row.transaction)))),
      arrayLiteral(rows.map((row) => row.transaction.members.length)),
      arrayLiteral(
        rows.map((row) => JSON.stringify(row.scopes.map(({ type, key }) => ({ scopeType: type, scopeKey: key })))),
      ),
      arrayLiteral(links.map((link) => link.deferredId)),
      arrayLiteral(links.map((link) => link.barrierId)),
      PARKED_FORMAT,
    ],
    "park_transactions",
  );
  if (result?.stored === parked.length) return;
  const [present] = await tx.query<{ known: number }>(KNOWN, [hosts, barriers, fingerprints]);
  if (present?.known !== parked.length) throw new Error("a transaction was not parked");
}

function fingerprintOf(projection: Projection, transaction: ProjectionTransaction): string {
  const { members } = transaction;
  return contentFingerprint({
    projectionName: projection.projectionName,
    consumerGroup: projection.consumerGroup,
    originalTransactionId: transaction.transactionId,
    eventIds: members.map((member) => member.eventId),
    payloadDigests: members.map((member) => member.payloadDigest ?? sha256Hex(member.payload)),
  });
}

function coordinatesOf({ members }: ProjectionTransaction): Record<string, number> {
  const first = (members[0] as SourceEvent).source;
  return {
    partition: first.partition,
    firstOffset: first.offset,
    lastOffset: (members.at(-1) as SourceEvent).source.offset,
  };
}

const hostsOf = (transactions: readonly ProjectionTransaction[]) =>
  arrayLiteral([...new Set(transactions.map(({ hostId }) => hostId))]);
