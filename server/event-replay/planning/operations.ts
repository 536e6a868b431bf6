import {
  approveEventReplay as approveContract,
  cancelEventReplay as cancelContract,
  createEventReplayPlan as createContract,
  getEventReplay as getContract,
} from "@/server/contracts/replay";
import { listEventReplay as listContract } from "@/server/contracts/replay-list";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { approveEventReplay } from "./approve-event-replay";
import { cancelEventReplay } from "./cancel-event-replay";
import { createEventReplayPlan } from "./create-event-replay-plan";
import { getEventReplay } from "./get-event-replay";
import { listEventReplay } from "./list-event-replay";

/** Plans and decisions on them, as published. */
export const planningOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(createContract, createEventReplayPlan),
  bindOperation(getContract, getEventReplay),
  bindOperation(listContract, listEventReplay),
  bindOperation(approveContract, approveEventReplay),
  bindOperation(cancelContract, cancelEventReplay),
];
