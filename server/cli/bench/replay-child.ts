import { processReplay } from "@/server/event-replay/execution/process-event-replay";
import { EXECUTION } from "@/server/event-replay/execution/settings";
import { createPool } from "@/server/platform/db/pool";
import { accountOf } from "./account-projection";
import { fixed } from "./replay-plans";

/** One executor alone in this process, so that it can be killed: claims the plan, says so, and runs it as far as it comes. */
const { DATABASE_URL, BENCH_ACCOUNT, BENCH_PLAN } = process.env;
if (!DATABASE_URL || !BENCH_ACCOUNT || !BENCH_PLAN) throw new Error("the environment is incomplete");
const pool = createPool(DATABASE_URL, { max: 2, name: "bench-replay" });
process.on("disconnect", () => process.exit());
process.send?.("started");
// A killed owner's lease is soon past, and a kill is no try of the item's.
const settings = { ...EXECUTION, leaseSeconds: 1, attemptsPerItem: 1_000 };
const answer = await processReplay(
  { pool, projection: fixed(accountOf(BENCH_ACCOUNT)) },
  JSON.parse(BENCH_PLAN),
  settings,
).catch(() => null);
process.send?.(answer?.status ?? "LATER");
await pool.end();
process.disconnect?.();
