import type { ListAuditRequest, ListAuditResponse } from "@/server/contracts/audit";
import { decodeCursor, encodeCursor, isDatabaseInstant } from "@/server/platform/cursor";
import { toIso } from "@/server/platform/db/timestamps";
import { inTransaction } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import type { OperationContext } from "@/server/platform/http/operation-context";
import { isCanonicalUuid } from "@/server/platform/ids";
import { auditItems } from "./audit-items";
import { loadAudit, loadNow } from "./repository";

/** The host's audit trail, newest first, a page a call. INVALID_REQUEST for a cursor of another host or other filters. */
export async function listAuditEvent(ctx: OperationContext, request: ListAuditRequest): Promise<ListAuditResponse> {
  const { from, to, actorId, events, replayRequestId, failureId, subjectId } = request;
  const binding = [
    "listAuditEvent",
    ctx.hostId,
    ...[from, to, actorId, replayRequestId, failureId, subjectId].map((part) => part ?? null),
    [...(events ?? [])].sort(),
  ];
  const after = request.cursor === undefined ? null : readPosition(binding, request.cursor);
  return await inTransaction(
    ctx.pool,
    "listAuditEvent",
    async (tx) => {
      const rows = await loadAudit(tx, ctx.hostId, request, request.pageSize + 1, after);
      const page = rows.slice(0, request.pageSize);
      const last = rows.length > request.pageSize ? page.at(-1) : undefined;
      return {
        asOf: toIso(await loadNow(tx)),
        items: await auditItems(tx, ctx.hostId, ctx.actor.personId, page),
        nextCursor: last === undefined ? null : encodeCursor(binding, [last.createdTs, last.auditId]),
        mayExport: ctx.may("exportAuditEvent"),
      };
    },
    { readOnly: true, statementTimeoutMs: 5_000 },
  );
}

function readPosition(
  binding: Parameters<typeof decodeCursor>[0],
  cursor: string,
): { readonly ts: string; readonly auditId: string } {
  const [ts, auditId] = decodeCursor(binding, cursor, 2) ?? [];
  if (ts !== undefined && auditId !== undefined && isDatabaseInstant(ts) && isCanonicalUuid(auditId)) {
    return { ts, auditId };
  }
  throw new AppError("INVALID_REQUEST", { errors: [{ field: "/cursor", rule: "FOREIGN_CURSOR" }] });
}
