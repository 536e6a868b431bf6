import pino from "pino";

/**
 * Log lines are a fixed event name plus fields of this list. What isn't listed, or isn't of its declared kind, does not
 * pass: so no payload, key, header, value or driver text can reach a log by accident (ER-OBS-08). Errors are never logged
 * as such; reduce them with `safePgError` and log `sqlState` and `constraint`.
 */
const FIELDS = {
  requestId: "id",
  failureId: "id",
  replayRequestId: "id",
  repairId: "id",
  barrierId: "id",
  transactionId: "id",
  hostId: "id",
  operation: "word",
  surface: "word",
  code: "word",
  errorKind: "word",
  sqlState: "word",
  constraint: "word",
  table: "word",
  projectionName: "word",
  consumerGroup: "word",
  component: "word",
  setting: "word",
  signal: "word",
  partition: "number",
  offset: "number",
  attempt: "number",
  count: "number",
  events: "number",
  transactions: "number",
  status: "number",
  durationMs: "number",
  delayMs: "number",
  lag: "number",
  port: "number",
  pid: "number",
  exitCode: "number",
  line: "number",
  demo: "flag",
} as const satisfies Record<string, "id" | "word" | "number" | "flag">;

type FieldKind = { id: string; word: string; number: number; flag: boolean };
export type LogFields = { readonly [Name in keyof typeof FIELDS]?: FieldKind[(typeof FIELDS)[Name]] | null };

const CHECKS: { [Kind in keyof FieldKind]: (value: unknown) => boolean } = {
  id: (value) => typeof value === "string" && /^[0-9a-f-]{1,64}$/.test(value),
  word: (value) => typeof value === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(value),
  number: (value) => typeof value === "number" && Number.isFinite(value),
  flag: (value) => typeof value === "boolean",
};

/** An event name is a phrase from the source: letters, digits and plain punctuation. Interpolated text would not survive. */
const EVENT_NAME = /^[a-z][A-Za-z0-9 ,:-]{0,99}$/;

/** Exactly the fields that may be written. Exported for its tests. */
export function allowedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const allowed: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(FIELDS)) {
    const value = fields[name];
    if (value !== undefined && CHECKS[kind](value)) allowed[name] = value;
  }
  return allowed;
}

export type Log = Record<"info" | "warn" | "error", (event: string, fields?: LogFields) => void>;

/** A logger over any destination; the product uses `log`, tests pass a stream. */
export function createLog(destination?: pino.DestinationStream): Log {
  const options: pino.LoggerOptions = {
    base: { pid: process.pid },
    level: "info",
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  const logger = destination ? pino(options, destination) : pino(options, pino.destination({ dest: 2, sync: true }));
  const write =
    (level: "info" | "warn" | "error") =>
    (event: string, fields: LogFields = {}) =>
      logger[level](allowedFields(fields), EVENT_NAME.test(event) ? event : "event without a plain name");
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

/** The process's logger: JSON lines on stderr, so that stdout stays for what a command prints. */
export const log: Log = createLog();
