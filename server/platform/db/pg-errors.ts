/**
 * What we may know of a database error: its SQLSTATE, the names of the constraint and table. Never its message or detail:
 * PostgreSQL puts row values there (ER-PAY-17, ER-OBS-08).
 */
export type SafePgError = {
  readonly sqlState: string;
  readonly constraint: string | null;
  readonly table: string | null;
  readonly column: string | null;
};

type Fields = { code?: unknown; constraint?: unknown; table?: unknown; column?: unknown; cause?: unknown };

/** Five of these characters, at least one a digit: Node's EPIPE is no SQLSTATE. */
const SQLSTATE = /^(?=.*[0-9])[0-9A-Z]{5}$/;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/** Reduces any thrown value to what is safe, or null when it isn't a database error. Looks through wrappers' `cause`. */
export function safePgError(error: unknown): SafePgError | null {
  for (let e = error as Fields | undefined; e && typeof e === "object"; e = e.cause as Fields | undefined) {
    if (typeof e.code === "string" && SQLSTATE.test(e.code)) {
      return {
        sqlState: e.code,
        constraint: identifier(e.constraint),
        table: identifier(e.table),
        column: identifier(e.column),
      };
    }
  }
  return null;
}

/** The connection was lost while the driver was using it. Made only where the driver is called, so no other text can look like it. */
export class ConnectionLostError extends Error {
  constructor(override readonly cause: unknown) {
    super("the database connection was lost");
    this.name = "ConnectionLostError";
  }
}

/** Failover, overload, restart, a pooler that swapped the session, storage trouble: the statement is not to blame. */
const TRANSIENT_CLASSES = ["08", "53", "58"];
const TRANSIENT_STATES = new Set([
  "40001",
  "40P01",
  "55P03",
  "57P01",
  "57P02",
  "57P03",
  "57P05",
  "25P03",
  "25006",
  "26000",
  "42P05",
  "XX001",
  "XX002",
]);
const CONNECTION_CODES = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
/** The driver's own words for a lost connection; it gives them no code. */
const DRIVER_TEXT =
  /connection terminated|client has encountered a connection error|not queryable|timeout exceeded when trying to connect|connection ended/i;

/**
 * True when the work itself is not to blame and the same work may succeed later: it is retried, never captured (design §3).
 * 57014 (cancelled) is not here: a cancelled statement is judged by the caller.
 */
export function isTransient(error: unknown): boolean {
  const pg = safePgError(error);
  if (pg) return TRANSIENT_CLASSES.includes(pg.sqlState.slice(0, 2)) || TRANSIENT_STATES.has(pg.sqlState);
  return isConnectionLoss(error);
}

/** The connection is gone or was never made; whether a COMMIT in flight took effect is unknown. */
export function isConnectionLoss(error: unknown): boolean {
  for (let e = error as Fields | undefined; e && typeof e === "object"; e = e.cause as Fields | undefined) {
    if (e instanceof ConnectionLostError) return true;
    if (typeof e.code !== "string") continue;
    if (CONNECTION_CODES.has(e.code) || SQLSTATE.test(e.code)) {
      return CONNECTION_CODES.has(e.code) || e.code.startsWith("08") || e.code.startsWith("57P");
    }
  }
  return false;
}

/** Runs one call of the driver; its untyped connection errors come out as ConnectionLostError. */
export async function callDriver<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const raw = error as { code?: unknown; message?: unknown };
    const lost = raw?.code === undefined && typeof raw?.message === "string" && DRIVER_TEXT.test(raw.message);
    throw lost ? new ConnectionLostError(error) : error;
  }
}

function identifier(value: unknown): string | null {
  return typeof value === "string" && IDENTIFIER.test(value) ? value : null;
}
