import { appendCommands } from "@/server/event-replay/append/append-command";
import type { AppendDeps } from "@/server/event-replay/append/append-transaction";
import { DEMO_HOST_ID, OTHER_DEMO_HOST_ID } from "./identities";
import { hasEvents } from "./repository";
import { sampleCommands } from "./sample";

/**
 * Gives each demo host that has no event yet a small portal of its own, in one commit per host: a second call changes
 * nothing. Returns the number of appended transactions.
 */
export async function loadSample(deps: AppendDeps): Promise<number> {
  let appended = 0;
  for (const hostId of [DEMO_HOST_ID, OTHER_DEMO_HOST_ID]) {
    if (await hasEvents(deps.pool, hostId)) continue;
    appended += (await appendCommands(deps, sampleCommands(hostId))).length;
  }
  return appended;
}
