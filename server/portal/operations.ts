import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { COMMANDS } from "./commands/commands";
import { runCommand } from "./commands/run-command";

/** The portal's commands for the operations registry. */
export const portalOperations: readonly BoundOperation<ReplayContext>[] = COMMANDS.map((definition) =>
  bindOperation(definition.contract, (ctx: ReplayContext, request) =>
    runCommand(ctx, ctx.actor, definition, request as Readonly<Record<string, unknown>>),
  ),
);
