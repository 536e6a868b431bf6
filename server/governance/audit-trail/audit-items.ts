import type { AuditItem } from "@/server/contracts/audit";
import { loadNames } from "@/server/governance/people";
import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";
import { toWireDigest } from "@/server/platform/digest";
import { factsOf, failureIdsOf } from "./domain/facts";
import type { AuditRow } from "./repository";

/** Rows as their readers see them: names beside persons, only listed facts. */
export async function auditItems(
  tx: Tx,
  hostId: string,
  viewer: string,
  rows: readonly AuditRow[],
): Promise<AuditItem[]> {
  const people = rows.filter((row) => row.actorType === "USER").map((row) => row.actorId);
  const names = await loadNames(tx, hostId, people);
  return rows.map((row) => ({
    auditId: row.auditId,
    chainNo: row.chainNo,
    chainDigest: toWireDigest(row.chainDigest),
    at: toIso(row.createdTs),
    event: row.event,
    actorType: row.actorType,
    actor: { personId: row.actorId, name: names.get(row.actorId) ?? null, isYou: row.actorId === viewer },
    replayRequestId: row.replayRequestId,
    failureId: row.failureId,
    barrierId: row.barrierId,
    reason: row.reason,
    facts: factsOf(row.details),
    failureIds: failureIdsOf(row.details),
  }));
}
