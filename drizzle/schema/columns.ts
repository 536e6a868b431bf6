import { sql } from "drizzle-orm";
import { bigint, check, customType, timestamp, varchar } from "drizzle-orm/pg-core";

/** Column and constraint shorthands shared by the schema files. A column is named by its key. */

export const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** 64-bit transaction id: never wraps, so "written by this very transaction" can be stated exactly. */
export const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

export const v = (length: number) => varchar({ length });
export const int8 = () => bigint({ mode: "number" });
export const ts = () => timestamp({ withTimezone: true });
export const tsNow = () => ts().notNull().defaultNow();

/** A CHECK whose text is plain SQL over this table's columns. */
export const rule = (name: string, text: string) => check(name, sql.raw(text));

export const hex64 = (column: string) => `${column} ~ '^[0-9a-f]{64}$'`;
export const filled = (column: string) => `btrim(${column}) <> ''`;
export const oneOf = (column: string, ...values: string[]) =>
  `${column} IN (${values.map((x) => `'${x}'`).join(", ")})`;
/** Both set or both null. */
export const paired = (a: string, b: string) => `(${a} IS NULL) = (${b} IS NULL)`;
/** The digest is of exactly these bytes, computed by the database itself. */
export const digestOf = (digest: string, bytes: string) => `${digest} = encode(sha256(${bytes}), 'hex')`;

export const BARRIER_SCOPE_TYPES = ["GRAPH_ROOT", "AGGREGATE", "HOST", "DB_PARTITION", "KAFKA_PARTITION", "PROJECTION"];
export const POLICY_VERSION = "event-replay-policy-v2";
