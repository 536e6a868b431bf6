import { findInstance } from "@/server/cli/instance";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { createPool } from "@/server/platform/db/pool";
import { breakDemoProjection, fixDemoProjection } from "@/server/portal/demo/break-projection";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { loadSample } from "@/server/portal/demo/load-sample";
import { portalProjection } from "@/server/portal/portal-projection";

const USAGE = "Usage: npm run demo -- break | fix | load-sample";

// Demo mode only: the defect is planted in nobody else's projection, and nothing is appended to anyone else's store.
await runCli(async () => {
  const action = process.argv[2];
  if (action !== "break" && action !== "fix" && action !== "load-sample") throw new CliRefusal(USAGE, 2);
  const { databaseUrl, demo } = findInstance();
  if (!demo) throw new CliRefusal("This instance is not in demo mode; nothing was changed.");
  const pool = createPool(databaseUrl, { max: 2, name: "demo" });
  try {
    const deps = { pool, projection: portalProjection() };
    if (action === "load-sample") {
      const appended = await loadSample(deps);
      say(appended === 0 ? "There are events already; nothing was loaded." : `Loaded ${appended} sample transactions.`);
    } else if (action === "break") {
      const { appended, refused } = await breakDemoProjection(deps, DEMO_HOST_ID);
      say(`The defect is on. Appended ${appended} transactions; ${refused} commands were refused as blocked.`);
    } else {
      await fixDemoProjection(deps);
      say("The defect is off. What failed stays captured until it is replayed.");
    }
  } finally {
    await pool.end();
  }
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
