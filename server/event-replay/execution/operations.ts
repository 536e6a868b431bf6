import {
  executeEventReplay as executeContract,
  processEventReplay as processContract,
} from "@/server/contracts/replay";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { executeEventReplay } from "./execute-event-replay";
import { processEventReplay } from "./process-event-replay";

/** The command that starts an execution, and the internal call it makes (ER-API-20: no other route executes). */
export const executionOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(executeContract, (ctx: ReplayContext, request) => executeEventReplay(ctx, request)),
  bindOperation(processContract, (ctx: ReplayContext, request) => processEventReplay(ctx, request)),
];
