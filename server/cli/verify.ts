import { withTargetDatabase } from "@/server/cli/database-target";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { checkConservation } from "@/server/event-replay/append/checker";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";
import { portalProjection } from "@/server/portal/portal-projection";

// Exit 0: every appended transaction is projected, captured or parked once, in order. Exit 1: what is wrong, one line each.
await runCli(() =>
  withTargetDatabase(async (databaseUrl) => {
    const pool = createPool(databaseUrl, { max: 1, name: "verify" });
    try {
      await assertSchema(pool);
      const violations = await checkConservation(pool, portalProjection());
      for (const { rule, hostId, transactionId, partition, offset } of violations) {
        process.stdout.write(
          `${[rule, hostId, transactionId, partition, offset].map((part) => part ?? "-").join(" ")}\n`,
        );
      }
      if (violations.length > 0) throw new CliRefusal(`${violations.length} violations.`);
      process.stdout.write("Every appended transaction is accounted for.\n");
    } finally {
      await pool.end();
    }
  }),
);
