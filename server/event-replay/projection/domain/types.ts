import type { PolicyEntry, PolicyRegistries } from "@/server/event-replay/registry/domain/policy";
import type { Tx } from "@/server/platform/db/transaction";

export type ExecutionMode = "LIVE" | "REPLAY";
export type SourceProcessor = "DATABASE" | "KAFKA";

/** Where one member came from. DATABASE: partition and offset; KAFKA: topic, partition, offset, key, ordered headers. */
export type SourceCoordinates = {
  readonly processor: SourceProcessor;
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  /** Ordered, names may repeat; both base64. */
  readonly headers: readonly { readonly name: string; readonly value: string | null }[];
};

/** One member of a transaction as its source delivered it. `payload` is the complete CloudEvent, byte for byte. */
export type SourceEvent = {
  readonly ordinal: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly userId: string | null;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly policyRegistryVersion: string;
  readonly repairSchemaVersion: string | null;
  /** An import declared this version to be the scope's baseline (extension `versionbaseline`). */
  readonly versionBaseline: boolean;
  readonly payload: Buffer;
  /** The same bytes as text, from a source that delivers text: decoding then needs no Buffer. */
  readonly payloadText?: string;
  /** SHA-256 of `payload`, lowercase hex, when the source already knows it. */
  readonly payloadDigest: string | null;
  readonly source: SourceCoordinates;
};

/** One complete logical transaction: the unit of projection, capture, replay and repair. */
export type ProjectionTransaction = {
  readonly hostId: string;
  readonly transactionId: string;
  /** Member count the source declared; the executor refuses when members are missing or out of order. */
  readonly declaredCount: number;
  readonly members: readonly SourceEvent[];
};

/** What a handler sees: the frozen event and its parsed data. Numbers that JavaScript can't represent are ExactNumber. */
export type ProjectedEvent = {
  readonly hostId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly schemaVersion: string;
  readonly userId: string | null;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  /** CloudEvent `time` as received. Handlers use this, never now(): a projection must not depend on when it ran. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type ColumnType =
  | "text"
  | "uuid"
  | "bigint"
  | "integer"
  | "boolean"
  | "timestamptz"
  | "date"
  | "numeric"
  | "jsonb";
export type ColumnValue = string | number | boolean | null;

/** A projection table as `rows` handlers see it. The database's own constraints stay the judge. */
export type ProjectionTable = {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key: readonly string[];
  /** Foreign keys to other projection tables: our columns → their key columns, in key order. */
  readonly parents: readonly { readonly table: string; readonly columns: readonly string[] }[];
  /** True when the table has unique constraints beside its key: its changes are never reordered. */
  readonly otherUnique?: boolean;
  /** Column that holds the aggregate version of the last writer; an older version never overwrites a newer (ER-EXE-09). */
  readonly versionColumn?: string;
};

/** One row change. `set` names only the columns the event knows; absent columns keep their value or default. */
export type RowChange = {
  readonly table: string;
  readonly key: readonly ColumnValue[];
} & ({ readonly set: Readonly<Record<string, ColumnValue>> } | { readonly delete: true });

/**
 * `rows`: pure, event → row changes; consecutive ones coalesce into multi-row statements. `statements`: own SQL on the
 * caller's transaction; reports rows changed. Either way: no other connection, no clock, no effect outside the database.
 */
export type EventHandler =
  | { readonly kind: "rows"; project(event: ProjectedEvent): readonly RowChange[] }
  | { readonly kind: "statements"; handle(tx: Tx, event: ProjectedEvent): Promise<number> };

/** Everything the engine needs to know of an adopter's projection. Built by a composition root; the engine imports no domain. */
export type ProjectionDefinition = {
  readonly projectionName: string;
  readonly consumerGroup: string;
  readonly registries: PolicyRegistries;
  readonly tables: ReadonlyMap<string, ProjectionTable>;
  /** The handler of a registered event under its pinned registry version. */
  handlerFor(entry: PolicyEntry, registryVersion: string): EventHandler | undefined;
  /**
   * Called once at the start of every batch, replay item and drain step, on the caller's transaction: what it returns serves
   * this batch. A composition root uses it to wrap handlers by durable state; most projections have none.
   */
  forBatch?(tx: Tx): Promise<ProjectionDefinition>;
};
