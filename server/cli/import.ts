import { access } from "node:fs/promises";
import { withTargetDatabase } from "@/server/cli/database-target";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { type ImportProgress, type ImportReport, importEvents } from "@/server/event-replay/append/import-events";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";
import { portalProjection } from "@/server/portal/portal-projection";

const REFUSED = 2;

// Exit 0: everything is stored, now or before. Exit 2: refused lines, nothing appended. Exit 1: could not run.
await runCli(async () => {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new CliRefusal("Usage: npm run import -- FILE.ndjson [FILE.ndjson …]");
  for (const file of files) {
    await access(file).catch(() => {
      throw new CliRefusal(`${file} cannot be read.`);
    });
  }
  await withTargetDatabase(async (databaseUrl) => {
    const pool = createPool(databaseUrl, { max: 2, name: "import" });
    try {
      await assertSchema(pool);
      const report = await importEvents({ pool, projection: portalProjection() }, files, progressLine());
      process.stderr.write("\n");
      print(report);
    } finally {
      await pool.end();
    }
  });
});

/** At most one line a tenth of a second on a terminal, else one a phase: logs stay short. */
function progressLine(): (progress: ImportProgress) => void {
  const live = process.stderr.isTTY === true;
  let last = 0;
  let phase = "";
  return (progress) => {
    const now = Date.now();
    const ended = progress.done >= progress.all;
    if (progress.phase === phase && !ended && (!live || now - last < 100)) return;
    if (progress.phase === phase && ended && !live) return;
    if (phase !== "" && progress.phase !== phase) process.stderr.write("\n");
    last = now;
    phase = progress.phase;
    const percent = progress.all === 0 ? 100 : Math.floor((100 * progress.done) / progress.all);
    process.stderr.write(live ? `\r${progress.phase} ${percent} %` : `${progress.phase} …`);
  };
}

function print(report: ImportReport): void {
  if (report.kind === "REFUSED") {
    for (const { file, line, code, field, rule } of report.refused) {
      process.stderr.write(`${file}${line === null ? "" : `:${line}`} ${code} ${field || "/"} ${rule}\n`);
    }
    const more = report.refusedLines - new Set(report.refused.map(({ file, line }) => `${file} ${line}`)).size;
    if (more > 0) process.stderr.write(`… and ${more} more refused lines\n`);
    process.stderr.write(`${report.refusedLines} lines refused. Nothing was appended.\n`);
    process.exitCode = REFUSED;
    return;
  }
  for (const { file, line, from, to } of report.jumps) {
    process.stdout.write(`${file}:${line} version jump from ${from} to ${to}, taken as baseline\n`);
  }
  const stored = report.storedBefore > 0 ? `, ${report.storedBefore} were stored already` : "";
  const summary = `${report.appendedEvents} events appended in ${report.appendedTransactions} transactions${stored}.`;
  process.stdout.write(
    report.appendedEvents === 0 && report.lines > 0
      ? `Nothing to do: all ${report.lines} events are stored already.\n`
      : `${summary}\n`,
  );
}
