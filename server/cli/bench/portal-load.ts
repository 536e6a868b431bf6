import { appendCommand, type Command } from "@/server/event-replay/append/append-command";
import type { AppendDeps } from "@/server/event-replay/append/append-transaction";
import { hostOfLane } from "./outbox-data";

/** Hosts of four lanes share the load. */
export const LOAD_LANES = [1, 6, 11, 15] as const;

/** A command that creates one role of its own. */
export function createRole(roleId: string, lane: number): Command {
  return command(lane, "Role", "Created", roleId, { roleId, roleDesc: `Role ${roleId}` });
}

export function updateRole(roleId: string, lane: number, n: number): Command {
  return command(lane, "Role", "Updated", roleId, { roleId, roleDesc: `Role ${roleId}, change ${n}` });
}

/** Names a role that nobody made: accepted by the append boundary, refused by the projection's foreign key. */
export function assignMissingRole(roleId: string, lane: number): Command {
  const data = { roleId, userId: "01964b05-5532-7c79-8cde-191dcbd421b8" };
  return command(lane, "RoleUser", "Created", `${roleId}|${data.userId}`, data);
}

function command(
  lane: number,
  aggregateType: string,
  verb: string,
  aggregateId: string,
  data: Readonly<Record<string, unknown>>,
): Command {
  const hostId = hostOfLane(lane);
  const change = { aggregateType, aggregateId, eventType: `${aggregateType}${verb}Event`, data: { hostId, ...data } };
  return { hostId, userId: null, source: "urn:event-admin:bench", changes: [change] };
}

/** Appends through the product's own boundary. */
export async function append(deps: AppendDeps, item: Command): Promise<void> {
  await appendCommand(deps, item);
}
