import {
  listEventReplayCandidate as candidateContract,
  listEventReplayCandidateIds as candidateIdsContract,
  listEventReplayCause as causeContract,
  checkEventReplaySelection as checkSelectionContract,
  getEventReplayFailure as failureContract,
} from "@/server/contracts/failures";
import {
  listEventReplayBlockedScope as blockedScopeContract,
  getEventReplayOverview as overviewContract,
} from "@/server/contracts/overview";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { checkEventReplaySelection, listEventReplayCandidateIds } from "./frozen-selection";
import { getEventReplayFailure } from "./get-event-replay-failure";
import { getEventReplayOverview } from "./get-event-replay-overview";
import { listEventReplayBlockedScope } from "./list-event-replay-blocked-scope";
import { listEventReplayCandidate } from "./list-event-replay-candidate";
import { listEventReplayCause } from "./list-event-replay-cause";

/** Reads of canonical failures, as published. */
export const failureOperations: readonly BoundOperation<ReplayContext>[] = [
  bindOperation(candidateContract, listEventReplayCandidate),
  bindOperation(causeContract, listEventReplayCause),
  bindOperation(candidateIdsContract, listEventReplayCandidateIds),
  bindOperation(checkSelectionContract, checkEventReplaySelection),
  bindOperation(failureContract, getEventReplayFailure),
  bindOperation(overviewContract, getEventReplayOverview),
  bindOperation(blockedScopeContract, listEventReplayBlockedScope),
];
