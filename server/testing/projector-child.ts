import { LiveProjector } from "@/server/event-replay/live/live-projector";
import { createPool } from "@/server/platform/db/pool";
import { ledgerProjection } from "./ledger-projection";

/** A live processor of the ledger projection in a process of its own, for tests that kill it. */
const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error("DATABASE_URL is not set");
const pool = createPool(databaseUrl, { name: "projector-child" });
const projector = new LiveProjector(pool, ledgerProjection(), { databaseUrl, lanes: 2, pollMs: 200 });
void projector.start().then(() => process.send?.("started"));
process.on("SIGTERM", async () => {
  await projector.stop();
  await pool.end();
  process.disconnect?.();
});
