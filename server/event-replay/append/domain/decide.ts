import type { FieldError } from "@/server/contracts/errors";
import { type Scope, scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import {
  type AppendTargets,
  aggregateKey,
  aggregateOf,
  eventKey,
  type PreparedEvent,
  type PreparedMember,
  type PreparedTransaction,
  rootKey,
} from "./prepared";

/** A stored event as the store and its outbox row describe it. */
export type StoredEvent = {
  readonly transactionId: string | null;
  readonly ordinal: number | null;
  readonly count: number | null;
  readonly offset: number | null;
  readonly digest: string | null;
  readonly registryVersion: string;
  readonly versionBaseline: boolean;
};

/** What the store holds of an append's targets, by position in the target lists. Absent = not stored. */
export type StoredState = {
  readonly events: ReadonlyMap<number, StoredEvent>;
  readonly lastVersions: ReadonlyMap<number, number>;
  /** Positions of explicit transaction ids that are taken. */
  readonly transactions: ReadonlySet<number>;
  /** By position in `roots`. */
  readonly revisions: readonly number[];
  /** Database clock, ISO-8601 UTC with microseconds. */
  readonly now: string;
};

export type HostScope = Scope & { readonly hostId: string };

export type FreshTransaction = { readonly transaction: PreparedTransaction; readonly events: readonly PreparedEvent[] };

export type DuplicateTransaction = {
  readonly transaction: PreparedTransaction;
  readonly storedTransactionId: string;
  readonly firstOffset: number;
};

export type VersionJump = { readonly line: number | null; readonly from: number; readonly to: number };

export type AppendDecision = {
  readonly fresh: readonly FreshTransaction[];
  readonly duplicates: readonly DuplicateTransaction[];
  readonly refusals: readonly FieldError[];
  readonly jumps: readonly VersionJump[];
  readonly revisions: ReadonlyMap<string, number>;
};

/**
 * Judges complete transactions, in their order, against what is stored under the append's locks (design §3 Versions):
 * the next version of a known aggregate is its last + 1, an unknown one starts anywhere, and only an import may jump, on the
 * transaction's first event of that aggregate, which pins `versionbaseline`. A transaction that is stored already with the same content is a duplicate; an event id stored
 * with other content, or with only a part of its transaction, is refused.
 */
export function decideAppend(
  transactions: readonly PreparedTransaction[],
  targets: AppendTargets,
  stored: StoredState,
  allowJump: boolean,
): AppendDecision {
  const state = new RunningState(targets, stored);
  const fresh: FreshTransaction[] = [];
  const duplicates: DuplicateTransaction[] = [];
  const refusals: FieldError[] = [];
  const jumps: VersionJump[] = [];
  for (const transaction of transactions) {
    state.beginTransaction();
    const known = transaction.members.map(({ event }) => state.storedEvent(event));
    if (known.some((event) => event !== undefined)) {
      const errors = transaction.members.flatMap((member, i) =>
        judgeStored(transaction, member, i, known[i], known[0]),
      );
      const first = known[0];
      if (errors.length > 0 || !first) refusals.push(...errors);
      else
        duplicates.push({
          transaction,
          storedTransactionId: first.transactionId ?? "",
          firstOffset: first.offset ?? 0,
        });
      continue;
    }
    if (transaction.explicitId && state.isTaken(transaction)) {
      refusals.push(refuse(transaction.members[0], 0, "/transactionid", "TRANSACTION_ID_REUSED"));
      continue;
    }
    const errors: FieldError[] = [];
    const events = transaction.members.map((member, i) => {
      const step = state.advance(member.event, allowJump);
      errors.push(...step.broken.map(({ field, rule }) => refuse(member, i, field, rule)));
      if (step.jumpFrom === null) return member.event;
      jumps.push({ line: member.line ?? null, from: step.jumpFrom, to: member.event.aggregateVersion ?? 0 });
      return (
        member.repin({ registryVersion: member.event.policyRegistryVersion, versionBaseline: true }) ?? member.event
      );
    });
    if (errors.length > 0) refusals.push(...errors);
    else fresh.push({ transaction, events });
  }
  return { fresh, duplicates, refusals, jumps, revisions: state.revisions };
}

/** Scopes that the guard must find free: those of every transaction that isn't stored already as a whole. */
export function scopesToGuard(
  transactions: readonly PreparedTransaction[],
  targets: AppendTargets,
  stored: StoredState,
): HostScope[] {
  const known = new Set([...stored.events.keys()].map((n) => eventKey(at(targets.events, n))));
  const scopes = new Map<string, HostScope>();
  for (const { members } of transactions) {
    if (members.every(({ event }) => known.has(eventKey(event)))) continue;
    for (const { event } of members) {
      for (const { type, key } of scopesOfEvent(event)) {
        scopes.set(`${event.hostId} ${type} ${key}`, { hostId: event.hostId, type, key });
      }
    }
  }
  return [...scopes.values()];
}

/**
 * Empty = this member is stored exactly so, in the same transaction as the `first`. Content is compared under the pins it was
 * stored with (ER-APP-05).
 */
function judgeStored(
  transaction: PreparedTransaction,
  member: PreparedMember,
  ordinal: number,
  stored: StoredEvent | undefined,
  first: StoredEvent | undefined,
): FieldError[] {
  const single = transaction.members.length === 1 && !transaction.explicitId;
  if (!stored) return [refuse(member, ordinal, "/id", "TRANSACTION_PARTLY_STORED")];
  const same = member.repin({ registryVersion: stored.registryVersion, versionBaseline: stored.versionBaseline });
  if (same === null || same.digest !== stored.digest) return [refuse(member, ordinal, "/id", "DUPLICATE_EVENT_ID")];
  if (single) return [];
  const expectedId = transaction.explicitId ? transaction.transactionId : first?.transactionId;
  const sameIdentity = stored.transactionId !== null && stored.transactionId === expectedId;
  const samePlace = stored.ordinal === ordinal && stored.count === transaction.members.length;
  return sameIdentity && samePlace ? [] : [refuse(member, ordinal, "/id", "STORED_IN_ANOTHER_TRANSACTION")];
}

type Step = { readonly broken: readonly { field: string; rule: string }[]; readonly jumpFrom: number | null };

/** The store's state as it would be after each transaction judged so far: a file may hold many versions of one aggregate. */
class RunningState {
  readonly revisions = new Map<string, number>();
  private readonly versions = new Map<string, number>();
  private readonly stored = new Map<string, StoredEvent>();
  private readonly taken = new Set<string>();
  private readonly seen = new Set<string>();
  private readonly rootsOfTransaction = new Map<string, number>();
  private readonly aggregatesOfTransaction = new Set<string>();
  private readonly accepted = new Map<string, number>();

  constructor(targets: AppendTargets, stored: StoredState) {
    for (const [n, event] of stored.events) this.stored.set(eventKey(at(targets.events, n)), event);
    for (const [n, version] of stored.lastVersions) this.versions.set(aggregateKey(at(targets.aggregates, n)), version);
    for (const n of stored.transactions) this.taken.add(transactionKey(at(targets.transactions, n)));
    for (const [n, revision] of stored.revisions.entries()) this.accepted.set(rootKey(at(targets.roots, n)), revision);
  }

  beginTransaction(): void {
    this.rootsOfTransaction.clear();
    this.aggregatesOfTransaction.clear();
  }

  storedEvent(event: PreparedEvent): StoredEvent | undefined {
    return this.stored.get(eventKey(event));
  }

  /** True for an id that is stored, or that an earlier transaction of the same file used. */
  isTaken(transaction: PreparedTransaction): boolean {
    const key = transactionKey(transaction);
    if (this.taken.has(key)) return true;
    this.taken.add(key);
    return false;
  }

  advance(event: PreparedEvent, allowJump: boolean): Step {
    const broken: { field: string; rule: string }[] = [];
    if (this.seen.has(eventKey(event))) broken.push({ field: "/id", rule: "DUPLICATE_EVENT_ID" });
    this.seen.add(eventKey(event));
    const jumpFrom = this.advanceAggregate(event, allowJump, broken);
    this.advanceRoot(event, broken);
    return { broken, jumpFrom };
  }

  private advanceAggregate(
    event: PreparedEvent,
    allowJump: boolean,
    broken: { field: string; rule: string }[],
  ): number | null {
    const aggregate = aggregateOf(event);
    const version = event.aggregateVersion;
    if (!aggregate || version === null) return null;
    const key = aggregateKey(aggregate);
    const last = this.versions.get(key);
    const mayJump = allowJump && !this.aggregatesOfTransaction.has(key);
    this.aggregatesOfTransaction.add(key);
    const isNext = last === undefined || version === last + 1;
    const jumps = last !== undefined && version > last + 1 && mayJump;
    if (!isNext && !jumps) broken.push({ field: "/aggregateversion", rule: "VERSION_NOT_NEXT" });
    else this.versions.set(key, version);
    return jumps ? last : null;
  }

  /** All events of one transaction and root carry one revision: the accepted one + 1. */
  private advanceRoot(event: PreparedEvent, broken: { field: string; rule: string }[]): void {
    if (event.rootInstanceId === null || event.graphRevision === null) return;
    const key = rootKey({ hostId: event.hostId, rootInstanceId: event.rootInstanceId });
    const inTransaction = this.rootsOfTransaction.get(key);
    if (inTransaction !== undefined) {
      if (inTransaction !== event.graphRevision)
        broken.push({ field: "/instancegraphrevision", rule: "REVISION_NOT_NEXT" });
      return;
    }
    const accepted = this.revisions.get(key) ?? this.accepted.get(key) ?? 0;
    if (event.graphRevision !== accepted + 1)
      broken.push({ field: "/instancegraphrevision", rule: "REVISION_NOT_NEXT" });
    else {
      this.rootsOfTransaction.set(key, event.graphRevision);
      this.revisions.set(key, event.graphRevision);
    }
  }
}

const transactionKey = (t: { hostId: string; transactionId: string }) => `${t.hostId} ${t.transactionId}`;

function at<T>(list: readonly T[], n: number): T {
  const value = list[n];
  if (value === undefined) throw new Error("the look-up answered for something not asked");
  return value;
}

function refuse(member: PreparedMember | undefined, ordinal: number, field: string, rule: string): FieldError {
  return member?.line === undefined
    ? { field, rule, member: ordinal }
    : { field, rule, member: ordinal, line: member.line };
}
