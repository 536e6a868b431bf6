import type { CommandResponse } from "@/server/contracts/portal";
import { appendCommand, type CommandChange } from "@/server/event-replay/append/append-command";
import type { AppendDeps } from "@/server/event-replay/append/append-transaction";
import { AppError } from "@/server/platform/errors";
import { isCanonicalUuid, newId } from "@/server/platform/ids";
import type { CommandDefinition, CommandEffect } from "./commands";
import { type AggregateStanding, loadStanding } from "./repository";

/** Who acts, on the only host that is theirs. */
export type CommandActor = { readonly hostId: string; readonly userId: string };

/** A change that met another one is tried on the newer version, as long as the caller named no version. */
const ATTEMPTS = 3;

/**
 * Runs one interactive command: the validated request becomes one event of one aggregate, appended through the boundary every
 * producer uses (ER-APP-18, 40). Throws what the append throws, and INVALID_REQUEST with ALREADY_EXISTS, NOT_FOUND or
 * VERSION_CONFLICT. A blocked aggregate is reported before any of these.
 */
export async function runCommand(
  deps: AppendDeps,
  actor: CommandActor,
  definition: CommandDefinition,
  request: Readonly<Record<string, unknown>>,
): Promise<CommandResponse> {
  const { aggregateVersion: seen, ...data } = { ...request, ...(definition.newId && { [definition.newId]: newId() }) };
  const expected = seenVersion(seen);
  const aggregateId = definition.id.map((member) => String((data as Record<string, unknown>)[member])).join("|");
  const change: CommandChange = {
    eventType: definition.eventType,
    aggregateType: definition.aggregateType,
    aggregateId,
    data: { ...data, ...definition.fixed },
  };
  for (let attempt = 1; ; attempt++) {
    const standing = await loadStanding(deps.pool, actor.hostId, definition.aggregateType, aggregateId);
    const rule = brokenRule(definition.effect, standing);
    // A broken rule becomes a version that can't be: the append reports a blocked aggregate first, then the conflict.
    const expectedVersion = rule === null ? (expected ?? standing.version) : standing.version + 1;
    try {
      const userId = isCanonicalUuid(actor.userId) ? actor.userId : null;
      const { transactionId, events } = await appendCommand(deps, {
        hostId: actor.hostId,
        userId,
        changes: [{ ...change, expectedVersion }],
      });
      const [event] = events;
      if (!event) throw new Error("an appended command has no event");
      return { transactionId, eventId: event.eventId, aggregateId, aggregateVersion: event.aggregateVersion };
    } catch (error) {
      if (!isVersionConflict(error)) throw error;
      if (rule !== null) throw new AppError("INVALID_REQUEST", { errors: [{ field: `/${definition.id[0]}`, rule }] });
      if (expected !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

function brokenRule(
  effect: CommandEffect,
  { version, removed }: AggregateStanding,
): "ALREADY_EXISTS" | "NOT_FOUND" | null {
  const exists = version > 0 && !removed;
  if (effect === "CREATE") return exists ? "ALREADY_EXISTS" : null;
  return exists ? null : "NOT_FOUND";
}

function seenVersion(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isVersionConflict(error: unknown): boolean {
  return error instanceof AppError && (error.details.errors ?? []).some(({ rule }) => rule === "VERSION_CONFLICT");
}
