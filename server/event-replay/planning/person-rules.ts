import type { ReplayContext } from "@/server/event-replay/replay-context";
import { loadOthers, type SeenPerson } from "@/server/governance/people";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";

/** What a person must do, a machine may not, whatever its roles (ER-APR-09). Throws AUTHORIZATION_DENIED. */
export function requirePerson(ctx: ReplayContext): void {
  if (!ctx.actor.human) throw new AppError("AUTHORIZATION_DENIED");
}

/** Everyone seen on the host whose roles may approve a plan, but its requester. Most recently seen first. */
export async function loadEligibleApprovers(tx: Tx, ctx: ReplayContext, requesterId: string): Promise<SeenPerson[]> {
  const others = await loadOthers(tx, ctx.hostId, requesterId);
  return others.filter((person) => ctx.rolesMayCall(person.roles, "approveEventReplay"));
}
