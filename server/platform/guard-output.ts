import { isConnectionLoss, safePgError } from "./db/pg-errors";
import { type Log, log as processLog } from "./log";

/**
 * Errors that nobody of ours caught (a framework's own report, an unhandled rejection, a crash) reach the log as their kind,
 * SQLSTATE and constraint, never as text: a driver puts row values there (ER-PAY-17, ER-OBS-08).
 */

/** The class of an error, or nothing that could be a value: DATABASE, CONNECTION_LOST, a plain class name, UNKNOWN. */
export function errorKind(error: unknown): string {
  if (safePgError(error)) return "DATABASE";
  if (isConnectionLoss(error)) return "CONNECTION_LOST";
  return error instanceof Error && /^[A-Za-z]{1,64}$/.test(error.name) ? error.name : "UNKNOWN";
}

function reduced(error: unknown) {
  const pg = safePgError(error);
  const digest = (error as { digest?: unknown } | null | undefined)?.digest;
  return {
    errorKind: errorKind(error),
    sqlState: pg?.sqlState,
    constraint: pg?.constraint,
    table: pg?.table,
    // What the framework's error page shows instead of the error.
    code: typeof digest === "string" ? digest : undefined,
  };
}

type Output = Pick<Console, "error" | "warn">;

/** From now on `console.error` and `console.warn`, by which frameworks report errors, write reduced lines of the log. */
export function guardConsole(target: Output = console, log: Log = processLog): void {
  const report =
    (level: "error" | "warn") =>
    (...args: unknown[]) =>
      log[level]("reported by the framework", reduced(args.find((arg) => arg instanceof Error) ?? args[0]));
  target.error = report("error");
  target.warn = report("warn");
}

type Process = Pick<NodeJS.Process, "on"> & { exit(code: number): void };

/**
 * A rejection nobody handled, or an exception nobody caught: logged reduced. `exit` ends the process after it, since its state is
 * unknown; a web server goes on with its other requests, as its framework does.
 */
export function guardCrashes(
  { exit }: { readonly exit: boolean },
  target: Process = process as Process,
  log: Log = processLog,
): void {
  const report = (error: unknown) => {
    log.error("unexpected error", reduced(error));
    if (exit) target.exit(1);
  };
  target.on("unhandledRejection", report);
  target.on("uncaughtException", report);
}
