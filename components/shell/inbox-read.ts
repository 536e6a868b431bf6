import type { ReplayFilter } from "@/components/api/replay";

/** The first of what waits for the viewer. Side bar and overview read it as one question, so that it is asked once. */
export const waitingForMe = (hostId: string): ReplayFilter => ({ hostId, view: "WAITING_FOR_ME", pageSize: 5 });
