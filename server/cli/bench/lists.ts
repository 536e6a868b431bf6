import pg from "pg";
import type { FailureFilter } from "@/server/event-replay/failures/domain/selection";
import type { Position, Window } from "@/server/event-replay/failures/failure-query";
import { loadPage } from "@/server/event-replay/failures/repository";
import { loadRollup, resolveFilter } from "@/server/event-replay/failures/resolve-filter";
import { createPool } from "@/server/platform/db/pool";
import { inTransaction, type Tx } from "@/server/platform/db/transaction";
import { atMost, type Figure, median, percentile, whole } from "./measure";
import { hostOfLane } from "./outbox-data";
import type { Size } from "./size";

const HOST = hostOfLane(3);
const PAGE_SIZE = 50;
const CALLS = 100;
const FILTER: FailureFilter = { status: "OPEN", includeDiagnostic: true };

/** The page has no prepared statement, the rollup has one: each is held against a look-up of its own kind. */
type Probe = "lookup" | "preparedLookup" | "first" | "random" | "deep" | "rollup";
type Timings = Record<Probe, { p50: number; p99: number }>;

/**
 * Goals 9 and 10: the list's own repository against one look-up by primary key on the same connection, calls in turn. A page is
 * what the list shows: failures with their head event, types and scopes. Deep = as far back as page 10,000 of the list (or its end).
 */
export async function measureLists(databaseUrl: string, size: Size): Promise<Figure[]> {
  await fillArchive(databaseUrl, size.failures);
  const pool = createPool(databaseUrl, { max: 2, name: "bench" });
  try {
    const deepAt = Math.min(10_000 * PAGE_SIZE, size.failures - 2 * PAGE_SIZE);
    const deep = await positionAt(pool, deepAt);
    const rounds: Timings[] = [];
    for (let round = 0; round < size.rounds; round++) {
      rounds.push(await inTransaction(pool, "bench", (tx) => callInTurn(tx, size.failures, deep), { readOnly: true }));
    }
    const ratio = (probe: Probe, to: Probe, p: "p50" | "p99") => rounds.map((r) => r[probe][p] / r[to][p]);
    const ms = (probe: Probe, p: "p50" | "p99") => median(rounds.map((r) => r[probe][p])).toFixed(2);
    const both = (probe: Probe, to: Probe, p: "p50" | "p99") => `${ms(probe, p)} to ${ms(to, p)} ms`;
    const wrong = await rollupDifference(pool);
    const what = `page of ${PAGE_SIZE} among ${whole(size.failures)} failures, to a key look-up`;
    return [
      atMost(9, `${what}, p50`, both("random", "lookup", "p50"), ratio("random", "lookup", "p50"), "x", 4),
      atMost(9, `${what}, p99`, both("random", "lookup", "p99"), ratio("random", "lookup", "p99"), "x", 3),
      atMost(
        9,
        `page ${whole(deepAt / PAGE_SIZE)} to page 1, p50`,
        both("deep", "first", "p50"),
        ratio("deep", "first", "p50"),
        "x",
        1.5,
      ),
      atMost(
        10,
        "counts and groups of 20 causes, to a key look-up, p50",
        both("rollup", "preparedLookup", "p50"),
        ratio("rollup", "preparedLookup", "p50"),
        "x",
        3,
      ),
      atMost(10, "counts and groups that differ from the rows", "", [wrong], "count", 0),
    ];
  } finally {
    await pool.end();
  }
}

async function callInTurn(tx: Tx, failures: number, deep: Position): Promise<Timings> {
  const resolved = await resolveFilter(tx, HOST, FILTER, await loadRollup(tx, HOST, "OPEN"));
  const page = (window: Partial<Window>) =>
    loadPage(tx, HOST, resolved, { sort: "last_failed_ts", limit: PAGE_SIZE + 1, ...window });
  const calls: Record<Probe, () => Promise<unknown>> = {
    lookup: () => tx.query(LOOKUP, [HOST, idOf(failures)]),
    preparedLookup: () => tx.query(LOOKUP, [HOST, idOf(failures)], "bench_lookup"),
    first: () => page({}),
    random: async () => page({ before: await randomPosition() }),
    deep: () => page({ before: deep }),
    rollup: () => loadRollup(tx, HOST, "OPEN"),
  };
  let position: Position = deep;
  const randomPosition = async () => position;
  const times: Record<Probe, number[]> = {
    lookup: [],
    preparedLookup: [],
    first: [],
    random: [],
    deep: [],
    rollup: [],
  };
  for (let call = 0; call < CALLS; call++) {
    position = await positionOf(tx, idOf(failures));
    for (const [probe, run] of Object.entries(calls) as [Probe, () => Promise<unknown>][]) {
      const start = performance.now();
      await run();
      times[probe].push(performance.now() - start);
    }
  }
  const both = (list: number[]) => ({ p50: percentile(list, 0.5), p99: percentile(list, 0.99) });
  return Object.fromEntries(Object.entries(times).map(([probe, list]) => [probe, both(list)])) as Timings;
}

const LOOKUP = "SELECT * FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $2";

/** Id of a random failure: the n-th has the number in its last digits. */
function idOf(failures: number): string {
  const n = 1 + Math.floor(Math.random() * failures);
  return `01964b05-552a-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

async function positionOf(tx: Tx, failureId: string): Promise<Position> {
  const [row] = await tx.query<{ ts: string }>(
    "SELECT last_failed_ts AS ts FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $2",
    [HOST, failureId],
  );
  return { ts: (row as { ts: string }).ts, id: failureId };
}

async function positionAt(pool: pg.Pool, offset: number): Promise<Position> {
  const { rows } = await pool.query(
    `SELECT failure_id AS id, last_failed_ts AS ts FROM event_failure_transaction_t WHERE host_id = $1
      ORDER BY last_failed_ts DESC, failure_id DESC OFFSET $2 LIMIT 1`,
    [HOST, offset],
  );
  return rows[0];
}

/** Causes whose number in the rollup is not the number of their rows. */
async function rollupDifference(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*)::int AS wrong FROM (SELECT cause_key, count(*) AS n FROM event_failure_transaction_t
        WHERE host_id = $1 AND status = 'OPEN' GROUP BY 1) f
       FULL JOIN (SELECT cause_key, n FROM event_failure_rollup_t WHERE host_id = $1 AND status = 'OPEN' AND n > 0) r USING (cause_key)
      WHERE f.n IS DISTINCT FROM r.n`,
    [HOST],
  );
  return rows[0].wrong;
}

/**
 * Fills the archive by SQL. The rollup is counted by its own triggers; foreign keys and the look-up of members at commit are left
 * out meanwhile, since they would only cost minutes.
 */
async function fillArchive(databaseUrl: string, failures: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL session_replication_role = replica");
    await client.query("ALTER TABLE event_failure_transaction_t DISABLE TRIGGER event_failure_members_complete");
    await client.query(HEADERS, [HOST, failures]);
    await client.query(MEMBERS, [HOST, failures]);
    await client.query(SCOPES, [HOST, failures]);
    await client.query("ALTER TABLE event_failure_transaction_t ENABLE ALWAYS TRIGGER event_failure_members_complete");
    await client.query("COMMIT");
    await client.query("VACUUM ANALYZE");
  } finally {
    await client.end();
  }
}

const ID = "('01964b05-552a-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid";
const HEADERS = `INSERT INTO event_failure_transaction_t (host_id, failure_id, projection_name, consumer_group,
    first_source_processor, source_partition, original_transaction_id, content_fingerprint, event_count, replay_policy, error_code,
    error_type, error_constraint, failed_ordinal, failed_event_type, cause_key, first_failed_ts, last_failed_ts)
  SELECT $1, ${ID}, 'portal-query', 'user-query-group', 'DATABASE', 3, ${ID}::text, encode(sha256(i::text::bytea), 'hex'), 2,
    'AGGREGATE_VERSION', 'PROJECTION_FAILED', '23503', 'c' || i % 4, 0, 'T' || i % 20 || 'Event',
    'PROJECTION_FAILED|23503|c' || i % 4 || '|T' || i % 20 || 'Event', ts, ts
  FROM generate_series(1, $2::int) AS i, LATERAL (SELECT now() - (i::bigint * 7919 % $2) * interval '1 second' AS ts) t`;
const MEMBERS = `INSERT INTO event_failure_event_t (host_id, failure_id, event_ordinal, event_id, event_type, aggregate_id,
    aggregate_type, aggregate_version, source_processor, source_partition, source_offset, payload_format, payload_digest,
    payload_storage, payload_plain, decrypted_payload_bytes, event_schema_version)
  SELECT $1, ${ID}, o, md5(i || 'e' || o)::uuid::text, 'T' || i % 20 || 'Event', (i / 3)::text, 'A' || o, 1 + i % 3, 'DATABASE', 3,
    i * 2 + o, 'event-replay-canonical-v1', encode(sha256('x'::bytea), 'hex'), 'DATABASE_PLAIN', 'x'::bytea, 1, '1'
  FROM generate_series(1, $2::int) AS i, generate_series(0, 1) AS o`;
const SCOPES = `INSERT INTO event_failure_scope_t (host_id, failure_id, projection_name, consumer_group, scope_type, scope_key)
  SELECT $1, ${ID}, 'portal-query', 'user-query-group', 'AGGREGATE', 'A' || o || ':' || i / 3
  FROM generate_series(1, $2::int) AS i, generate_series(0, 1) AS o`;
