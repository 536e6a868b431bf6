import type { FieldError } from "@/server/contracts/errors";
import { readEvent } from "@/server/event-replay/registry/domain/read-event";
import { encodeAggregateScopeKey } from "@/server/event-replay/registry/domain/scopes";
import { AppError } from "@/server/platform/errors";
import { newId } from "@/server/platform/ids";
import { requireAppended } from "./append-errors";
import { type AppendDeps, refused, runAppend } from "./append-transaction";
import { prepareTransaction } from "./domain/prepare";
import { type AggregateRef, type AppendTargets, aggregateKey, type PreparedTransaction } from "./domain/prepared";

export type CommandChange = {
  readonly eventType: string;
  readonly schemaVersion?: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** Last version the caller has seen; 0 = the aggregate must not exist. Absent: whatever is stored. */
  readonly expectedVersion?: number;
  readonly data: Readonly<Record<string, unknown>>;
};

export type Command = {
  readonly hostId: string;
  /** Canonical UUID of the acting user; null for the system's own commands. */
  readonly userId: string | null;
  /** CloudEvent source. */
  readonly source?: string;
  readonly changes: readonly CommandChange[];
};

export type CommandResult = {
  readonly transactionId: string;
  readonly firstOffset: number;
  readonly events: readonly { eventId: string; aggregateType: string; aggregateId: string; aggregateVersion: number }[];
};

const COMMAND_SOURCE = "urn:event-admin:command";

/**
 * Appends what an interactive command decided, as one transaction. Versions are taken under the aggregates' locks (stored
 * last + 1, rising within the command), ids are new, `time` is the database's. Goes through the same boundary as every other
 * producer. Throws what `appendTransaction` throws; an expected version that isn't the stored one is INVALID_REQUEST with
 * VERSION_CONFLICT, and a blocked aggregate is reported before that.
 */
export async function appendCommand(deps: AppendDeps, command: Command): Promise<CommandResult> {
  const [result] = await appendCommands(deps, [command]);
  if (!result) throw new Error("a command ended without an outcome");
  return result;
}

/**
 * Several commands as that many transactions, in their order and in one commit: a later one may change what an earlier one
 * made. One refused or blocked command refuses all.
 */
export async function appendCommands(deps: AppendDeps, commands: readonly Command[]): Promise<CommandResult[]> {
  if (commands.length === 0 || commands.some(({ changes }) => changes.length === 0))
    throw refused("INVALID_REQUEST", { errors: [{ field: "", rule: "TRANSACTION_EMPTY" }] });
  const aggregates = aggregatesOf(commands);
  const targets: AppendTargets = { roots: [], aggregates, events: [], transactions: [] };
  const outcome = await runAppend(deps, "append-command", {
    targets,
    guard: () =>
      aggregates.map(({ hostId, aggregateType, aggregateId }) => ({
        hostId,
        type: "AGGREGATE",
        key: encodeAggregateScopeKey(aggregateType, aggregateId),
      })),
    compose(stored) {
      const versions = new Map(
        aggregates.map((aggregate, n) => [aggregateKey(aggregate), stored.lastVersions.get(n) ?? 0]),
      );
      return commands.map((command) => compose(deps, command, versions, stored.now));
    },
    allowVersionJump: false,
  });
  return requireAppended(outcome).appended.map(({ transaction, firstOffset }) => ({
    transactionId: transaction.transactionId,
    firstOffset,
    events: transaction.members.map(({ event }) => ({
      eventId: event.eventId,
      aggregateType: event.aggregateType as string,
      aggregateId: event.aggregateId as string,
      aggregateVersion: event.aggregateVersion as number,
    })),
  }));
}

function aggregatesOf(commands: readonly Command[]): AggregateRef[] {
  const byKey = new Map<string, AggregateRef>();
  for (const { hostId, changes } of commands) {
    for (const { aggregateType, aggregateId } of changes) {
      const aggregate = { hostId, aggregateType, aggregateId };
      byKey.set(aggregateKey(aggregate), aggregate);
    }
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, aggregate]) => aggregate);
}

function compose(deps: AppendDeps, command: Command, versions: Map<string, number>, now: string): PreparedTransaction {
  const errors: FieldError[] = [];
  const members = command.changes.flatMap((change, member) => {
    const key = aggregateKey({ hostId: command.hostId, ...change });
    const last = versions.get(key) as number;
    if (change.expectedVersion !== undefined && change.expectedVersion !== last) {
      errors.push({ field: "/aggregateVersion", rule: "VERSION_CONFLICT", member });
    }
    versions.set(key, last + 1);
    const reading = readEvent(cloudEvent(command, change, last + 1, now), member);
    if (reading.ok) return [{ envelope: reading.envelope }];
    errors.push(...reading.errors);
    return [];
  });
  if (errors.length > 0) throw refused("INVALID_REQUEST", { errors });
  const preparation = prepareTransaction(deps.projection.registries, {
    stage: "COMMAND_APPEND",
    transactionId: newId(),
    explicitId: false,
    members,
    isImport: false,
  });
  if (!preparation.ok) throw new AppError(preparation.code, { errors: preparation.errors });
  return preparation.transaction;
}

function cloudEvent(command: Command, change: CommandChange, version: number, time: string): string {
  return JSON.stringify({
    specversion: "1.0",
    id: newId(),
    source: command.source ?? COMMAND_SOURCE,
    type: change.eventType,
    time,
    subject: change.aggregateId,
    datacontenttype: "application/json",
    host: command.hostId,
    ...(command.userId === null ? {} : { user: command.userId }),
    aggregatetype: change.aggregateType,
    aggregateversion: version,
    ...(change.schemaVersion === undefined ? {} : { eventschema: change.schemaVersion }),
    data: change.data,
  });
}
