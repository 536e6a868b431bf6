import { APPEND_EVENTS } from "@/server/contracts/append";
import type { OperationContract } from "@/server/contracts/operation";
import type { RateClass } from "@/server/platform/http/rate-limit";

/** Operations whose pace is their own; every other goes by its kind. */
const OWN: Readonly<Record<string, RateClass>> = {
  executeEventReplay: "execute",
  processEventReplay: "process",
  exportAuditEvent: "export",
};

/** What a call counts as. A name that isn't published counts as a command. */
export function rateClassOf(operation: OperationContract | typeof APPEND_EVENTS | null): RateClass {
  if (operation === APPEND_EVENTS) return "append";
  if (operation === null) return "command";
  return OWN[operation.name] ?? operation.kind;
}
