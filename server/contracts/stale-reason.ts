import { z } from "zod";
import { uuid } from "./fields";
import { scopeKey, scopeType } from "./read-fields";

/** One precondition of a plan that no longer holds: what moved, where. */
export const staleReason = z.strictObject({
  code: z.enum([
    "FAILURE_NOT_OPEN",
    "FAILURE_CHANGED",
    "SCOPE_MOVED",
    "REGISTRY_CHANGED",
    "PAYLOAD_GONE",
    "REPAIR_PROPOSED",
    "REPAIR_CHANGED",
  ]),
  message: z.string().max(240),
  failureId: uuid.optional(),
  scopeType: scopeType.optional(),
  scopeKey: scopeKey.optional(),
});
export type StaleReason = z.output<typeof staleReason>;
