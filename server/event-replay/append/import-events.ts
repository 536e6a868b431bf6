import { stat } from "node:fs/promises";
import type { ErrorCode, FieldError } from "@/server/contracts/errors";
import { readEvent } from "@/server/event-replay/registry/domain/read-event";
import { scopeId, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import type { AppendOutcome } from "./append-prepared";
import { type AppendDeps, runAppend } from "./append-transaction";
import { scopesToGuard } from "./domain/decide";
import { type Proposal, prepareTransaction } from "./domain/prepare";
import { type PreparedTransaction, targetsOf } from "./domain/prepared";
import { ImportGroups } from "./import-groups";
import { readLines } from "./read-lines";

/** All files of one import. Its events are held as canonical bytes until the one commit. */
export const MAX_IMPORT_BYTES = 256 * 1024 * 1024;
/** Refused lines that are kept for the report; all are counted. */
export const MAX_REPORTED_LINES = 100;

/**
 * Between two statements an import decides over all its lines and builds the next chunk, silent towards the server. That takes
 * longer than a command's transaction may be silent.
 */
const IMPORT_TRANSACTION = { statementTimeoutMs: 300_000, lockTimeoutMs: 60_000, idleTimeoutMs: 600_000 } as const;

export type RefusedLine = {
  readonly file: string;
  /** Null: the file as a whole. */
  readonly line: number | null;
  readonly code: ErrorCode;
  readonly field: string;
  readonly rule: string;
};

export type ImportReport =
  | {
      readonly kind: "IMPORTED";
      readonly lines: number;
      readonly appendedEvents: number;
      readonly appendedTransactions: number;
      readonly storedBefore: number;
      readonly jumps: readonly {
        readonly file: string;
        readonly line: number;
        readonly from: number;
        readonly to: number;
      }[];
    }
  | { readonly kind: "REFUSED"; readonly refusedLines: number; readonly refused: readonly RefusedLine[] };

export type ImportProgress = {
  readonly phase: "validating" | "appending";
  readonly done: number;
  readonly all: number;
};

/**
 * Appends files of one CloudEvent a line, in their order, all or nothing: every line is judged against the registry, then
 * against what is stored, before the first row is written; offsets are reserved last; one commit (design §3 Import). Each event is
 * its own transaction unless its extensions `transactionid`, `transactionordinal`, `transactioncount` say otherwise; members
 * of one transaction are adjacent lines. Events stored already with the same content are skipped, so a second import changes
 * nothing. A version jump is pinned as `versionbaseline` and reported. Reports hold places, codes and rules, never a value.
 */
export async function importEvents(
  deps: AppendDeps,
  files: readonly string[],
  onProgress: (progress: ImportProgress) => void = () => undefined,
): Promise<ImportReport> {
  const places = new Places();
  const refusals = new Refusals(places);
  const { transactions, lines } = await readAll(deps, files, places, refusals, onProgress);
  if (refusals.count > 0) return refusals.report();
  const targets = targetsOf(transactions);
  const outcome = await runAppend(
    deps,
    "import",
    {
      targets,
      guard: (stored) => scopesToGuard(transactions, targets, stored),
      compose: () => transactions,
      allowVersionJump: true,
      progress: (done, all) => onProgress({ phase: "appending", done, all }),
    },
    IMPORT_TRANSACTION,
  );
  return report(outcome, transactions, lines, places, refusals);
}

async function readAll(
  deps: AppendDeps,
  files: readonly string[],
  places: Places,
  refusals: Refusals,
  onProgress: (progress: ImportProgress) => void,
): Promise<{ transactions: PreparedTransaction[]; lines: number }> {
  const transactions: PreparedTransaction[] = [];
  const all = (await Promise.all(files.map((file) => stat(file)))).reduce((sum, { size }) => sum + size, 0);
  const judge = (proposal: Proposal) => {
    const preparation = prepareTransaction(deps.projection.registries, proposal);
    if (preparation.ok) transactions.push(preparation.transaction);
    else refusals.addAll(preparation.code, preparation.errors);
  };
  const groups = new ImportGroups(judge, (line, code, rule) => refusals.add(line, code, "/transactionid", rule));
  let done = 0;
  let lines = 0;
  for (const file of files) {
    places.open(file);
    if (all > MAX_IMPORT_BYTES) {
      refusals.addFile("REPLAY_LIMIT_EXCEEDED", "IMPORT_TOO_LARGE");
      break;
    }
    for await (const { line: lineOfFile, bytes } of readLines(file, (read) => {
      done += read;
      onProgress({ phase: "validating", done, all });
    })) {
      lines++;
      const line = places.at(lineOfFile);
      if (bytes === null) {
        refusals.add(line, "REPLAY_LIMIT_EXCEEDED", "", "LINE_TOO_LONG");
        continue;
      }
      const reading = readEvent(bytes);
      if (reading.ok) groups.add(reading.envelope, line, bytes.length);
      else
        refusals.addAll(
          "INVALID_REQUEST",
          reading.errors.map((error) => ({ ...error, line })),
        );
    }
    groups.end();
  }
  return { transactions, lines };
}

function report(
  outcome: AppendOutcome,
  transactions: readonly PreparedTransaction[],
  lines: number,
  places: Places,
  refusals: Refusals,
): ImportReport {
  if (outcome.kind === "REFUSED") {
    refusals.addAll("INVALID_REQUEST", outcome.errors);
    return refusals.report();
  }
  if (outcome.kind === "BLOCKED") {
    const held = new Set(outcome.held.map((scope) => `${scope.hostId} ${scopeId(scope)}`));
    for (const { event, line } of transactions.flatMap(({ members }) => members)) {
      if (!scopesOfEvent(event).some((scope) => held.has(`${event.hostId} ${scopeId(scope)}`))) continue;
      refusals.add(
        line ?? 0,
        outcome.code,
        event.rootInstanceId === null ? "/subject" : "/rootinstanceid",
        "SCOPE_BLOCKED",
      );
    }
    return refusals.report();
  }
  const events = (list: readonly { transaction: PreparedTransaction }[]) =>
    list.reduce((sum, { transaction }) => sum + transaction.members.length, 0);
  return {
    kind: "IMPORTED",
    lines,
    appendedEvents: events(outcome.appended),
    appendedTransactions: outcome.appended.length,
    storedBefore: events(outcome.duplicates),
    jumps: outcome.jumps.map(({ line, from, to }) => ({ ...places.of(line ?? 0), from, to })),
  };
}

/** One running number over the lines of all files, and back. */
class Places {
  private readonly files: { readonly file: string; readonly start: number }[] = [];
  private last = 0;

  open(file: string): void {
    this.files.push({ file, start: this.last });
  }

  at(lineOfFile: number): number {
    this.last = (this.files.at(-1)?.start ?? 0) + lineOfFile;
    return this.last;
  }

  of(line: number): { file: string; line: number } {
    const place = this.files.findLast(({ start }) => start < line) ?? { file: "", start: 0 };
    return { file: place.file, line: line - place.start };
  }

  current(): string {
    return this.files.at(-1)?.file ?? "";
  }
}

class Refusals {
  private readonly kept: RefusedLine[] = [];
  private readonly lines = new Set<number>();
  private whole = 0;

  constructor(private readonly places: Places) {}

  get count(): number {
    return this.lines.size + this.whole;
  }

  add(line: number, code: ErrorCode, field: string, rule: string): void {
    this.lines.add(line);
    if (this.kept.length < MAX_REPORTED_LINES) this.kept.push({ ...this.places.of(line), code, field, rule });
  }

  addAll(code: ErrorCode, errors: readonly FieldError[]): void {
    for (const { line, field, rule } of errors) this.add(line ?? 0, code, field, rule);
  }

  addFile(code: ErrorCode, rule: string): void {
    this.whole++;
    this.kept.push({ file: this.places.current(), line: null, code, field: "", rule });
  }

  report(): ImportReport {
    return { kind: "REFUSED", refusedLines: this.count, refused: this.kept };
  }
}
