import { LiveProjector } from "@/server/event-replay/live/live-projector";
import { createPool } from "@/server/platform/db/pool";
import { portalProjection } from "@/server/portal/portal-projection";

/** The live projector as the product runs it, alone in this process, so that it can be killed and doesn't share its event loop. */
const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error("DATABASE_URL is not set");
const LANES = 4;
const pool = createPool(databaseUrl, { max: LANES + 2, name: "bench-projector" });
const projector = new LiveProjector(pool, portalProjection(), { databaseUrl, lanes: LANES });
process.on("disconnect", () => process.exit());
await projector.start();
process.send?.("started");
