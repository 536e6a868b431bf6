import { fixDemoProjection, getDemoState } from "@/server/contracts/demo";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { inTransaction } from "@/server/platform/db/transaction";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { readDefect, writeDefect } from "@/server/portal/demo/repository";

/** The demo's buttons. `npm run demo` does the same from a terminal. */
export const demoOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(getDemoState, (ctx: ReplayContext) =>
    inTransaction(ctx.pool, "getDemoState", readDefect, { readOnly: true }),
  ),
  bindOperation(fixDemoProjection, (ctx: ReplayContext) =>
    inTransaction(ctx.pool, "fixDemoProjection", (tx) => writeDefect(tx, false)),
  ),
];
