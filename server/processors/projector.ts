import { assertReferencedVersions } from "@/server/event-replay/append/referenced-versions";
import { LiveProjector } from "@/server/event-replay/live/live-projector";
import { startWebhookSender } from "@/server/governance/approver-webhook/sender";
import { readWebhookSettings } from "@/server/governance/approver-webhook/settings";
import { readProcessorConfig } from "@/server/platform/config";
import { ConfigError } from "@/server/platform/config-error";
import { warnOfRights } from "@/server/platform/db/database-role";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";
import { guardCrashes } from "@/server/platform/guard-output";
import { log } from "@/server/platform/log";
import { withDemoDefect } from "@/server/portal/demo/defect";
import { portalProjection } from "@/server/portal/portal-projection";
import { startScrapeServer } from "@/server/processors/scrape-server";

/**
 * Process: live projection of the example portal from the PostgreSQL outbox. Any number may run. It refuses to start on half a
 * schema (ER-DEP-02), has no switch beside the normal source setting, and holds no replay thread (ER-DEP-04). With WEBHOOK_URL
 * set it also tells approvers of plans that await them.
 */
async function main(): Promise<void> {
  guardCrashes({ exit: true });
  const config = readProcessorConfig(process.env);
  if (config.eventSource !== "database") {
    throw new ConfigError(
      "EVENT_SOURCE",
      "This process projects the PostgreSQL outbox; EVENT_SOURCE must be database.",
    );
  }
  const webhook = readWebhookSettings(process.env);
  const pool = createPool(config.databaseUrl, { max: LANES + 3, name: "projector" });
  await assertSchema(pool);
  await warnOfRights(pool, config.demo);
  const definition = config.demo ? withDemoDefect(portalProjection()) : portalProjection();
  await assertReferencedVersions(pool, definition.registries);
  const projector = new LiveProjector(pool, definition, {
    databaseUrl: config.databaseUrl,
    lanes: LANES,
    onEvent: (event) => {
      if (event.kind === "retry") {
        log.warn("live projection waits and tries again", {
          code: event.error,
          delayMs: event.delayMs,
          partition: event.partitionId,
        });
      } else if (event.captured > 0) {
        log.warn("failed transactions captured", { partition: event.partitionId, count: event.captured });
      }
    },
  });
  await projector.start();
  const scrape = config.metricsPort === null ? null : await startScrapeServer(config.metricsPort);
  const notices = webhook === null ? null : startWebhookSender(pool, webhook);
  log.info("live projection runs", { component: "projector" });

  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info("live projection stops", { signal });
    scrape?.close();
    await notices?.stop();
    await projector.stop();
    await pool.end();
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

const LANES = 4;

main().catch((error: unknown) => {
  // These name what is missing in our own words; anything else is reduced to its class.
  const text =
    error instanceof Error && ["ConfigError", "SchemaError", "ReferencedVersionMissing"].includes(error.name)
      ? error.message
      : "see the log";
  process.stderr.write(`The projector can't start: ${text}\n`);
  process.exitCode = 1;
  setImmediate(() => process.exit());
});
