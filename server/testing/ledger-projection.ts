import type {
  EventHandler,
  ProjectedEvent,
  ProjectionDefinition,
  ProjectionTable,
  RowChange,
} from "@/server/event-replay/projection/domain/types";
import type { PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { POLICY_REGISTRY_VERSION } from "@/server/event-replay/registry/domain/policy";
import { buildRegistries, buildRegistry } from "@/server/event-replay/registry/domain/registry";
import { PORTAL_OBJECT_V1 } from "@/server/event-replay/registry/domain/validators";

/**
 * A projection small enough to reason about, for tests and benchmarks of the engine: accounts, entries that reference an
 * account, and unordered notes. Its tables are made by `LEDGER_DDL` in the test's own database.
 */
export const LEDGER_DDL = `
CREATE TABLE account_t (account_id text PRIMARY KEY, owner text, email text UNIQUE, balance bigint CHECK (balance >= 0),
  aggregate_version bigint, update_ts timestamptz);
CREATE TABLE entry_t (entry_id text PRIMARY KEY, account_id text REFERENCES account_t, amount bigint,
  parent_id text, aggregate_version bigint);
CREATE TABLE note_t (note_id text PRIMARY KEY, body varchar(40));
CREATE TABLE late_t (late_id text PRIMARY KEY, account_id text REFERENCES account_t DEFERRABLE INITIALLY DEFERRED);`;

const TABLES: readonly ProjectionTable[] = [
  {
    name: "account_t",
    columns: {
      account_id: "text",
      owner: "text",
      email: "text",
      balance: "bigint",
      aggregate_version: "bigint",
      update_ts: "timestamptz",
    },
    key: ["account_id"],
    parents: [],
    otherUnique: true,
    versionColumn: "aggregate_version",
  },
  {
    name: "entry_t",
    columns: { entry_id: "text", account_id: "text", amount: "bigint", parent_id: "text", aggregate_version: "bigint" },
    key: ["entry_id"],
    parents: [{ table: "account_t", columns: ["account_id"] }],
    versionColumn: "aggregate_version",
  },
  { name: "note_t", columns: { note_id: "text", body: "text" }, key: ["note_id"], parents: [] },
  { name: "late_t", columns: { late_id: "text", account_id: "text" }, key: ["late_id"], parents: [] },
];

export const LEDGER_TABLES: ReadonlyMap<string, ProjectionTable> = new Map(TABLES.map((table) => [table.name, table]));

export function ledgerEntry(
  eventType: string,
  dependency: PolicyEntry["dependency"],
  overrides: Partial<PolicyEntry> = {},
): PolicyEntry {
  const replayPolicy =
    dependency.kind === "GRAPH_ROOT"
      ? "GRAPH_ROOT"
      : dependency.kind === "AGGREGATE"
        ? "AGGREGATE_VERSION"
        : "TRANSACTION_ONLY";
  return {
    eventType,
    schemaVersion: "1",
    transactionPolicy: "COMPLETE_TRANSACTION",
    dependency,
    dataValidator: "PORTAL_OBJECT_V1",
    replayPolicy,
    repairDisposition: dependency.kind === "NONE" ? "NOT_REPAIRABLE_UNORDERED" : "FIX_AND_EXACT_REPLAY_ONLY",
    repairSchema: null,
    externalSideEffects: "NONE",
    identityFields: [],
    ...overrides,
  };
}

const rows = (project: (event: ProjectedEvent) => readonly RowChange[]): EventHandler => ({ kind: "rows", project });
const text = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));

const setAccount = rows((event) => [
  {
    table: "account_t",
    key: [event.aggregateId],
    set: {
      ...("owner" in event.data ? { owner: text(event.data.owner) } : {}),
      ...("email" in event.data ? { email: text(event.data.email) } : {}),
      ...("balance" in event.data ? { balance: event.data.balance as number } : {}),
      aggregate_version: event.aggregateVersion,
      update_ts: event.time,
    },
  },
]);

export const LEDGER_HANDLERS: Readonly<Record<string, EventHandler>> = {
  AccountOpenedEvent: setAccount,
  AccountUpdatedEvent: setAccount,
  AccountClosedEvent: rows((event) => [{ table: "account_t", key: [event.aggregateId], delete: true }]),
  EntryPostedEvent: rows((event) => [
    {
      table: "entry_t",
      key: [event.aggregateId],
      set: {
        account_id: text(event.data.accountId),
        amount: event.data.amount as number,
        aggregate_version: event.aggregateVersion,
      },
    },
  ]),
  EntryRemovedEvent: rows((event) => [{ table: "entry_t", key: [event.aggregateId], delete: true }]),
  /** A `statements` handler: its own SQL on the caller's transaction. */
  EntryScaledEvent: {
    kind: "statements",
    async handle(tx, event) {
      return tx.execute("UPDATE entry_t SET amount = amount * $2, aggregate_version = $3 WHERE entry_id = $1", [
        event.aggregateId,
        event.data.factor,
        event.aggregateVersion,
      ]);
    },
  },
  NoteWrittenEvent: rows((event) => [
    { table: "note_t", key: [text(event.data.noteId)], set: { body: text(event.data.body) } },
  ]),
  LateLinkedEvent: rows((event) => [
    { table: "late_t", key: [text(event.data.lateId)], set: { account_id: text(event.data.accountId) } },
  ]),
  GraphNodePlacedEvent: rows((event) => [
    { table: "note_t", key: [text(event.data.noteId)], set: { body: text(event.data.body) } },
  ]),
};

export const LEDGER_ENTRIES: readonly PolicyEntry[] = [
  ledgerEntry("AccountOpenedEvent", { kind: "AGGREGATE", aggregateType: "Account" }),
  ledgerEntry("AccountUpdatedEvent", { kind: "AGGREGATE", aggregateType: "Account" }),
  ledgerEntry("AccountClosedEvent", { kind: "AGGREGATE", aggregateType: "Account" }),
  ledgerEntry("EntryPostedEvent", { kind: "AGGREGATE", aggregateType: "Entry" }),
  ledgerEntry("EntryScaledEvent", { kind: "AGGREGATE", aggregateType: "Entry" }),
  ledgerEntry("EntryRemovedEvent", { kind: "AGGREGATE", aggregateType: "Entry" }),
  ledgerEntry("NoteWrittenEvent", { kind: "NONE" }),
  ledgerEntry("LateLinkedEvent", { kind: "NONE" }),
  ledgerEntry("GraphNodePlacedEvent", { kind: "GRAPH_ROOT" }),
];

export type LedgerOptions = {
  readonly handlers?: Readonly<Record<string, EventHandler>>;
  readonly consumerGroup?: string;
};

export function ledgerProjection(options: LedgerOptions = {}): ProjectionDefinition {
  const handlers = { ...LEDGER_HANDLERS, ...options.handlers };
  const registry = buildRegistry({
    version: POLICY_REGISTRY_VERSION,
    entries: LEDGER_ENTRIES,
    validators: new Map([["PORTAL_OBJECT_V1", PORTAL_OBJECT_V1]]),
    repairSchemas: new Map(),
  });
  return {
    projectionName: "ledger",
    consumerGroup: options.consumerGroup ?? "ledger-group",
    registries: buildRegistries(registry, []),
    tables: LEDGER_TABLES,
    handlerFor: (entry) => handlers[entry.eventType],
  };
}
