import { Gauge } from "prom-client";
import type { Pool } from "@/server/platform/db/pool";
import { metrics } from "@/server/platform/metrics";
import { readProcessors, readSourceLag } from "./source-lag";

/** Get or make: route bundles may load this module more than once, the registry exists once. */
function gauge<Label extends string = never>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Gauge<Label> {
  const existing = metrics.getSingleMetric(name) as Gauge<Label> | undefined;
  return existing ?? new Gauge<Label>({ name, help, labelNames, registers: [metrics] });
}

const failures = gauge("event_admin_failures", "Canonical failures by status and safe code.", ["status", "code"]);
const blocked = gauge("event_admin_blocked_scopes", "Ordering scopes that an open failure blocks.");
const oldestBlocked = gauge("event_admin_oldest_blocked_scope_age_seconds", "Age of the longest blocked scope.");
const pending = gauge("event_admin_outbox_pending_events", "Appended events not yet projected or captured.");
const oldestPending = gauge("event_admin_outbox_oldest_pending_seconds", "Age of the oldest of them.");
const processors = gauge("event_admin_live_processors", "Live processors heard of lately, by state.", ["state"]);
const readable = gauge(
  "event_admin_state_readable",
  "1 when this scrape could read the gauges from the database, else 0.",
);

const LABELLED = [failures, processors];
const PLAIN = [blocked, oldestBlocked, pending, oldestPending];

/**
 * The process's counters plus gauges of durable state, read now. Labels are our own words: status and safe code, no host, id
 * or event type (ER-OBS-07). When the database can't be read the gauges are absent rather than stale.
 */
export async function scrapeMetrics(pool: Pool, consumerGroup: string): Promise<{ contentType: string; body: string }> {
  for (const each of [...LABELLED, ...PLAIN]) each.reset();
  try {
    await Promise.all([readFailures(pool), readBlocked(pool), readPending(pool, consumerGroup)]);
    readable.set(1);
  } catch {
    // Reset takes a labelled gauge's values away; one without labels would say 0.
    for (const each of LABELLED) each.reset();
    for (const each of PLAIN) each.remove();
    readable.set(0);
  }
  return { contentType: metrics.contentType, body: await metrics.metrics() };
}

async function readFailures(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ status: string; code: string; n: number }>(
    `SELECT status, coalesce(error_code, 'NONE') AS code, sum(n)::int8 AS n
       FROM event_failure_rollup_t GROUP BY 1, 2 HAVING sum(n) > 0`,
  );
  for (const { status, code, n } of rows) {
    failures.inc({ status, code: /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : "OTHER" }, n);
  }
}

async function readBlocked(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ n: number; age: number }>(
    `SELECT count(DISTINCT (s.host_id, s.projection_name, s.consumer_group, s.scope_type, s.scope_key))::int8 AS n,
            coalesce(extract(epoch FROM clock_timestamp() - min(f.first_failed_ts)), 0)::float8 AS age
       FROM event_failure_scope_t s
       JOIN event_failure_transaction_t f ON f.host_id = s.host_id AND f.failure_id = s.failure_id
      WHERE s.status = 'OPEN' AND s.scope_type IN ('AGGREGATE', 'GRAPH_ROOT')`,
  );
  blocked.set(rows[0]?.n ?? 0);
  oldestBlocked.set(rows[0]?.age ?? 0);
}

async function readPending(pool: Pool, consumerGroup: string): Promise<void> {
  const [lag, heard] = await Promise.all([readSourceLag(pool, consumerGroup), readProcessors(pool, consumerGroup)]);
  processors.set({ state: "HEALTHY" }, heard.healthy);
  processors.set({ state: "RETRYING" }, heard.retrying);
  pending.set(lag.pending);
  oldestPending.set(lag.oldestSeconds);
}
