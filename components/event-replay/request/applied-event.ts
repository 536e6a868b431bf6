import type { GetReplayResponse } from "@/server/contracts/replay";

/** What other views on the page listen to, to read their own projection again once a replay is committed (ER-UI-23). */
export const APPLIED_EVENT = "portal:event-replay-applied";

export type AppliedDetail = { hostId: string; replayRequestId: string; repairId?: string };

type Applied = Pick<GetReplayResponse, "hostId" | "replayRequestId" | "repairId" | "status" | "projectionCommitted">;

/** Ids alone, and only once the server says that the projection is committed; undefined before, and for everything else. */
export function appliedDetail(request: Applied): AppliedDetail | undefined {
  if (request.status !== "SUCCEEDED" || !request.projectionCommitted) return undefined;
  const { hostId, replayRequestId, repairId } = request;
  return repairId === null ? { hostId, replayRequestId } : { hostId, replayRequestId, repairId };
}

/** A function that tells `target` of each committed request once, however often it is read; true when it did. */
export function makeAnnouncer(target: Pick<EventTarget, "dispatchEvent">): (request: Applied) => boolean {
  const told = new Set<string>();
  return (request) => {
    const detail = appliedDetail(request);
    if (!detail) return false;
    const key = `${detail.hostId} ${detail.replayRequestId}`;
    if (told.has(key)) return false;
    told.add(key);
    target.dispatchEvent(new CustomEvent<AppliedDetail>(APPLIED_EVENT, { detail }));
    return true;
  };
}
