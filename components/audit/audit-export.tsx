"use client";
import { type AuditExport, useExportAudit } from "@/components/api/audit";
import { asProblem } from "@/components/api/problem";
import { Button } from "@/components/ui/button";
import { many } from "@/components/ui/format";

/** Hands a file that the page already holds to the browser's downloads. */
function save(name: string, mediaType: string, file: string): void {
  const url = URL.createObjectURL(new Blob([file], { type: `${mediaType};charset=utf-8` }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** The records of the filters as a file. What came of it stays in words beside the buttons. */
export function AuditExportButtons({
  filter,
  mayExport,
}: {
  filter: Omit<AuditExport, "format">;
  mayExport: boolean | undefined;
}) {
  const run = useExportAudit();
  const reason = mayExport === false ? "Your roles may read the audit, not export it." : undefined;
  const start = (format: "CSV" | "JSON") => {
    if (run.isPending) return;
    run.mutate(
      { ...filter, format },
      { onSuccess: ({ fileName, mediaType, file }) => save(fileName, mediaType, file) },
    );
  };
  return (
    <div className="acts export">
      <span className="row">
        <Button
          small
          aria-disabled={run.isPending || mayExport === undefined}
          disabledReason={reason}
          onClick={() => start("CSV")}
        >
          Export as CSV
        </Button>
        {reason ? null : (
          <Button small aria-disabled={run.isPending || mayExport === undefined} onClick={() => start("JSON")}>
            Export as JSON
          </Button>
        )}
      </span>
      <span className="sm" role="status">
        {run.isPending ? "Reading the records" : null}
        {run.data
          ? `${many(run.data.records, "record")} exported${run.data.truncated ? ", the newest of more: narrow the time for the rest" : ""}. The export is recorded.`
          : null}
        {run.error ? `Not exported. ${asProblem(run.error).message}` : null}
      </span>
    </div>
  );
}
