import type pg from "pg";
import { closeOver, indexOpenWork } from "@/server/event-replay/planning/domain/closure";
import { loadOpenWork } from "@/server/event-replay/planning/repository";
import { createPool } from "@/server/platform/db/pool";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { atMost, compare, type Figure, interleave, median, seconds } from "./measure";
import { hostOfLane } from "./outbox-data";
import type { Size } from "./size";

const HOST = hostOfLane(9);
type Shape = "chain" | "braid" | "long";
/** Scopes that the transactions of a braid are woven over, two each. */
const STRANDS = 100;

/**
 * Goal 11: the closure of the last failure over n open predecessors, from the database to the set of ids, against the best
 * recursive statement on the same rows. Chain: one scope. Braid: two of 100 scopes each. The long chain shows that it is linear.
 */
export async function measurePlanner(databaseUrl: string, size: Size): Promise<Figure[]> {
  const pool = createPool(databaseUrl, { max: 2, name: "bench" });
  const n = size.closure;
  const shapes: Readonly<Record<Shape, number>> = { chain: n, braid: n, long: 10 * n };
  try {
    for (const shape of SHAPES) await fill(pool, shape, shapes[shape], shape === "braid" ? 2 : 1);
    await pool.query("ANALYZE event_failure_transaction_t, event_failure_event_t, event_failure_scope_t");
    const sizeOf = new Map<Shape, number>();
    const ours = (shape: Shape) => ({
      name: shape,
      run: () => timed(pool, sizeOf, shape, (tx) => close(tx, shape, shapes[shape])),
    });
    const recursive = (shape: "chain" | "braid") => ({
      name: `${shape} by SQL`,
      run: () => timed(pool, sizeOf, shape, (tx) => closeBySql(tx, shape, shapes[shape])),
    });
    const rates = await interleave(size.rounds, [
      ours("chain"),
      recursive("chain"),
      ours("braid"),
      recursive("braid"),
      ours("long"),
    ]);
    const ms = (name: string) => (rates.get(name) ?? []).map((rate) => 1000 / rate);
    const longer = ms("long").map((long, i) => long / (ms("chain")[i] as number));
    const figure = `${median(ms("long")).toFixed(1)} to ${median(ms("chain")).toFixed(1)} ms`;
    return [
      compare(11, `closure of a chain of ${n}, to a recursive statement`, rates, ["chain", "chain by SQL"], 2, "/s"),
      compare(11, `closure of a braid of ${n}, to a recursive statement`, rates, ["braid", "braid by SQL"], 2, "/s"),
      atMost(11, "a chain ten times as long, time", figure, longer, "x", 12),
    ];
  } finally {
    await pool.end();
  }
}

/** Closures a second. Throws when two of one shape differ, or one is far from all there is. */
async function timed(
  pool: pg.Pool,
  sizes: Map<Shape, number>,
  shape: Shape,
  work: (tx: Tx) => Promise<number>,
): Promise<number> {
  let found = 0;
  const spent = await seconds(async () => {
    found = await inTransaction(pool, "bench", work, { readOnly: true, statementTimeoutMs: 0 });
  });
  const known = sizes.get(shape) ?? found;
  sizes.set(shape, known);
  if (found !== known || found < 1_000) throw new Error(`closures of one ${shape} found ${known} and ${found}`);
  return 1 / spent;
}

async function close(tx: Tx, shape: Shape, n: number): Promise<number> {
  const open = await loadOpenWork(tx, HOST, { projectionName: "bench", consumerGroup: shape });
  return closeOver(indexOpenWork(open), [idOf(shape, n)]).size;
}

async function closeBySql(tx: Tx, shape: Shape, n: number): Promise<number> {
  const [row] = await tx.query<{ n: number }>(RECURSIVE, [HOST, shape, idOf(shape, n), shape]);
  return (row as { n: number }).n;
}

/** Each step looks for the immediate predecessor in every scope; UNION leaves out what is known. */
const RECURSIVE = `
WITH RECURSIVE closure(failure_id) AS (
  SELECT $3::uuid
  UNION
  SELECT p.failure_id FROM closure c
    JOIN event_failure_event_t e ON e.host_id = $1 AND e.failure_id = c.failure_id
   CROSS JOIN LATERAL (
    SELECT x.failure_id FROM event_failure_event_t x
      JOIN event_failure_transaction_t f ON f.host_id = x.host_id AND f.failure_id = x.failure_id AND f.status = 'OPEN'
       AND f.consumer_group = $2
     WHERE x.host_id = $1 AND x.aggregate_type = $4 AND x.aggregate_id = e.aggregate_id AND x.aggregate_version < e.aggregate_version
     ORDER BY x.aggregate_version DESC LIMIT 1) p
) SELECT count(*)::int AS n FROM closure`;

const SHAPES = ["chain", "braid", "long"] as const;

/** Id of the n-th failure of a shape. */
const idOf = (shape: Shape, n: number) => `${prefixOf(shape)}${n.toString(16).padStart(12, "0")}`;
const prefixOf = (shape: Shape) => `01964b05-552a-7000-900${SHAPES.indexOf(shape)}-`;

/** Open failures of a group of its own, by SQL; triggers that look at each row are left out meanwhile. */
async function fill(pool: pg.Pool, shape: Shape, n: number, members: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL session_replication_role = replica");
    await client.query("ALTER TABLE event_failure_transaction_t DISABLE TRIGGER event_failure_members_complete");
    await client.query(HEADERS, [HOST, shape, n, members, prefixOf(shape)]);
    const strands = members === 1 ? 1 : STRANDS;
    await client.query(MEMBERS, [HOST, shape, n, members, prefixOf(shape), strands]);
    await client.query(SCOPES, [HOST, shape, n, members, prefixOf(shape), strands]);
    await client.query("ALTER TABLE event_failure_transaction_t ENABLE ALWAYS TRIGGER event_failure_members_complete");
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

const ID = "($5::text || lpad(to_hex(i), 12, '0'))::uuid";
const HEADERS = `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group,
    first_source_processor, source_partition, original_transaction_id, content_fingerprint, event_count, replay_policy, error_code,
    error_type, failed_ordinal, failed_event_type, cause_key)
  SELECT $1, ${ID}, 'bench', $2::text, 'DATABASE', 9, ${ID}::text, encode(sha256(($2::text || i)::bytea), 'hex'), $4::int,
    'AGGREGATE_VERSION', 'REPLAY_GAP', NULL, 0, 'AnyEvent', 'REPLAY_GAP|||AnyEvent' FROM generate_series(1, $3::int) AS i`;
/** The i-th transaction writes version i + 1 of each of its strands. */
const STRAND = "(i + o) % $6::int";
const MEMBERS = `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id,
    aggregate_type, aggregate_version, source_processor, source_partition, source_offset, payload_format, payload_digest,
    payload_storage, payload_plain, decrypted_payload_bytes, event_schema_version)
  SELECT $1, ${ID}, o, md5($2::text || i || 'e' || o)::uuid::text, 'AnyEvent', (${STRAND})::text, $2::text, i + 1, 'DATABASE', 9,
    i * 2 + o, 'event-replay-canonical-v1', encode(sha256('x'::bytea), 'hex'), 'DATABASE_PLAIN', 'x'::bytea, 1, '1'
  FROM generate_series(1, $3::int) AS i, generate_series(0, $4::int - 1) AS o`;
const SCOPES = `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
  SELECT DISTINCT $1::uuid, ${ID}, 'bench', $2::text, 'AGGREGATE', $2::text || ':' || ${STRAND}
  FROM generate_series(1, $3::int) AS i, generate_series(0, $4::int - 1) AS o`;
