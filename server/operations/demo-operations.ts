import * as contracts from "@/server/contracts/demo";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { inTransaction } from "@/server/platform/db/transaction";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { breakDemoProjection, fixDemoProjection } from "@/server/portal/demo/break-projection";
import { readDefect } from "@/server/portal/demo/repository";

/** The demo's buttons. `npm run demo` does the same from a terminal. */
export const demoOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(contracts.getDemoState, async (ctx: ReplayContext) => ({
    ...(await inTransaction(ctx.pool, "getDemoState", readDefect, { readOnly: true })),
    mayChange: ctx.may("breakDemoProjection") && ctx.may("fixDemoProjection"),
  })),
  bindOperation(contracts.breakDemoProjection, (ctx: ReplayContext) => breakDemoProjection(ctx, ctx.hostId)),
  bindOperation(contracts.fixDemoProjection, (ctx: ReplayContext) => fixDemoProjection(ctx)),
];
