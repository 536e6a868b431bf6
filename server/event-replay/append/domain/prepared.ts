import { encodeAggregateScopeKey } from "@/server/event-replay/registry/domain/scopes";
import { fingerprint } from "@/server/platform/digest";

/**
 * One event that has passed every check that needs no database, ready to be written. `bytes` is the complete canonical
 * CloudEvent with its pins: encoded once, stored as they are, copied by capture (design §3 Canonical bytes).
 */
export type PreparedEvent = {
  readonly hostId: string;
  readonly eventId: string;
  readonly userId: string | null;
  /** Decimal text as received; never unique. */
  readonly nonce: string | null;
  readonly aggregateType: string | null;
  readonly aggregateId: string | null;
  readonly aggregateVersion: number | null;
  readonly rootInstanceId: string | null;
  readonly graphRevision: number | null;
  readonly eventType: string;
  /** Text that PostgreSQL reads as timestamptz; the envelope keeps `time` as received. */
  readonly eventTs: string;
  readonly schemaVersion: string;
  readonly policyRegistryVersion: string;
  readonly repairSchemaVersion: string | null;
  readonly versionBaseline: boolean;
  readonly bytes: Buffer;
  /** SHA-256 of `bytes`, lowercase hex. */
  readonly digest: string;
};

/** One complete transaction of one host, members in ordinal order. */
export type PreparedTransaction = {
  readonly hostId: string;
  readonly transactionId: string;
  /** False when the caller left the choice of the id to us: a redelivery then comes under another id. */
  readonly explicitId: boolean;
  readonly members: readonly PreparedMember[];
};

/** `repin` encodes the same event again under other pins: for comparing with a stored event, and for a baseline. */
export type PreparedMember = {
  readonly event: PreparedEvent;
  repin(pins: { readonly registryVersion: string; readonly versionBaseline: boolean }): PreparedEvent | null;
  /** Line of the imported file. */
  readonly line?: number;
};

export type AggregateRef = { readonly hostId: string; readonly aggregateType: string; readonly aggregateId: string };
export type RootRef = { readonly hostId: string; readonly rootInstanceId: string };
export type EventRef = { readonly hostId: string; readonly eventId: string };
export type TransactionRef = { readonly hostId: string; readonly transactionId: string };

/** Everything an append locks and looks up. Each list is sorted and free of duplicates. */
export type AppendTargets = {
  readonly roots: readonly RootRef[];
  readonly aggregates: readonly AggregateRef[];
  readonly events: readonly EventRef[];
  readonly transactions: readonly TransactionRef[];
};

export function targetsOf(transactions: readonly PreparedTransaction[]): AppendTargets {
  const roots = new Map<string, RootRef>();
  const aggregates = new Map<string, AggregateRef>();
  const events = new Map<string, EventRef>();
  const ids = new Map<string, TransactionRef>();
  for (const transaction of transactions) {
    const { hostId, transactionId } = transaction;
    if (transaction.explicitId) ids.set(`${hostId} ${transactionId}`, { hostId, transactionId });
    for (const { event } of transaction.members) {
      events.set(eventKey(event), { hostId, eventId: event.eventId });
      const aggregate = aggregateOf(event);
      if (aggregate) aggregates.set(aggregateKey(aggregate), aggregate);
      if (event.rootInstanceId !== null) {
        const root = { hostId, rootInstanceId: event.rootInstanceId };
        roots.set(rootKey(root), root);
      }
    }
  }
  return { roots: sorted(roots), aggregates: sorted(aggregates), events: sorted(events), transactions: sorted(ids) };
}

export function aggregateOf(event: PreparedEvent): AggregateRef | null {
  const { hostId, aggregateType, aggregateId } = event;
  return aggregateType === null || aggregateId === null ? null : { hostId, aggregateType, aggregateId };
}

/** Unlike the scope key this is unambiguous: a type may hold a colon. Identifiers never hold NUL. */
export const aggregateKey = (a: AggregateRef) => `${a.hostId} ${a.aggregateType}\u0000${a.aggregateId}`;
export const rootKey = (r: RootRef) => `${r.hostId} ${r.rootInstanceId}`;
export const eventKey = (e: EventRef) => `${e.hostId} ${e.eventId}`;

/**
 * 64-bit advisory key of an aggregate, as decimal text in int8's range. Two aggregates may share a key: that costs waiting,
 * never correctness.
 */
export function aggregateLockKey(a: AggregateRef): bigint {
  const scope = encodeAggregateScopeKey(a.aggregateType, a.aggregateId);
  return BigInt.asIntN(64, BigInt(`0x${fingerprint(["append-identity", a.hostId, scope]).slice(0, 16)}`));
}

/** Advisory key of the whole store: shared by every append of aggregates, exclusive to one of very many. */
export const STORE_LOCK_KEY = BigInt.asIntN(64, BigInt(`0x${fingerprint(["append-store"]).slice(0, 16)}`));

/** Code unit order, the same in every process. */
function sorted<T>(byKey: Map<string, T>): T[] {
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, value]) => value);
}
