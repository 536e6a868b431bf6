import { safePgError } from "@/server/platform/db/pg-errors";
import type { Pool } from "@/server/platform/db/pool";
import { log } from "@/server/platform/log";
import { sendNotices } from "./send-notices";
import type { WebhookSettings } from "./settings";

const PAUSE_MS = 5_000;

/**
 * Sends notices until it is stopped, one round after another. Runs in a process that works in the background anyway, never in
 * the one that answers requests. `stop` waits for the round in progress.
 */
export function startWebhookSender(pool: Pool, settings: WebhookSettings): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      try {
        if ((await sendNotices(pool, settings)) > 0) continue;
      } catch (error) {
        log.warn("the approver webhook waits and tries again", { code: safePgError(error)?.sqlState ?? "INTERNAL" });
      }
      await pause(ending.signal);
    }
  })();
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}

function pause(ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    ended.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
