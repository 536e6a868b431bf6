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

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/** Reduces any thrown value to what is safe, or null when it isn't a database error. Looks through wrappers' `cause`. */
export function safePgError(error: unknown): SafePgError | null {
  for (let e = error as Fields | undefined; e && typeof e === "object"; e = e.cause as Fields | undefined) {
    if (typeof e.code === "string" && /^[0-9A-Z]{5}$/.test(e.code)) {
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

const TRANSIENT_CLASSES = ["08", "53"];
const TRANSIENT_STATES = new Set(["40001", "40P01", "55P03", "57P01", "57P02", "57P03", "57P05", "25P03"]);
const CONNECTION_CODES = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);
const CONNECTION_TEXT =
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
  for (let e = error as Fields & { message?: unknown }; e && typeof e === "object"; e = e.cause as typeof e) {
    if (
      typeof e.code === "string" &&
      (CONNECTION_CODES.has(e.code) || e.code.startsWith("08") || e.code.startsWith("57P"))
    )
      return true;
    if (typeof e.message === "string" && CONNECTION_TEXT.test(e.message)) return true;
  }
  return false;
}

function identifier(value: unknown): string | null {
  return typeof value === "string" && IDENTIFIER.test(value) ? value : null;
}
