import { z } from "zod";
import { count, timestamp, uuid } from "./fields";
import { defineOperation } from "./operation";

/** Demo mode's buttons: a planted database defect that makes a share of the changes fail. Absent outside demo mode. */
const request = z.strictObject({ hostId: uuid });

const demoState = {
  /** Whether the defect is on. */
  broken: z.boolean(),
  sinceTs: timestamp.nullable(),
} as const;

export const getDemoState = defineOperation({
  name: "getDemoState",
  kind: "query",
  summary: "Tell whether the demo defect is on.",
  request,
  response: z.strictObject({
    ...demoState,
    /** Whether the viewer may turn the defect on and off. */
    mayChange: z.boolean(),
  }),
  errors: [],
  demoOnly: true,
});

export const breakDemoProjection = defineOperation({
  name: "breakDemoProjection",
  kind: "command",
  summary: "Turn the demo defect on and append a few dozen realistic changes.",
  request,
  response: z.strictObject({
    ...demoState,
    /** Transactions appended now; those on blocked scopes are refused and counted apart. */
    appended: count,
    refused: count,
  }),
  errors: [],
  demoOnly: true,
});

export const fixDemoProjection = defineOperation({
  name: "fixDemoProjection",
  kind: "command",
  summary: "Turn the demo defect off. Captured failures stay until someone replays them.",
  request,
  response: z.strictObject(demoState),
  errors: [],
  demoOnly: true,
});
