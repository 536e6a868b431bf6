import { exportAuditEvent as exportContract, listAuditEvent as listContract } from "@/server/contracts/audit";
import { type BoundOperation, bindOperation } from "@/server/platform/http/operation-context";
import { exportAuditEvent } from "./export-audit-event";
import { listAuditEvent } from "./list-audit-event";

export const auditOperations: readonly BoundOperation[] = [
  bindOperation(listContract, listAuditEvent),
  bindOperation(exportContract, exportAuditEvent),
];
