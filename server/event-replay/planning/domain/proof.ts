import type { ReplayLane } from "@/server/contracts/replay";

/** What one item of a plan writes in one scope, and whether it is done. */
export type LaneStep = { readonly ordinal: number; readonly lastVersion: number; readonly succeeded: boolean };

export type Verdict = ReplayLane["verdict"];

/**
 * Whether a scope stands where the plan and its finished items say (reference: proof after the run). UNCHANGED: nothing of the
 * plan is done here. PARTLY_DONE: exactly the finished items. AS_PLANNED: exactly `after`. MOVED_ON: all of the plan, and
 * parked or live work since. MOVED_OTHERWISE: something that this plan didn't do.
 */
export function laneVerdict(
  before: number | null,
  after: number,
  now: number | null,
  steps: readonly LaneStep[],
): Verdict {
  const done = steps.filter((step) => step.succeeded).map((step) => step.lastVersion);
  const reached = done.length === 0 ? before : Math.max(...done);
  if (now === reached) return reached === after ? "AS_PLANNED" : reached === before ? "UNCHANGED" : "PARTLY_DONE";
  return reached === after && now !== null && now > after ? "MOVED_ON" : "MOVED_OTHERWISE";
}
