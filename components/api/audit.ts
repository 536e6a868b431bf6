import { queryOptions, useMutation } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  ExportAuditResponse,
  exportAuditEventRequest,
  ListAuditResponse,
  listAuditEventRequest,
} from "@/server/contracts/audit";
import { callOperation } from "./call-operation";

export type AuditFilter = z.input<typeof listAuditEventRequest>;
export type AuditExport = z.input<typeof exportAuditEventRequest>;

/** The first page follows what happens; an older one stands still, as the record does. */
export const listAuditEvents = (filter: AuditFilter) =>
  queryOptions({
    queryKey: ["listAuditEvent", filter],
    queryFn: ({ signal }) => callOperation<ListAuditResponse>("listAuditEvent", filter, signal),
    refetchInterval: filter.cursor === undefined ? 15_000 : false,
  });

/** Reads the file once, on the viewer's word: an export is recorded, so it is never repeated by itself. */
export function useExportAudit() {
  return useMutation({
    mutationFn: (request: AuditExport) => callOperation<ExportAuditResponse>("exportAuditEvent", request),
    retry: false,
  });
}
