import {
  type AuditItem,
  type ExportAuditRequest,
  type ExportAuditResponse,
  MAX_EXPORT,
} from "@/server/contracts/audit";
import { audit } from "@/server/governance/audit";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import type { OperationContext } from "@/server/platform/http/operation-context";
import { auditItems } from "./audit-items";
import { csvFile } from "./domain/csv";
import { loadAudit, loadNow } from "./repository";

/** The newest 10,000 matching records as a file, oldest first. Who exported how many is recorded in the same transaction. */
export async function exportAuditEvent(
  ctx: OperationContext,
  request: ExportAuditRequest,
): Promise<ExportAuditResponse> {
  return await inTransaction(
    ctx.pool,
    "exportAuditEvent",
    async (tx) => {
      const rows = await loadAudit(tx, ctx.hostId, request, MAX_EXPORT + 1, null);
      const kept = rows.slice(0, MAX_EXPORT).reverse();
      const items = await auditItems(tx, ctx.hostId, ctx.actor.personId, kept);
      await audit(tx, {
        hostId: ctx.hostId,
        event: "AUDIT_EXPORTED",
        actor: { type: "USER", personId: ctx.actor.personId },
        details: { format: request.format, records: items.length },
      });
      const asOf = toIso(await loadNow(tx));
      const csv = request.format === "CSV";
      return {
        asOf,
        fileName: `audit-${asOf.slice(0, 19).replaceAll(":", "")}Z.${csv ? "csv" : "json"}`,
        mediaType: csv ? ("text/csv" as const) : ("application/json" as const),
        records: items.length,
        truncated: rows.length > MAX_EXPORT,
        file: csv ? csvFile(HEAD, items.map(cells)) : `${JSON.stringify(items, null, 1)}\n`,
      };
    },
    { statementTimeoutMs: 20_000 },
  );
}

const HEAD = [
  "chain_no",
  "at",
  "event",
  "actor_type",
  "actor",
  "actor_name",
  "replay_request_id",
  "failure_id",
  "barrier_id",
  "reason",
  "facts",
  "failure_ids",
  "audit_id",
  "chain_digest",
];

function cells(item: AuditItem): string[] {
  return [
    String(item.chainNo),
    item.at,
    item.event,
    item.actorType,
    item.actor.personId,
    item.actor.name ?? "",
    item.replayRequestId ?? "",
    item.failureId ?? "",
    item.barrierId ?? "",
    item.reason ?? "",
    item.facts.map(({ name, text }) => `${name}: ${text}`).join("; "),
    item.failureIds.join(" "),
    item.auditId,
    item.chainDigest,
  ];
}
