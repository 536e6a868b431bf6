import type { Replay } from "./request-view";

type Item = Replay["items"][number];

export const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
export const REQUEST = "01a22f1c-c774-7472-aa4c-67ffcd24ee1c";
export const ALICE = { personId: "i|alice", name: "Alice Moreau", isYou: false };
export const BOB = { personId: "i|bob", name: "Bob Okafor", isYou: false };

export function item(ordinal: number, change: Partial<Item> = {}): Item {
  return {
    ordinal,
    failureId: `01a22f1c-0000-7000-8000-00000000000${ordinal}`,
    expectedContentFingerprint: "0".repeat(64),
    dependencyReason: "Selected",
    addedDependency: false,
    status: "PENDING",
    attemptCount: 0,
    repairId: null,
    originalTransactionId: "t",
    eventCount: 1,
    eventTypes: { first: "UserUpdatedEvent", count: 1 },
    failureStatus: "OPEN",
    errorCode: "PROJECTION_FAILED",
    scopes: [{ scopeType: "AGGREGATE", scopeKey: "User:1", firstVersion: ordinal + 2, lastVersion: ordinal + 2 }],
    needs: ordinal === 0 ? [] : [ordinal - 1],
    ...change,
  };
}

/** A request of two items in one scope, seen by Bob while it awaits approval, with what a test changes of it. */
export function replay(change: Partial<Replay> = {}): Replay {
  const items = change.items ?? [
    item(0, { addedDependency: true, dependencyReason: "Added, item 2 needs it" }),
    item(1),
  ];
  const count = (status: Item["status"]) => items.filter((i) => i.status === status).length;
  return {
    replayRequestId: REQUEST,
    hostId: HOST,
    projectionName: "portal-query",
    consumerGroup: "user-query-group",
    strategy: "DEPENDENCY_CLOSURE",
    validationMode: "EXECUTE",
    reason: "Loader fixed.",
    planHash: `sha256:${"a".repeat(64)}`,
    planMetadata: null,
    status: "AWAITING_APPROVAL",
    transactionCount: items.length,
    selectedTransactionCount: items.filter((i) => !i.addedDependency).length,
    addedDependencyTransactionCount: items.filter((i) => i.addedDependency).length,
    eventCount: items.length,
    encryptedPayloadBytes: 0,
    decryptedPayloadBytes: 900,
    policyRegistryVersion: "event-replay-policy-v2",
    requestedBy: ALICE.personId,
    requestedTs: "2026-12-01T09:00:00.000000Z",
    approvedBy: null,
    approvedTs: null,
    startedBy: null,
    startedTs: null,
    completedTs: null,
    expiresAt: "2026-12-02T09:00:00.000000Z",
    expiresInSeconds: 86_400,
    failureCode: null,
    failureMessage: null,
    retryable: false,
    leaseOwner: null,
    leaseExpiresAt: null,
    isolationMode: "AGGREGATE",
    projectionCommitted: false,
    repairId: null,
    repairStatus: null,
    stale: false,
    staleReasons: [],
    items,
    totals: {
      pending: count("PENDING"),
      running: count("RUNNING"),
      succeeded: count("SUCCEEDED"),
      failed: count("FAILED"),
    },
    attempts: [],
    barriers: [],
    deferred: { count: 0, decryptedPayloadBytes: 0, encryptedBytes: 0, drained: 0, failed: 0, capacityState: "NORMAL" },
    publication: { count: 0, encryptedBytes: 0 },
    lanes: [
      {
        scopeType: "AGGREGATE",
        scopeKey: "User:1",
        beforeVersion: 1,
        afterVersion: items.length + 1,
        nowVersion: 1,
        appendedVersion: items.length + 2,
        parked: 0,
        verdict: "UNCHANGED",
        items: items.map((i) => i.ordinal),
      },
    ],
    warnings: [],
    people: { requester: ALICE, approver: null, executor: null, eligibleApprovers: [{ ...BOB, isYou: true }] },
    permissions: {
      approve: { allowed: true, reason: null },
      execute: { allowed: false, reason: "It awaits the approval of a second person." },
      cancel: { allowed: true, reason: null },
    },
    history: [],
    asOf: "2026-12-01T09:10:00.000000Z",
    ...change,
  };
}
