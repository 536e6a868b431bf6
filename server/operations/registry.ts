import type { OperationContract } from "@/server/contracts/operation";
import { executionOperations } from "@/server/event-replay/execution/operations";
import { failureOperations } from "@/server/event-replay/failures/operations";
import { planningOperations } from "@/server/event-replay/planning/operations";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { auditOperations } from "@/server/governance/audit-trail/operations";
import { notificationOperations } from "@/server/notifications/operations";
import type { BoundOperation } from "@/server/platform/http/operation-context";
import { portalOperations } from "@/server/portal/operations";
import { demoOperations } from "./demo-operations";
import { responseProblems } from "./response-guard";

/** Every published operation, one entry each: what is not here doesn't exist on any surface. */
const ALL: readonly BoundOperation<ReplayContext>[] = [
  ...failureOperations,
  ...planningOperations,
  ...executionOperations,
  ...notificationOperations,
  ...auditOperations,
  ...portalOperations,
  ...demoOperations,
];

const checked = new WeakSet<OperationContract>();

/**
 * The registry by published name. Demo operations exist in demo mode only. Throws when an answer could carry a payload-like
 * member, so that such an operation can't be served (ER-PAY-10).
 */
export function operations(demo: boolean): ReadonlyMap<string, BoundOperation<ReplayContext>> {
  const byName = new Map<string, BoundOperation<ReplayContext>>();
  for (const operation of ALL) {
    const { name, demoOnly } = operation.contract;
    if (byName.has(name)) throw new Error(`operation ${name} is published twice`);
    const [problem] = checked.has(operation.contract) ? [] : responseProblems(operation.contract);
    if (problem !== undefined) throw new Error(`an answer could carry what never leaves: ${problem}`);
    checked.add(operation.contract);
    if (demo || !demoOnly) byName.set(name, operation);
  }
  return byName;
}

/** All contracts in order of name. */
export function contracts(): readonly OperationContract[] {
  return ALL.map((operation) => operation.contract).sort((a, b) => (a.name < b.name ? -1 : 1));
}
