import { type DatabaseRole, readDatabaseRole } from "@/server/platform/db/database-role";
import type { Pool } from "@/server/platform/db/pool";
import { assertSchema, SchemaError } from "@/server/platform/db/schema-check";
import type { RulesState, WatchedRules } from "./endpoint-rules";
import { type LiveProcessors, readProcessors, readSourceLag } from "./source-lag";

/** An event that waits longer than this says that the projector makes no progress, whatever it says of itself. */
const LAG_LIMIT_SECONDS = 30;
/** A complete schema stays complete; probes come every few seconds and the look at the catalog costs tens of milliseconds. */
const SCHEMA_TRUST_MS = 60_000;

export type Readiness = {
  readonly status: "UP" | "DOWN";
  readonly database: "UP" | "DOWN";
  readonly schema: "COMPLETE" | "INCOMPLETE" | "UNKNOWN";
  /** LAST_GOOD: the endpoint rules file is broken or gone, and what it said before is still in force. */
  readonly rules: RulesState;
  /** With whose rights this replica works. Anything but LIMITED is more than it needs; the demo takes the owner's on purpose. */
  readonly databaseRole: DatabaseRole | "UNKNOWN";
  /** Whether the live projection keeps up. One that doesn't takes no console away: that is when it is needed. */
  readonly capture: {
    readonly state: "HEALTHY" | "RETRYING" | "LAGGING" | "NO_PROJECTOR" | "UNKNOWN";
    readonly pending: number | null;
    readonly oldestSeconds: number | null;
  };
};

const UNKNOWN: Readiness["capture"] = { state: "UNKNOWN", pending: null, oldestSeconds: null };
const checkedAt = new WeakMap<Pool, number>();

/** Whether this replica can serve: database reachable and schema complete. Never throws; says nothing of the cause. */
export async function readiness({
  pool,
  consumerGroup,
  rules: watched,
}: {
  readonly pool: Pool;
  readonly consumerGroup: string;
  readonly rules: Pick<WatchedRules, "state">;
}): Promise<Readiness> {
  const rules = watched.state();
  try {
    await pool.query("SELECT 1");
  } catch {
    return { status: "DOWN", database: "DOWN", schema: "UNKNOWN", rules, databaseRole: "UNKNOWN", capture: UNKNOWN };
  }
  try {
    await checkSchema(pool);
    const [databaseRole, live] = await Promise.all([readDatabaseRole(pool), capture(pool, consumerGroup)]);
    return { status: "UP", database: "UP", schema: "COMPLETE", rules, databaseRole, capture: live };
  } catch (error) {
    const schema = error instanceof SchemaError ? "INCOMPLETE" : "UNKNOWN";
    return { status: "DOWN", database: "UP", schema, rules, databaseRole: "UNKNOWN", capture: UNKNOWN };
  }
}

async function checkSchema(pool: Pool): Promise<void> {
  if (performance.now() - (checkedAt.get(pool) ?? Number.NEGATIVE_INFINITY) < SCHEMA_TRUST_MS) return;
  await assertSchema(pool);
  checkedAt.set(pool, performance.now());
}

async function capture(pool: Pool, consumerGroup: string): Promise<Readiness["capture"]> {
  const [lag, processors] = await Promise.all([
    readSourceLag(pool, consumerGroup),
    readProcessors(pool, consumerGroup),
  ]);
  return { state: captureState(lag.oldestSeconds, processors), ...lag };
}

function captureState(oldestSeconds: number, processors: LiveProcessors): Readiness["capture"]["state"] {
  if (processors.healthy + processors.retrying === 0) return "NO_PROJECTOR";
  if (processors.healthy === 0) return "RETRYING";
  return oldestSeconds > LAG_LIMIT_SECONDS ? "LAGGING" : "HEALTHY";
}
