import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { findInstance } from "@/server/cli/instance";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { createPool, type Pool } from "@/server/platform/db/pool";
import { breakDemoProjection, type DemoDeps, fixDemoProjection } from "@/server/portal/demo/break-projection";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { loadSample } from "@/server/portal/demo/load-sample";
import { portalProjection } from "@/server/portal/portal-projection";

type Scenario = { readonly is: string; readonly run: (deps: DemoDeps) => Promise<void> };

/** States of the product worth looking at. Each is reached by real appends and the real projector, never by writing its tables. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  sample: { is: "the sample portal, everything projected", run: async (deps) => void (await loadSample(deps)) },
  "broken-projection": {
    is: "the defect is on, failures of several causes with the changes that wait behind them",
    run: async (deps) => void (await breakDemoProjection(deps, DEMO_HOST_ID)),
  },
  "poison-aggregate": {
    is: "as broken-projection, but the defect is off again: what is captured can be replayed",
    run: async (deps) => {
      await breakDemoProjection(deps, DEMO_HOST_ID);
      await untilProjected(deps);
      await fixDemoProjection(deps);
    },
  },
};

await runCli(async () => {
  const { values } = parseArgs({ options: { scenario: { type: "string" } } });
  const scenario = values.scenario === undefined ? undefined : SCENARIOS[values.scenario];
  if (scenario === undefined) {
    const list = Object.entries(SCENARIOS).map(([name, { is }]) => `  ${name.padEnd(18)} ${is}`);
    throw new CliRefusal(`Usage: npm run seed -- --scenario NAME\n${list.join("\n")}`, 2);
  }
  const { databaseUrl, demo } = findInstance();
  if (!demo) throw new CliRefusal("This instance is not in demo mode; nothing was changed.");
  const pool = createPool(databaseUrl, { max: 2, name: "seed" });
  try {
    const deps = { pool, projection: portalProjection() };
    await scenario.run(deps);
    await untilProjected(deps);
    process.stdout.write(`${values.scenario}: ${scenario.is}\n`);
  } finally {
    await pool.end();
  }
});

/** Waits until the running projector has judged everything appended. */
async function untilProjected({ pool, projection }: DemoDeps): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (await isWaiting(pool, projection.consumerGroup)) {
    if (Date.now() > deadline) throw new CliRefusal("The projector did not get through within a minute. Does it run?");
    await delay(100);
  }
}

async function isWaiting(pool: Pool, consumerGroup: string): Promise<boolean> {
  const { rows } = await pool.query<{ waiting: boolean }>(
    `SELECT EXISTS (
       SELECT 1 FROM event_offset_counter_t k
        WHERE k.next_offset > coalesce((SELECT max(c.next_offset) FROM consumer_offsets c
                                         WHERE c.group_id = $1 AND c.partition_id = k.partition_id), 1)) AS waiting`,
    [consumerGroup],
  );
  return rows[0]?.waiting === true;
}
