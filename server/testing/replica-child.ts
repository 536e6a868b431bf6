import { EXECUTION } from "@/server/event-replay/execution/settings";
import { createPool } from "@/server/platform/db/pool";
import { ledgerProjection } from "./ledger-projection";
import { startReplica } from "./replica-server";

/** One replica of the ledger projection in a process of its own, for tests that kill or freeze it. Settings by environment. */
const { DATABASE_URL, REPLICA_ROLE, REPLICA_QUERY_URL, REPLICA_COMMAND_URL, REPLICA_LEASE, REPLICA_IDLE, REPLICA_DIE } =
  process.env;
if (!DATABASE_URL) throw new Error("DATABASE_URL is not set");
const pool = createPool(DATABASE_URL, { name: "replica-child" });
const replica = await startReplica({
  pool,
  projection: ledgerProjection(),
  role: REPLICA_ROLE as "command" | "query" | undefined,
  queryUrl: REPLICA_QUERY_URL,
  commandUrl: REPLICA_COMMAND_URL,
  settings: {
    ...EXECUTION,
    leaseSeconds: Number(REPLICA_LEASE ?? EXECUTION.leaseSeconds),
    idleTimeoutMs: Number(REPLICA_IDLE ?? EXECUTION.idleTimeoutMs),
  },
  // After everything is committed, before anybody is told.
  afterProcess: async () => {
    if (REPLICA_DIE === "after-commit") process.kill(process.pid, "SIGKILL");
  },
});
process.send?.(replica.url);
